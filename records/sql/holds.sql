-- Legal holds: scoped like the workspace's own tables, and kept by the database itself.
ALTER TABLE legal_hold
    ADD CONSTRAINT legal_hold_workspace_fk FOREIGN KEY (workspace_id) REFERENCES workspace (id),
    ADD CONSTRAINT legal_hold_kind_check CHECK (kind IN ('record', 'session', 'source', 'partition')),
    ADD CONSTRAINT legal_hold_lengths CHECK (
        char_length(reason) BETWEEN 1 AND 1000 AND char_length(release_reason) <= 1000),
    ADD CONSTRAINT legal_hold_release_whole CHECK (
        (released_at IS NULL) = (released_by = '') AND (released_at IS NULL) = (release_reason = ''));
CREATE UNIQUE INDEX legal_hold_standing ON legal_hold (workspace_id, kind, target_id) WHERE released_at IS NULL;
ALTER TABLE legal_hold ENABLE ROW LEVEL SECURITY;
ALTER TABLE legal_hold FORCE ROW LEVEL SECURITY;
CREATE POLICY scope ON legal_hold
    USING (workspace_id = (SELECT memconsole_workspace()))
    WITH CHECK (workspace_id = (SELECT memconsole_workspace()));
GRANT SELECT, INSERT, UPDATE ON legal_hold TO memconsole_app;
GRANT ALL ON legal_hold TO memconsole_maintenance;

CREATE FUNCTION memconsole_keep_held() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (
        SELECT 1 FROM legal_hold h WHERE h.workspace_id = OLD.workspace_id AND h.released_at IS NULL
          AND (h.kind = 'record' AND h.target_id = OLD.id
               OR h.kind = 'partition' AND h.target_id = OLD.partition_id
               OR h.kind = 'session' AND (h.target_id = OLD.session_id
                   OR EXISTS (SELECT 1 FROM claim c WHERE c.record_id = OLD.id AND c.session_id = h.target_id))
               OR h.kind = 'source' AND (h.target_id = OLD.source_id
                   OR EXISTS (SELECT 1 FROM claim c WHERE c.record_id = OLD.id AND c.source_id = h.target_id)))) THEN
        RAISE EXCEPTION 'record % is on legal hold', OLD.id USING ERRCODE = 'check_violation';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER memory_record_legal_hold BEFORE UPDATE ON memory_record FOR EACH ROW
    WHEN (NEW.status = 'erased' AND OLD.status <> 'erased') EXECUTE FUNCTION memconsole_keep_held();
