-- The lists of what is held for one reason, and how long the oldest has waited. Only held rows pay.
CREATE INDEX memory_record_held_reason ON memory_record (workspace_id, hold_reason, id)
    WHERE status = 'quarantined';
CREATE INDEX memory_record_held_since ON memory_record (workspace_id, status_at) WHERE status = 'quarantined';
