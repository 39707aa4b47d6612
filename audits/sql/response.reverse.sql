DROP TRIGGER operation_target_is_history ON operation_target;
DROP TRIGGER operation_is_history ON operation;
DROP FUNCTION memconsole_keep_targets();
DROP FUNCTION memconsole_keep_operations();
REVOKE ALL ON incident, incident_scope, incident_task, incident_note, session_note, operation, operation_target,
    approval, subject_request, export FROM memconsole_app, memconsole_maintenance;
