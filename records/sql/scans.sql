-- Scans of stored facts by the gate's rules: a workspace's people and jobs see all of theirs.
CREATE UNIQUE INDEX scan_number ON scan (workspace_id, number);
CREATE INDEX scan_open ON scan (workspace_id, id) WHERE state = 'running';
CREATE INDEX scan_recent ON scan (workspace_id, id DESC);
CREATE INDEX scan_of_scope ON scan (workspace_id, scope_key, id DESC) WHERE state = 'done';
ALTER TABLE scan ADD CONSTRAINT scan_scope_key_unique UNIQUE (workspace_id, id),
    ADD CONSTRAINT scan_workspace_fk FOREIGN KEY (workspace_id) REFERENCES workspace (id),
    ADD CONSTRAINT scan_mode_check CHECK (mode IN ('dry', 'hold')),
    ADD CONSTRAINT scan_state_check CHECK (state IN ('running', 'paused', 'done', 'cancelled', 'failed')),
    ADD CONSTRAINT scan_rules_check CHECK (rules_kind IN ('active', 'draft', 'softened', 'shipped')
        AND jsonb_typeof(rules) = 'array' AND jsonb_typeof(softened) = 'object'),
    ADD CONSTRAINT scan_ended_whole CHECK ((state IN ('done', 'cancelled', 'failed')) = (finished_at IS NOT NULL)),
    ADD CONSTRAINT scan_lengths CHECK (char_length(scope_title) <= 500);
ALTER TABLE scan_range
    ADD CONSTRAINT scan_range_scan_fk FOREIGN KEY (workspace_id, scan_id) REFERENCES scan (workspace_id, id),
    ADD CONSTRAINT scan_range_whole CHECK (cardinality(ids) = facts OR done_at IS NOT NULL);
CREATE INDEX scan_range_left ON scan_range (scan_id, place) WHERE done_at IS NULL;
ALTER TABLE scan_hit
    ADD CONSTRAINT scan_hit_scan_fk FOREIGN KEY (workspace_id, scan_id) REFERENCES scan (workspace_id, id),
    ADD CONSTRAINT scan_hit_record_fk FOREIGN KEY (workspace_id, partition_id, record_id)
        REFERENCES memory_record (workspace_id, partition_id, id),
    ADD CONSTRAINT scan_hit_kind_check CHECK (kind IN ('new', 'known', 'cleared')),
    ADD CONSTRAINT scan_hit_stood_check CHECK (stood IN ('active', 'quarantined'));
CREATE INDEX scan_hit_of_kind ON scan_hit (scan_id, kind, record_id);
CREATE INDEX scan_hit_of_record ON scan_hit (record_id);
DO $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['scan', 'scan_range', 'scan_hit']
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
-- Ranges are working state; hits of old scheduled scans are tidied away, their counts stay.
GRANT DELETE ON scan_range, scan_hit TO memconsole_app;
