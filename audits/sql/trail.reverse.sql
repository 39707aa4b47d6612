DROP INDEX event_by_transaction;
DROP POLICY scope ON sealed_event;
DROP POLICY scope ON seal;
DROP TRIGGER sealed_event_no_truncate ON sealed_event;
DROP TRIGGER sealed_event_append_only ON sealed_event;
DROP TRIGGER seal_no_truncate ON seal;
DROP TRIGGER seal_append_only ON seal;
ALTER TABLE sealed_event DROP CONSTRAINT sealed_event_leaf_check, DROP CONSTRAINT sealed_event_position_check;
ALTER TABLE seal DROP CONSTRAINT seal_last_key, DROP CONSTRAINT seal_first_key, DROP CONSTRAINT seal_signature_check,
    DROP CONSTRAINT seal_digests_check, DROP CONSTRAINT seal_numbers_check;
