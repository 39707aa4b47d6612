-- Who is told of what. A workspace's people see all of theirs, nobody else any.
ALTER TABLE notice_channel ADD CONSTRAINT notice_channel_scope_key UNIQUE (workspace_id, id),
    ADD CONSTRAINT notice_channel_workspace_fk FOREIGN KEY (workspace_id) REFERENCES workspace (id),
    ADD CONSTRAINT notice_channel_kind_check CHECK (kind IN ('email', 'webhook', 'chat')),
    ADD CONSTRAINT notice_channel_lengths CHECK (char_length(name) BETWEEN 1 AND 100
        AND char_length(place) <= 500 AND octet_length(secret) <= 16384);
CREATE INDEX notice_channel_of ON notice_channel (workspace_id, created_at) WHERE removed_at IS NULL;
ALTER TABLE notice_rule ADD CONSTRAINT notice_rule_scope_key UNIQUE (workspace_id, id),
    ADD CONSTRAINT notice_rule_channel_fk FOREIGN KEY (workspace_id, channel_id)
        REFERENCES notice_channel (workspace_id, id),
    ADD CONSTRAINT notice_rule_quiet_check CHECK (quiet_minutes BETWEEN 0 AND 10080);
CREATE INDEX notice_rule_of ON notice_rule (workspace_id, kind) WHERE removed_at IS NULL;
ALTER TABLE notice_quiet ADD CONSTRAINT notice_quiet_rule_fk FOREIGN KEY (workspace_id, rule_id)
        REFERENCES notice_rule (workspace_id, id),
    ADD CONSTRAINT notice_quiet_kept_check CHECK (kept >= 0);
CREATE INDEX notice_quiet_over ON notice_quiet (workspace_id, until);
ALTER TABLE notice ADD CONSTRAINT notice_scope_key UNIQUE (workspace_id, id),
    ADD CONSTRAINT notice_channel_fk FOREIGN KEY (workspace_id, channel_id)
        REFERENCES notice_channel (workspace_id, id),
    ADD CONSTRAINT notice_rule_fk FOREIGN KEY (workspace_id, rule_id) REFERENCES notice_rule (workspace_id, id),
    ADD CONSTRAINT notice_state_check CHECK (state IN ('waiting', 'sending', 'sent', 'failed')),
    ADD CONSTRAINT notice_sent_whole CHECK ((state = 'sent') = (sent_at IS NOT NULL)),
    ADD CONSTRAINT notice_lengths CHECK (char_length(target) <= 100 AND char_length(fault) <= 200);
CREATE INDEX notice_due ON notice (workspace_id, next_at) WHERE state IN ('waiting', 'sending');
CREATE INDEX notice_recent ON notice (workspace_id, id DESC);
ALTER TABLE notice_attempt ADD CONSTRAINT notice_attempt_notice_fk FOREIGN KEY (workspace_id, notice_id)
        REFERENCES notice (workspace_id, id),
    ADD CONSTRAINT notice_attempt_length CHECK (char_length(fault) <= 200);
CREATE INDEX notice_attempt_of ON notice_attempt (notice_id, at);

DO $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['notice_channel', 'notice_rule', 'notice_quiet', 'notice', 'notice_attempt']
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
-- A quiet period that is over says nothing any more.
GRANT DELETE ON notice_quiet TO memconsole_app;
