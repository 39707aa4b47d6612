-- Seals over the events. Whoever seals may add; nobody may change or remove.

ALTER TABLE seal
    ADD CONSTRAINT seal_numbers_check CHECK (number >= 1 AND first >= 1 AND last >= first),
    ADD CONSTRAINT seal_digests_check CHECK (octet_length(previous) = 32 AND octet_length(root) = 32),
    ADD CONSTRAINT seal_signature_check CHECK (octet_length(signature) = 64),
    ADD CONSTRAINT seal_first_key UNIQUE (workspace_id, first),
    ADD CONSTRAINT seal_last_key UNIQUE (workspace_id, last);
ALTER TABLE sealed_event
    ADD CONSTRAINT sealed_event_position_check CHECK (position >= 1),
    ADD CONSTRAINT sealed_event_leaf_check CHECK (octet_length(leaf) = 32);

-- Sealing takes events by the transaction that wrote them, not by id: see audits/seals.py.
CREATE INDEX event_by_transaction ON event (workspace_id, transaction, id);

DO $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['seal', 'sealed_event']
    LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', name);
        EXECUTE format('CREATE POLICY scope ON %I
            USING (workspace_id = (SELECT memconsole_workspace()) AND (SELECT memconsole_whole_workspace()))
            WITH CHECK (workspace_id = (SELECT memconsole_workspace()) AND (SELECT memconsole_whole_workspace()))', name);
        EXECUTE format('CREATE TRIGGER %1$s_append_only BEFORE UPDATE OR DELETE ON %1$I
            FOR EACH ROW EXECUTE FUNCTION memconsole_refuse_change()', name);
        EXECUTE format('CREATE TRIGGER %1$s_no_truncate BEFORE TRUNCATE ON %1$I
            FOR EACH STATEMENT EXECUTE FUNCTION memconsole_refuse_change()', name);
    END LOOP;
END $$;

GRANT SELECT, INSERT ON seal, sealed_event TO memconsole_app;
GRANT ALL ON seal, sealed_event TO memconsole_maintenance;
