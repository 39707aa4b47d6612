DROP INDEX memory_record_bad;
DROP INDEX memory_record_expiry;
DROP INDEX recall_by_time;
REVOKE ALL ON rollup, rollup_progress FROM memconsole_app, memconsole_maintenance;
DO $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['rollup', 'rollup_progress']
    LOOP
        EXECUTE format('DROP POLICY scope ON %I', name);
        EXECUTE format('ALTER TABLE %I NO FORCE ROW LEVEL SECURITY', name);
        EXECUTE format('ALTER TABLE %I DISABLE ROW LEVEL SECURITY', name);
    END LOOP;
END $$;
