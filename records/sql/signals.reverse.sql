REVOKE ALL ON session_signals FROM memconsole_app, memconsole_maintenance;
DROP POLICY scope ON session_signals;
ALTER TABLE session_signals NO FORCE ROW LEVEL SECURITY;
ALTER TABLE session_signals DISABLE ROW LEVEL SECURITY;
DROP INDEX session_signals_changed;
ALTER TABLE session_signals DROP CONSTRAINT session_signals_counts, DROP CONSTRAINT session_signals_session_fk;
