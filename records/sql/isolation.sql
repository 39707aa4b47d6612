-- Row-level security, forced and fail-closed, on three transaction-local settings.
-- Unset (or '' after a transaction) means no rows. The settings are read once per
-- statement, through a sub-select, not once per row.

CREATE FUNCTION memconsole_workspace() RETURNS uuid LANGUAGE sql STABLE PARALLEL SAFE
    AS $$ SELECT nullif(current_setting('memconsole.workspace', true), '')::uuid $$;
-- One id, or several separated by commas (a batch may write to several partitions).
CREATE FUNCTION memconsole_partitions() RETURNS uuid[] LANGUAGE sql STABLE PARALLEL SAFE
    AS $$ SELECT string_to_array(nullif(current_setting('memconsole.partition', true), ''), ',')::uuid[] $$;
CREATE FUNCTION memconsole_whole_workspace() RETURNS boolean LANGUAGE sql STABLE PARALLEL SAFE
    AS $$ SELECT coalesce(current_setting('memconsole.reach', true) = 'workspace', false) $$;

DO $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['session', 'session_totals', 'slot', 'address', 'memory_record', 'claim', 'tally',
                                'standing', 'fence', 'feedback', 'recall', 'serve']
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
    END LOOP;

    FOREACH name IN ARRAY ARRAY['api_key', 'source', 'predicate_policy', 'idempotency_key', 'embedding_model']
    LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', name);
        EXECUTE format('CREATE POLICY scope ON %I USING (workspace_id = (SELECT memconsole_workspace()))
                        WITH CHECK (workspace_id = (SELECT memconsole_workspace()))', name);
    END LOOP;
END $$;

ALTER TABLE workspace ENABLE ROW LEVEL SECURITY;
ALTER TABLE workspace FORCE ROW LEVEL SECURITY;
CREATE POLICY scope ON workspace USING (id = (SELECT memconsole_workspace()))
    WITH CHECK (id = (SELECT memconsole_workspace()));

ALTER TABLE partition ENABLE ROW LEVEL SECURITY;
ALTER TABLE partition FORCE ROW LEVEL SECURITY;
CREATE POLICY scope ON partition
    USING (workspace_id = (SELECT memconsole_workspace())
           AND ((SELECT memconsole_whole_workspace()) OR id = ANY ((SELECT memconsole_partitions())::uuid[])))
    WITH CHECK (workspace_id = (SELECT memconsole_workspace())
           AND ((SELECT memconsole_whole_workspace()) OR id = ANY ((SELECT memconsole_partitions())::uuid[])));

ALTER TABLE source_run ENABLE ROW LEVEL SECURITY;
ALTER TABLE source_run FORCE ROW LEVEL SECURITY;
CREATE POLICY scope ON source_run
    USING (workspace_id = (SELECT memconsole_workspace())
           AND (partition_id IS NULL OR (SELECT memconsole_whole_workspace())
                OR partition_id = ANY ((SELECT memconsole_partitions())::uuid[])))
    WITH CHECK (workspace_id = (SELECT memconsole_workspace())
           AND (partition_id IS NULL OR (SELECT memconsole_whole_workspace())
                OR partition_id = ANY ((SELECT memconsole_partitions())::uuid[])));

-- Jobs that serve the whole installation have no workspace; they hold no memory text.
ALTER TABLE job_run ENABLE ROW LEVEL SECURITY;
ALTER TABLE job_run FORCE ROW LEVEL SECURITY;
CREATE POLICY scope ON job_run
    USING (workspace_id IS NULL OR workspace_id = (SELECT memconsole_workspace()))
    WITH CHECK (workspace_id IS NULL OR workspace_id = (SELECT memconsole_workspace()));

-- An event may be added before any workspace is known (a refused key); it is then
-- readable to nobody but maintenance. One without a partition is the workspace's own.
ALTER TABLE event ENABLE ROW LEVEL SECURITY;
ALTER TABLE event FORCE ROW LEVEL SECURITY;
CREATE POLICY scope ON event FOR SELECT
    USING (workspace_id = (SELECT memconsole_workspace())
           AND ((SELECT memconsole_whole_workspace())
                OR partition_id = ANY ((SELECT memconsole_partitions())::uuid[])));
CREATE POLICY append ON event FOR INSERT
    WITH CHECK (workspace_id IS NULL
           OR (workspace_id = (SELECT memconsole_workspace())
               AND (partition_id IS NULL OR (SELECT memconsole_whole_workspace())
                    OR partition_id = ANY ((SELECT memconsole_partitions())::uuid[]))));

-- What the application may do: no delete on facts, claims and logs, no truncate anywhere.
GRANT SELECT, INSERT, UPDATE ON workspace, partition, api_key, source, source_run, session, session_totals,
    predicate_policy, slot, address, memory_record, claim, tally, standing, fence, feedback, job_run, embedding_model
    TO memconsole_app;
GRANT SELECT, INSERT, UPDATE, DELETE ON idempotency_key TO memconsole_app;
GRANT DELETE ON standing TO memconsole_app;
GRANT SELECT, INSERT ON event, recall, serve TO memconsole_app;
GRANT ALL ON ALL TABLES IN SCHEMA public TO memconsole_maintenance;
GRANT USAGE ON ALL SEQUENCES IN SCHEMA public TO memconsole_app, memconsole_maintenance;
