-- How odd each session looks. Kept by a job; a workspace's people see all of theirs.
ALTER TABLE session_suspicion
    ADD CONSTRAINT session_suspicion_session_fk FOREIGN KEY (workspace_id, partition_id, session_id)
        REFERENCES session (workspace_id, partition_id, id),
    ADD CONSTRAINT session_suspicion_score_check CHECK (score BETWEEN 0 AND 100);
CREATE INDEX session_suspicion_ranked ON session_suspicion (workspace_id, score DESC, session_id);
CREATE INDEX session_suspicion_recent ON session_suspicion (workspace_id, looked_at DESC);
CREATE INDEX session_suspicion_stated ON session_suspicion USING gin (stated);

ALTER TABLE session_suspicion ENABLE ROW LEVEL SECURITY;
ALTER TABLE session_suspicion FORCE ROW LEVEL SECURITY;
CREATE POLICY scope ON session_suspicion
    USING (workspace_id = (SELECT memconsole_workspace()) AND (SELECT memconsole_whole_workspace()))
    WITH CHECK (workspace_id = (SELECT memconsole_workspace()) AND (SELECT memconsole_whole_workspace()));
GRANT SELECT, INSERT, UPDATE ON session_suspicion TO memconsole_app;
GRANT ALL ON session_suspicion TO memconsole_maintenance;

-- Overlap of arrays is not leakproof, so under policies no index serves it. The function runs
-- as the owner and keeps to the caller's workspace itself; without the reach of a whole
-- workspace it finds nothing. It answers ids and counts alone.
CREATE POLICY reads ON session_suspicion FOR SELECT TO memconsole_owner USING (true);

CREATE FUNCTION memconsole_alike(wanted integer[], but uuid, most integer)
    RETURNS TABLE (id uuid, shared integer)
    LANGUAGE plpgsql STABLE SECURITY DEFINER ROWS 50 SET search_path = pg_catalog, public AS $$
DECLARE
    here uuid := memconsole_workspace();
BEGIN
    IF here IS NULL OR NOT memconsole_whole_workspace() THEN
        RETURN;
    END IF;
    RETURN QUERY
        SELECT t.session_id, (SELECT count(*)::integer FROM unnest(t.stated) AS one
                              WHERE one = ANY (wanted))
        FROM (SELECT s.session_id, s.stated FROM session_suspicion s
              WHERE s.workspace_id = here AND s.stated && wanted AND s.session_id <> but
              LIMIT 5000) AS t
        ORDER BY 2 DESC, 1 LIMIT most;
END $$;
REVOKE ALL ON FUNCTION memconsole_alike(integer[], uuid, integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION memconsole_alike(integer[], uuid, integer) TO memconsole_app;
