-- A bulk hold: what a scan found, sent to the queue.
ALTER TABLE operation DROP CONSTRAINT operation_kind_check,
    ADD CONSTRAINT operation_kind_check CHECK (kind IN ('evict', 'restore', 'erase', 'hold'));
