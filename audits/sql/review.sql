-- The review queue's state: scoped like the records it is about.
ALTER TABLE review_item
    ADD CONSTRAINT review_item_record_fk FOREIGN KEY (workspace_id, partition_id, record_id)
        REFERENCES memory_record (workspace_id, partition_id, id),
    ADD CONSTRAINT review_item_lease_whole CHECK (
        (lease_token IS NULL) = (lease_expires_at IS NULL) AND (lease_token IS NULL) = (lease_user_id IS NULL));
ALTER TABLE review_decision
    ADD CONSTRAINT review_decision_record_fk FOREIGN KEY (workspace_id, partition_id, record_id)
        REFERENCES memory_record (workspace_id, partition_id, id),
    ADD CONSTRAINT review_decision_once UNIQUE (workspace_id, user_id, idempotency_key),
    ADD CONSTRAINT review_decision_verb_check CHECK (verb IN ('approve', 'edit', 'reject', 'supersede', 'snooze')),
    ADD CONSTRAINT review_decision_lengths CHECK (char_length(note) <= 2000 AND char_length(idempotency_key) <= 100);
ALTER TABLE review_note
    ADD CONSTRAINT review_note_record_fk FOREIGN KEY (workspace_id, partition_id, record_id)
        REFERENCES memory_record (workspace_id, partition_id, id),
    ADD CONSTRAINT review_note_length CHECK (char_length(text) BETWEEN 1 AND 2000);
CREATE INDEX review_item_leased ON review_item (lease_expires_at) WHERE lease_token IS NOT NULL;
CREATE INDEX review_decision_mine ON review_decision (workspace_id, user_id, id DESC);
CREATE INDEX review_decision_of_record ON review_decision (record_id, id DESC);
CREATE INDEX review_note_of_record ON review_note (record_id, id);

DO $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['review_item', 'review_decision', 'review_note']
    LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', name);
        EXECUTE format('CREATE POLICY scope ON %I
            USING (workspace_id = (SELECT memconsole_workspace()) AND (SELECT memconsole_whole_workspace()))
            WITH CHECK (workspace_id = (SELECT memconsole_workspace()) AND (SELECT memconsole_whole_workspace()))', name);
    END LOOP;
END $$;
GRANT SELECT, INSERT, UPDATE ON review_item, review_decision, review_note TO memconsole_app;
GRANT ALL ON review_item, review_decision, review_note TO memconsole_maintenance;
