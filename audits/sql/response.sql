-- Incidents, operations, approvals, subject requests, exports: a workspace's people see all of
-- theirs, nobody else any. Working state and history alike are kept; only targets of previews
-- that nobody ran are tidied away.
CREATE UNIQUE INDEX incident_number ON incident (workspace_id, number);
CREATE INDEX incident_open ON incident (workspace_id, opened_at DESC) WHERE state = 'open';
ALTER TABLE incident ADD CONSTRAINT incident_scope_key UNIQUE (workspace_id, id),
    ADD CONSTRAINT incident_workspace_fk FOREIGN KEY (workspace_id) REFERENCES workspace (id),
    ADD CONSTRAINT incident_state_check CHECK (state IN ('open', 'closed', 'merged')),
    ADD CONSTRAINT incident_severity_check CHECK (severity IN ('low', 'medium', 'high', 'critical')),
    ADD CONSTRAINT incident_closed_whole CHECK ((state = 'closed') = (closed_at IS NOT NULL)),
    ADD CONSTRAINT incident_merged_whole CHECK ((state = 'merged') = (merged_into IS NOT NULL)),
    ADD CONSTRAINT incident_lengths CHECK (char_length(title) BETWEEN 1 AND 200 AND char_length(summary) <= 4000
        AND char_length(cause) <= 4000 AND char_length(lessons) <= 4000 AND char_length(waived_reason) <= 1000);
ALTER TABLE incident_scope
    ADD CONSTRAINT incident_scope_incident_fk FOREIGN KEY (workspace_id, incident_id)
        REFERENCES incident (workspace_id, id),
    ADD CONSTRAINT incident_scope_kind_check CHECK (kind IN ('session', 'source', 'partition', 'record', 'text')),
    ADD CONSTRAINT incident_scope_whole CHECK ((kind = 'text') = (target_id IS NULL)),
    ADD CONSTRAINT incident_scope_length CHECK (char_length(text) <= 200);
CREATE UNIQUE INDEX incident_scope_once ON incident_scope (incident_id, kind, target_id)
    WHERE removed_at IS NULL AND target_id IS NOT NULL;
CREATE INDEX incident_scope_of ON incident_scope (incident_id);
CREATE INDEX incident_scope_target ON incident_scope (target_id) WHERE target_id IS NOT NULL;
ALTER TABLE incident_task
    ADD CONSTRAINT incident_task_incident_fk FOREIGN KEY (workspace_id, incident_id)
        REFERENCES incident (workspace_id, id),
    ADD CONSTRAINT incident_task_length CHECK (char_length(title) BETWEEN 1 AND 500);
CREATE INDEX incident_task_of ON incident_task (incident_id);
ALTER TABLE incident_note
    ADD CONSTRAINT incident_note_incident_fk FOREIGN KEY (workspace_id, incident_id)
        REFERENCES incident (workspace_id, id),
    ADD CONSTRAINT incident_note_length CHECK (char_length(text) BETWEEN 1 AND 4000);
CREATE INDEX incident_note_of ON incident_note (incident_id, id);
ALTER TABLE session_note
    ADD CONSTRAINT session_note_session_fk FOREIGN KEY (workspace_id, partition_id, session_id)
        REFERENCES session (workspace_id, partition_id, id),
    ADD CONSTRAINT session_note_length CHECK (char_length(text) BETWEEN 1 AND 2000);
CREATE INDEX session_note_of ON session_note (session_id, id);

ALTER TABLE operation ADD CONSTRAINT operation_scope_key UNIQUE (workspace_id, id),
    ADD CONSTRAINT operation_workspace_fk FOREIGN KEY (workspace_id) REFERENCES workspace (id),
    ADD CONSTRAINT operation_incident_fk FOREIGN KEY (workspace_id, incident_id)
        REFERENCES incident (workspace_id, id),
    ADD CONSTRAINT operation_undoes_fk FOREIGN KEY (workspace_id, undoes) REFERENCES operation (workspace_id, id),
    ADD CONSTRAINT operation_kind_check CHECK (kind IN ('evict', 'restore', 'erase')),
    ADD CONSTRAINT operation_state_check CHECK (state IN ('preview', 'waiting', 'queued', 'running', 'done',
        'drifted', 'cancelled', 'failed', 'refused', 'expired')),
    ADD CONSTRAINT operation_lengths CHECK (char_length(reason) <= 1000 AND char_length(note) <= 2000);
