ALTER TABLE first_audit
    ADD CONSTRAINT first_audit_workspace_fk FOREIGN KEY (workspace_id) REFERENCES workspace (id);
CREATE INDEX first_audit_recent ON first_audit (workspace_id, id DESC);
ALTER TABLE first_audit ENABLE ROW LEVEL SECURITY;
ALTER TABLE first_audit FORCE ROW LEVEL SECURITY;
CREATE POLICY scope ON first_audit
    USING (workspace_id = (SELECT memconsole_workspace()) AND (SELECT memconsole_whole_workspace()))
    WITH CHECK (workspace_id = (SELECT memconsole_workspace()) AND (SELECT memconsole_whole_workspace()));
GRANT SELECT, INSERT ON first_audit TO memconsole_app;
GRANT ALL ON first_audit TO memconsole_maintenance;
