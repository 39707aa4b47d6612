DROP TRIGGER memory_record_legal_hold ON memory_record;
DROP FUNCTION memconsole_keep_held();
DROP POLICY scope ON legal_hold;
REVOKE ALL ON legal_hold FROM memconsole_app, memconsole_maintenance;
