DROP POLICY scope ON first_audit;
REVOKE ALL ON first_audit FROM memconsole_app, memconsole_maintenance;
