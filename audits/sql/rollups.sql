-- Counts for charts. The keys are the order in which they are read: one kind, a range of time.
ALTER TABLE rollup ADD CONSTRAINT rollup_workspace_fk FOREIGN KEY (workspace_id) REFERENCES workspace (id),
    ADD CONSTRAINT rollup_kind_check CHECK (kind IN ('write', 'flow', 'hit', 'recall', 'served', 'level')),
    ADD CONSTRAINT rollup_quarter_check CHECK (at = date_bin('15 minutes', at, '2000-01-01 00:00:00+00'::timestamptz)),
    ADD CONSTRAINT rollup_number_check CHECK (number >= 0);
ALTER TABLE rollup_progress
    ADD CONSTRAINT rollup_progress_workspace_fk FOREIGN KEY (workspace_id) REFERENCES workspace (id),
    ADD CONSTRAINT rollup_progress_seal_check CHECK (seal >= 0),
    ADD CONSTRAINT rollup_progress_rules_check CHECK (cardinality(rules) <= 100);
DO $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['rollup', 'rollup_progress']
    LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', name);
        EXECUTE format('CREATE POLICY scope ON %I
            USING (workspace_id = (SELECT memconsole_workspace()) AND (SELECT memconsole_whole_workspace()))
            WITH CHECK (workspace_id = (SELECT memconsole_workspace()) AND (SELECT memconsole_whole_workspace()))', name);
        EXECUTE format('GRANT SELECT, INSERT, UPDATE ON %I TO memconsole_app', name);
        EXECUTE format('GRANT ALL ON %I TO memconsole_maintenance', name);
    END LOOP;
END $$;
GRANT DELETE ON rollup TO memconsole_app;

-- Recalls by time, for counting and listing: appended in this order, so the tree only grows at its end.
CREATE INDEX recall_by_time ON recall (workspace_id, at, id);
-- What expires when, and what has: few of a million facts at a time.
CREATE INDEX memory_record_expiry ON memory_record (workspace_id, valid_until)
    WHERE status = 'active' AND valid_until IS NOT NULL;
-- Facts that were found bad, the newest first.
CREATE INDEX memory_record_bad ON memory_record (workspace_id, status_at DESC, id)
    WHERE status IN ('rejected', 'evicted', 'retracted');
