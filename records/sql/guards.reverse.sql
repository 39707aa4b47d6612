DROP TRIGGER memory_record_changes ON memory_record;
DROP FUNCTION memconsole_record_changes();
DROP TRIGGER event_no_truncate ON event;
DROP TRIGGER event_append_only ON event;
DROP FUNCTION memconsole_refuse_change();
