DROP INDEX memory_record_queue;
ALTER TABLE memory_record DROP CONSTRAINT memory_record_risk_check;
