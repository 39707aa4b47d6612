-- One fact in two wordings. A merged record stays superseded, and its fingerprint stays taken: the
-- same unique index that lets no fact live twice lets no merged wording be stored beside what it
-- was merged into. One probe of that index finds either.
CREATE UNIQUE INDEX memory_record_one_fact ON memory_record (partition_id, fingerprint)
    WHERE status IN ('active', 'quarantined') OR (status = 'superseded' AND merged_into IS NOT NULL);
DROP INDEX memory_record_one_fingerprint;
ALTER INDEX memory_record_one_fact RENAME TO memory_record_one_fingerprint;
CREATE INDEX memory_record_merged ON memory_record (merged_into) WHERE merged_into IS NOT NULL;
ALTER TABLE memory_record
    ADD CONSTRAINT memory_record_merged_is_out CHECK (
        merged_into IS NULL OR status IN ('superseded', 'evicted', 'retracted')),
    ADD CONSTRAINT memory_record_not_into_itself CHECK (merged_into IS DISTINCT FROM id),
    ADD CONSTRAINT memory_record_merged_fk FOREIGN KEY (workspace_id, partition_id, merged_into)
        REFERENCES memory_record (workspace_id, partition_id, id);
-- A moved claim counts where it moved to.
ALTER TABLE claim DROP CONSTRAINT claim_state_check,
    ADD CONSTRAINT claim_state_check CHECK (state IN ('live', 'held', 'dropped', 'moved')),
    ADD CONSTRAINT claim_moved_whole CHECK (state <> 'moved' OR merge_id IS NOT NULL);

ALTER TABLE record_merge ADD CONSTRAINT record_merge_scope_key UNIQUE (workspace_id, partition_id, id),
    ADD CONSTRAINT record_merge_gone_fk FOREIGN KEY (workspace_id, partition_id, gone_id)
        REFERENCES memory_record (workspace_id, partition_id, id),
    ADD CONSTRAINT record_merge_kept_fk FOREIGN KEY (workspace_id, partition_id, kept_id)
        REFERENCES memory_record (workspace_id, partition_id, id),
    ADD CONSTRAINT record_merge_two CHECK (gone_id <> kept_id),
    ADD CONSTRAINT record_merge_ended_check CHECK (ended IN ('', 'undone', 'said anew', 'erased')),
    ADD CONSTRAINT record_merge_ended_whole CHECK ((parted_at IS NULL) = (ended = ''));
CREATE UNIQUE INDEX record_merge_standing ON record_merge (gone_id) WHERE parted_at IS NULL;
CREATE INDEX record_merge_kept ON record_merge (kept_id);
CREATE INDEX record_merge_recent ON record_merge (workspace_id, id DESC);
ALTER TABLE merged_claim
    ADD CONSTRAINT merged_claim_merge_fk FOREIGN KEY (workspace_id, partition_id, merge_id)
        REFERENCES record_merge (workspace_id, partition_id, id),
    ADD CONSTRAINT merged_claim_count_check CHECK (count >= 0 AND echoes >= 0);
DO $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['record_merge', 'merged_claim']
    LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', name);
        EXECUTE format($policy$CREATE POLICY scope ON %I
            USING (workspace_id = (SELECT memconsole_workspace())
                   AND ((SELECT memconsole_whole_workspace())
                        OR partition_id = ANY ((SELECT memconsole_partitions())::uuid[])))
            WITH CHECK (workspace_id = (SELECT memconsole_workspace())
                   AND ((SELECT memconsole_whole_workspace())
                        OR partition_id = ANY ((SELECT memconsole_partitions())::uuid[])))$policy$, name);
        EXECUTE format('GRANT SELECT, INSERT, UPDATE ON %I TO memconsole_app', name);
        EXECUTE format('GRANT ALL ON %I TO memconsole_maintenance', name);
    END LOOP;
END $$;
