-- What the write path notes of each session. The samples hold keyed digests, no text.
ALTER TABLE session_signals
    ADD CONSTRAINT session_signals_session_fk FOREIGN KEY (workspace_id, partition_id, session_id)
        REFERENCES session (workspace_id, partition_id, id),
    ADD CONSTRAINT session_signals_counts CHECK (made >= 0 AND derived BETWEEN 0 AND made
        AND stopped BETWEEN 0 AND made AND near BETWEEN 0 AND made AND fresh BETWEEN 0 AND made
        AND unknown BETWEEN 0 AND made);
CREATE INDEX session_signals_changed ON session_signals (workspace_id, changed_at);

ALTER TABLE session_signals ENABLE ROW LEVEL SECURITY;
ALTER TABLE session_signals FORCE ROW LEVEL SECURITY;
CREATE POLICY scope ON session_signals
    USING (workspace_id = (SELECT memconsole_workspace())
           AND ((SELECT memconsole_whole_workspace())
                OR partition_id = ANY ((SELECT memconsole_partitions())::uuid[])))
    WITH CHECK (workspace_id = (SELECT memconsole_workspace())
           AND ((SELECT memconsole_whole_workspace())
                OR partition_id = ANY ((SELECT memconsole_partitions())::uuid[])));
GRANT SELECT, INSERT, UPDATE ON session_signals TO memconsole_app;
GRANT ALL ON session_signals TO memconsole_maintenance;
