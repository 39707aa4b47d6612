-- Imports: one row a run, and the facts that an unfinished run has met (digests, no text).
ALTER TABLE import_run ADD CONSTRAINT import_run_key UNIQUE (workspace_id, run_id);
ALTER TABLE import_run ADD CONSTRAINT import_run_scope_key UNIQUE (workspace_id, id);
ALTER TABLE import_run
    ADD CONSTRAINT import_run_id_check CHECK (char_length(run_id) BETWEEN 1 AND 100),
    ADD CONSTRAINT import_run_position_check CHECK (position >= 0 AND line >= 0 AND errors_size >= 0);

CREATE TABLE import_fact (
    import_run_id uuid NOT NULL,
    fact          uuid NOT NULL,
    workspace_id  uuid NOT NULL,
    PRIMARY KEY (import_run_id, fact),
    CONSTRAINT import_fact_run_fk FOREIGN KEY (workspace_id, import_run_id) REFERENCES import_run (workspace_id, id)
);

DO $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['import_run', 'import_fact']
    LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', name);
        EXECUTE format('CREATE POLICY scope ON %I USING (workspace_id = (SELECT memconsole_workspace()))
                        WITH CHECK (workspace_id = (SELECT memconsole_workspace()))', name);
    END LOOP;
END $$;

GRANT SELECT, INSERT, UPDATE ON import_run TO memconsole_app;
GRANT SELECT, INSERT, DELETE ON import_fact TO memconsole_app;
GRANT ALL ON import_run, import_fact TO memconsole_maintenance;
