-- Suggestions: the workspace's people see all of theirs, within one partition each by their keys.
ALTER TABLE duplicate_pair
    ADD CONSTRAINT duplicate_pair_one_fk FOREIGN KEY (workspace_id, partition_id, one_id)
        REFERENCES memory_record (workspace_id, partition_id, id),
    ADD CONSTRAINT duplicate_pair_other_fk FOREIGN KEY (workspace_id, partition_id, other_id)
        REFERENCES memory_record (workspace_id, partition_id, id),
    ADD CONSTRAINT duplicate_pair_ordered CHECK (one_id < other_id),
    ADD CONSTRAINT duplicate_pair_kind_check CHECK (kind IN ('alike', 'same')),
    ADD CONSTRAINT duplicate_pair_state_check CHECK (state IN ('suggested', 'apart', 'merged', 'gone')),
    ADD CONSTRAINT duplicate_pair_likeness_check CHECK (likeness BETWEEN 0 AND 1);
CREATE UNIQUE INDEX duplicate_pair_once ON duplicate_pair (one_id, other_id);
CREATE INDEX duplicate_pair_of_other ON duplicate_pair (other_id);
CREATE INDEX duplicate_pair_listed ON duplicate_pair (workspace_id, state, cluster_id);
CREATE INDEX duplicate_pair_in_partition ON duplicate_pair (partition_id) WHERE state = 'suggested';
ALTER TABLE duplicate_search ADD CONSTRAINT duplicate_search_workspace_fk
    FOREIGN KEY (workspace_id) REFERENCES workspace (id);
DO $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['duplicate_pair', 'duplicate_search']
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
