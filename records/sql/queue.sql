-- The review queue reads held records by risk, then by age (ids are in time order).
ALTER TABLE memory_record ADD CONSTRAINT memory_record_risk_check CHECK (risk BETWEEN 0 AND 3);
CREATE INDEX memory_record_queue ON memory_record (workspace_id, risk DESC, id) WHERE status = 'quarantined';