CREATE INDEX operation_recent ON operation (workspace_id, id DESC) WHERE state <> 'preview';
CREATE INDEX operation_of_incident ON operation (incident_id) WHERE incident_id IS NOT NULL;
CREATE INDEX operation_undone ON operation (undoes) WHERE undoes IS NOT NULL;
CREATE INDEX operation_unfinished ON operation (workspace_id) WHERE state IN ('preview', 'waiting', 'queued', 'running');
ALTER TABLE operation_target
    ADD CONSTRAINT operation_target_operation_fk FOREIGN KEY (workspace_id, operation_id)
        REFERENCES operation (workspace_id, id),
    ADD CONSTRAINT operation_target_record_fk FOREIGN KEY (workspace_id, partition_id, record_id)
        REFERENCES memory_record (workspace_id, partition_id, id);
CREATE INDEX operation_target_group ON operation_target (operation_id, grp, record_id);
CREATE INDEX operation_target_of_record ON operation_target (record_id);

ALTER TABLE approval ADD CONSTRAINT approval_workspace_fk FOREIGN KEY (workspace_id) REFERENCES workspace (id),
    ADD CONSTRAINT approval_state_check CHECK (state IN ('waiting', 'approved', 'refused', 'expired', 'withdrawn')),
    ADD CONSTRAINT approval_decided_whole CHECK ((state IN ('approved', 'refused')) = (decided_by_id IS NOT NULL)),
    -- Nobody answers their own question, unless nobody else could.
    ADD CONSTRAINT approval_four_eyes CHECK (
        state <> 'approved' OR decided_by_id <> requested_by_id OR is_alone AND decided_reason <> ''),
    ADD CONSTRAINT approval_lengths CHECK (char_length(summary) BETWEEN 1 AND 500
        AND char_length(reason) <= 1000 AND char_length(decided_reason) <= 1000);
CREATE INDEX approval_waiting ON approval (workspace_id, requested_at) WHERE state = 'waiting';
CREATE INDEX approval_recent ON approval (workspace_id, id DESC);
CREATE INDEX approval_of_target ON approval (target_id) WHERE target_id IS NOT NULL;

ALTER TABLE subject_request
    ADD CONSTRAINT subject_request_workspace_fk FOREIGN KEY (workspace_id) REFERENCES workspace (id),
    ADD CONSTRAINT subject_request_kind_check CHECK (kind IN ('access', 'erasure')),
    ADD CONSTRAINT subject_request_state_check CHECK (state IN ('preview', 'waiting', 'running', 'done', 'failed',
        'refused', 'expired')),
    ADD CONSTRAINT subject_request_lengths CHECK (char_length(reason) <= 1000 AND char_length(subject) <= 200);
CREATE INDEX subject_request_recent ON subject_request (workspace_id, id DESC);
ALTER TABLE export ADD CONSTRAINT export_workspace_fk FOREIGN KEY (workspace_id) REFERENCES workspace (id),
    ADD CONSTRAINT export_state_check CHECK (state IN ('started', 'finished', 'failed'));
CREATE INDEX export_recent ON export (workspace_id, id DESC);

DO $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['incident', 'incident_scope', 'incident_task', 'incident_note', 'session_note',
                                'operation', 'operation_target', 'approval', 'subject_request', 'export']
    LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', name);
        EXECUTE format('CREATE POLICY scope ON %I
            USING (workspace_id = (SELECT memconsole_workspace()) AND (SELECT memconsole_whole_workspace()))
            WITH CHECK (workspace_id = (SELECT memconsole_workspace()) AND (SELECT memconsole_whole_workspace()))', name);
        EXECUTE format('GRANT SELECT, INSERT, UPDATE ON %I TO memconsole_app', name);
        EXECUTE format('GRANT ALL ON %I TO memconsole_maintenance', name);
    END LOOP;
END $$;
GRANT DELETE ON operation, operation_target TO memconsole_app;
-- What ran is history: only a preview may be tidied away.
CREATE FUNCTION memconsole_keep_operations() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF OLD.state <> 'preview' THEN
        RAISE EXCEPTION 'operation % is history', OLD.id USING ERRCODE = 'insufficient_privilege';
    END IF;
    RETURN OLD;
END $$;
CREATE TRIGGER operation_is_history BEFORE DELETE ON operation
    FOR EACH ROW EXECUTE FUNCTION memconsole_keep_operations();
CREATE FUNCTION memconsole_keep_targets() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT 1 FROM operation o WHERE o.id = OLD.operation_id AND o.state <> 'preview') THEN
        RAISE EXCEPTION 'operation % is history', OLD.operation_id USING ERRCODE = 'insufficient_privilege';
    END IF;
    RETURN OLD;
END $$;
CREATE TRIGGER operation_target_is_history BEFORE DELETE ON operation_target
    FOR EACH ROW EXECUTE FUNCTION memconsole_keep_targets();
