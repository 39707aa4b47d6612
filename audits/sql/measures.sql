-- What the monitoring reads. A scrape happens before any workspace is known, so it reads through
-- a narrow function that runs as the owner: names of workspaces and numbers, nothing else.
ALTER TABLE measure ADD CONSTRAINT measure_workspace_fk FOREIGN KEY (workspace_id) REFERENCES workspace (id);
ALTER TABLE measure ENABLE ROW LEVEL SECURITY;
ALTER TABLE measure FORCE ROW LEVEL SECURITY;
CREATE POLICY scope ON measure
    USING (workspace_id = (SELECT memconsole_workspace()) AND (SELECT memconsole_whole_workspace()))
    WITH CHECK (workspace_id = (SELECT memconsole_workspace()) AND (SELECT memconsole_whole_workspace()));
CREATE POLICY doors ON measure FOR SELECT TO memconsole_owner USING (true);
GRANT SELECT, INSERT, UPDATE ON measure TO memconsole_app;
GRANT ALL ON measure TO memconsole_maintenance;

CREATE FUNCTION memconsole_measures() RETURNS TABLE (workspace text, at timestamptz, numbers jsonb)
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public AS $$
    SELECT w.name, m.at, m.numbers FROM measure m JOIN workspace w ON w.id = m.workspace_id ORDER BY w.name
$$;
REVOKE ALL ON FUNCTION memconsole_measures() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION memconsole_measures() TO memconsole_app, memconsole_maintenance;

-- Counting a workspace's fences, and finding when each job last succeeded, must not
-- depend on how many other workspaces have.
CREATE INDEX fence_live ON fence (workspace_id, id) WHERE lifted_at IS NULL;
CREATE INDEX job_run_done ON job_run (workspace_id, job, finished_at DESC) WHERE state = 'done';
