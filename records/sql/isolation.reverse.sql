DO $$
DECLARE
    found record;
BEGIN
    FOR found IN SELECT schemaname, tablename, policyname FROM pg_policies
        WHERE schemaname = 'public' AND policyname IN ('scope', 'append')
    LOOP
        EXECUTE format('DROP POLICY %I ON %I', found.policyname, found.tablename);
        EXECUTE format('ALTER TABLE %I NO FORCE ROW LEVEL SECURITY', found.tablename);
        EXECUTE format('ALTER TABLE %I DISABLE ROW LEVEL SECURITY', found.tablename);
    END LOOP;
END $$;
REVOKE ALL ON workspace, partition, api_key, source, source_run, session, session_totals, predicate_policy, slot,
    address, memory_record, claim, tally, standing, fence, feedback, job_run, embedding_model, idempotency_key, event,
    recall, serve FROM memconsole_app, memconsole_maintenance;
DROP FUNCTION memconsole_whole_workspace();
DROP FUNCTION memconsole_partitions();
DROP FUNCTION memconsole_workspace();
