DROP INDEX job_run_done;
DROP INDEX fence_live;
DROP FUNCTION memconsole_measures();
REVOKE ALL ON measure FROM memconsole_app, memconsole_maintenance;
DROP POLICY doors ON measure;
DROP POLICY scope ON measure;
ALTER TABLE measure NO FORCE ROW LEVEL SECURITY;
ALTER TABLE measure DISABLE ROW LEVEL SECURITY;
ALTER TABLE measure DROP CONSTRAINT measure_workspace_fk;
