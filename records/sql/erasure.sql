-- What erasures leave to maintenance. Holds ids, no text.
ALTER TABLE erasure_due
    ADD CONSTRAINT erasure_due_workspace_fk FOREIGN KEY (workspace_id) REFERENCES workspace (id),
    ADD CONSTRAINT erasure_due_kind_check CHECK (kind IN ('recall', 'feedback', 'address'));
ALTER TABLE erasure_due ENABLE ROW LEVEL SECURITY;
ALTER TABLE erasure_due FORCE ROW LEVEL SECURITY;
CREATE POLICY scope ON erasure_due
    USING (workspace_id = (SELECT memconsole_workspace()))
    WITH CHECK (workspace_id = (SELECT memconsole_workspace()));
GRANT SELECT, INSERT ON erasure_due TO memconsole_app;
GRANT ALL ON erasure_due TO memconsole_maintenance;

-- An erased record says nothing in its lesser columns either.
ALTER TABLE memory_record ADD CONSTRAINT memory_record_erased_is_mute CHECK (status <> 'erased' OR
    (external_id IS NULL AND extracted_by = '' AND labels = '{}' AND recheck_reason IS NULL AND override IS NULL))
    NOT VALID;
