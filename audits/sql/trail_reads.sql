-- How the audit trail's page finds events among millions. The write path's own events pay for
-- one of these indexes alone; the others are partial and hold what people and jobs do.
CREATE INDEX event_by_time ON event (workspace_id, at, id);
-- What every write brings is dense, and found by walking back; the rest is rare.
CREATE INDEX event_by_action ON event (workspace_id, action, at, id)
    WHERE action NOT IN ('record.added', 'record.reinforced', 'record.updated', 'record.superseded', 'record.echoed');
CREATE INDEX event_by_actor ON event (workspace_id, actor, at, id) WHERE actor_kind <> 'key';
CREATE INDEX event_refused ON event (workspace_id, at, id) WHERE outcome IN ('denied', 'failed');
CREATE INDEX event_bulk ON event (workspace_id, at, id) WHERE count > 1 OR details ? 'operation';
CREATE INDEX event_of_operation ON event ((details ->> 'operation'), id) WHERE details ? 'operation';
CREATE INDEX event_of_incident ON event ((details ->> 'incident'), id) WHERE details ? 'incident';

-- Looking into JSON is not leakproof, so under policies no index serves it. The function runs as
-- the owner, who is let through, and keeps to the caller's workspace itself. Ids alone, the
-- newest first; the caller reads the rows under its own policies.
CREATE POLICY reads ON event FOR SELECT TO memconsole_owner USING (true);
CREATE FUNCTION memconsole_events_of(kind text, wanted uuid, before bigint, most integer) RETURNS SETOF bigint
    LANGUAGE plpgsql STABLE SECURITY DEFINER ROWS 100 SET search_path = pg_catalog, public AS $$
DECLARE
    here uuid := memconsole_workspace();
BEGIN
    IF here IS NULL OR NOT memconsole_whole_workspace() THEN
        RETURN;
    ELSIF kind = 'operation' THEN
        RETURN QUERY SELECT id FROM event WHERE details ? 'operation' AND details ->> 'operation' = wanted::text
            AND workspace_id = here AND id < before ORDER BY id DESC LIMIT most;
    ELSIF kind = 'incident' THEN
        RETURN QUERY SELECT id FROM event WHERE details ? 'incident' AND details ->> 'incident' = wanted::text
            AND workspace_id = here AND id < before ORDER BY id DESC LIMIT most;
    END IF;
END $$;
REVOKE ALL ON FUNCTION memconsole_events_of(text, uuid, bigint, integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION memconsole_events_of(text, uuid, bigint, integer) TO memconsole_app;
