-- Samples for verification: the workspace's people see all of theirs.
CREATE UNIQUE INDEX sample_batch_number ON sample_batch (workspace_id, number);
ALTER TABLE sample_batch ADD CONSTRAINT sample_batch_scope_key UNIQUE (workspace_id, id),
    ADD CONSTRAINT sample_batch_workspace_fk FOREIGN KEY (workspace_id) REFERENCES workspace (id),
    ADD CONSTRAINT sample_batch_weighting_check CHECK (weighting IN ('uniform', 'serves', 'risk')),
    ADD CONSTRAINT sample_batch_size_check CHECK (size BETWEEN 0 AND 2000),
    ADD CONSTRAINT sample_batch_share_check CHECK (recheck_share BETWEEN 0 AND 1);
ALTER TABLE sample_item
    ADD CONSTRAINT sample_item_batch_fk FOREIGN KEY (workspace_id, batch_id)
        REFERENCES sample_batch (workspace_id, id),
    ADD CONSTRAINT sample_item_record_fk FOREIGN KEY (workspace_id, partition_id, record_id)
        REFERENCES memory_record (workspace_id, partition_id, id),
    ADD CONSTRAINT sample_item_chance_check CHECK (chance > 0 AND chance <= 1),
    ADD CONSTRAINT sample_item_verdict_check CHECK (verdict IN ('', 'true', 'stale', 'false', 'unknown', 'gone')),
    ADD CONSTRAINT sample_item_second_check CHECK (second_verdict IN ('', 'true', 'stale', 'false', 'unknown')),
    ADD CONSTRAINT sample_item_value_length CHECK (char_length(value) <= 2000),
    -- The second look is another person's, and blind: it comes after the first.
    ADD CONSTRAINT sample_item_two_people CHECK (second_by_id IS NULL
        OR second_by_id <> answered_by_id AND verdict <> '');
CREATE UNIQUE INDEX sample_item_once ON sample_item (batch_id, record_id);
CREATE INDEX sample_item_place ON sample_item (batch_id, place);
CREATE INDEX sample_item_of_record ON sample_item (record_id);
CREATE INDEX sample_item_to_apply ON sample_item (workspace_id, answered_at)
    WHERE verdict <> '' AND applied_at IS NULL;
DO $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['sample_batch', 'sample_item']
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
