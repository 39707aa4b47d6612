DROP FUNCTION memconsole_alike(integer[], uuid, integer);
DROP POLICY reads ON session_suspicion;
REVOKE ALL ON session_suspicion FROM memconsole_app, memconsole_maintenance;
DROP POLICY scope ON session_suspicion;
ALTER TABLE session_suspicion NO FORCE ROW LEVEL SECURITY;
ALTER TABLE session_suspicion DISABLE ROW LEVEL SECURITY;
DROP INDEX session_suspicion_stated;
DROP INDEX session_suspicion_recent;
DROP INDEX session_suspicion_ranked;
ALTER TABLE session_suspicion DROP CONSTRAINT session_suspicion_score_check,
    DROP CONSTRAINT session_suspicion_session_fk;
