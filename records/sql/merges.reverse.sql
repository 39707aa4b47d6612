DROP INDEX memory_record_merged;
CREATE UNIQUE INDEX memory_record_one_fact ON memory_record (partition_id, fingerprint)
    WHERE status IN ('active', 'quarantined');
DROP INDEX memory_record_one_fingerprint;
ALTER INDEX memory_record_one_fact RENAME TO memory_record_one_fingerprint;
ALTER TABLE memory_record DROP CONSTRAINT memory_record_merged_fk,
    DROP CONSTRAINT memory_record_not_into_itself, DROP CONSTRAINT memory_record_merged_is_out;
-- What had moved stays out of the counts, as an eviction leaves it.
UPDATE claim SET state = 'dropped' WHERE state = 'moved';
ALTER TABLE claim DROP CONSTRAINT claim_moved_whole, DROP CONSTRAINT claim_state_check,
    ADD CONSTRAINT claim_state_check CHECK (state IN ('live', 'held', 'dropped'));
