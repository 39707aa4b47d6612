-- What the write path notes of each session. The samples hold keyed digests, no text.
ALTER TABLE session_signals
    ADD CONSTRAINT session_signals_session_fk FOREIGN KEY (workspace_id, partition_id, session_id)
        REFERENCES session (workspace_id, partition_id, id),
    ADD CONSTRAINT session_signals_counts CHECK (made >= 0 AND derived BETWEEN 0 AND made
        AND stopped BETWEEN 0 AND made AND near BETWEEN 0 AND made AND fresh BETWEEN 0 AND made
        AND unknown BETWEEN 0 AND made);
CREATE INDEX session_signals_changed ON session_signals (workspace_id, changed_at);
CREATE INDEX session_signals_stated ON session_signals USING gin (stated);

ALTER TABLE session_signals ENABLE ROW LEVEL SECURITY;
ALTER TABLE session_signals FORCE ROW LEVEL SECURITY;
CREATE POLICY scope ON session_signals
    USING (workspace_id = (SELECT memconsole_workspace())
           AND ((SELECT memconsole_whole_workspace())
                OR partition_id = ANY ((SELECT memconsole_partitions())::uuid[])))
    WITH CHECK (workspace_id = (SELECT memconsole_workspace())
           AND ((SELECT memconsole_whole_workspace())
                OR partition_id = ANY ((SELECT memconsole_partitions())::uuid[])));
GRANT SELECT, INSERT, UPDATE ON session_signals TO memconsole_app;
GRANT ALL ON session_signals TO memconsole_maintenance;

-- Overlap of arrays is not leakproof, so under policies no index serves it. The function runs
-- as the owner and keeps to the caller's workspace itself; without the reach of a whole
-- workspace it finds nothing. It answers ids and counts alone.
CREATE POLICY reads ON session_signals FOR SELECT TO memconsole_owner USING (true);

CREATE FUNCTION memconsole_alike(wanted integer[], but uuid, most integer)
    RETURNS TABLE (session_id uuid, shared integer)
    LANGUAGE plpgsql STABLE SECURITY DEFINER ROWS 50 SET search_path = pg_catalog, public AS $$
DECLARE
    here uuid := memconsole_workspace();
BEGIN
    IF here IS NULL OR NOT memconsole_whole_workspace() THEN
        RETURN;
    END IF;
    RETURN QUERY
        SELECT t.session_id, (SELECT count(*)::integer FROM unnest(t.stated) AS one
                              WHERE one = ANY (wanted)) AS shared
        FROM (SELECT s.session_id, s.stated FROM session_signals s
              WHERE s.workspace_id = here AND s.stated && wanted AND s.session_id <> but
              LIMIT 5000) AS t
        ORDER BY shared DESC, t.session_id LIMIT most;
END $$;
REVOKE ALL ON FUNCTION memconsole_alike(integer[], uuid, integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION memconsole_alike(integer[], uuid, integer) TO memconsole_app;
