ALTER TABLE operation DROP CONSTRAINT operation_kind_check,
    ADD CONSTRAINT operation_kind_check CHECK (kind IN ('evict', 'restore', 'erase'));
