ALTER TABLE operation_target RESET (fillfactor);
DROP INDEX approval_asked_once;
DROP TRIGGER approval_four_eyes ON approval;
DROP FUNCTION memconsole_four_eyes();
