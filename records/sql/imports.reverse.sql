DROP TABLE import_fact;
DROP POLICY scope ON import_run;
ALTER TABLE import_run DROP CONSTRAINT import_run_key, DROP CONSTRAINT import_run_scope_key,
    DROP CONSTRAINT import_run_id_check, DROP CONSTRAINT import_run_position_check;
