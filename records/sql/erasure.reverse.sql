ALTER TABLE memory_record DROP CONSTRAINT memory_record_erased_is_mute;
REVOKE ALL ON erasure_due FROM memconsole_app, memconsole_maintenance;
DROP POLICY scope ON erasure_due;
ALTER TABLE erasure_due DROP CONSTRAINT erasure_due_kind_check, DROP CONSTRAINT erasure_due_workspace_fk;
