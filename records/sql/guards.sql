-- Rules the database keeps whatever the code does.

-- An event is never changed or removed; to the application this is refused by grants already.
CREATE FUNCTION memconsole_refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '% is append-only: % refused', TG_TABLE_NAME, TG_OP USING ERRCODE = 'insufficient_privilege';
END $$;
CREATE TRIGGER event_append_only BEFORE UPDATE OR DELETE ON event
    FOR EACH ROW EXECUTE FUNCTION memconsole_refuse_change();
CREATE TRIGGER event_no_truncate BEFORE TRUNCATE ON event
    FOR EACH STATEMENT EXECUTE FUNCTION memconsole_refuse_change();

-- Belief is kept as intervals: what "as of" answers stays true however often a record
-- leaves service and comes back. Erased is final, and what a record says never changes
-- except by erasure (a corrected or edited fact is a new record of the chain).
CREATE FUNCTION memconsole_record_changes() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF OLD.status = 'erased' THEN
        RAISE EXCEPTION 'record % is erased', OLD.id USING ERRCODE = 'check_violation';
    END IF;
    IF NEW.status <> 'erased' AND (
        (NEW.subject, NEW.predicate, NEW.value, NEW.slot_id)
            IS DISTINCT FROM (OLD.subject, OLD.predicate, OLD.value, OLD.slot_id)
        -- How a value is spelled for identity is the policy's and the schema's to say.
        OR (NEW.fingerprint <> OLD.fingerprint AND NEW.policy_version = OLD.policy_version
            AND NEW.schema_version = OLD.schema_version)) THEN
        RAISE EXCEPTION 'record %: what a record says does not change', OLD.id USING ERRCODE = 'check_violation';
    END IF;
    IF NEW.status <> OLD.status THEN
        IF OLD.status = 'active' THEN
            NEW.believed := OLD.believed - tstzmultirange(tstzrange(greatest(NEW.status_at, OLD.recorded_at), NULL));
        ELSIF NEW.status = 'active' THEN
            NEW.believed := OLD.believed + tstzmultirange(tstzrange(NEW.status_at, NULL));
        END IF;
        NEW.version := OLD.version + 1;
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER memory_record_changes BEFORE UPDATE ON memory_record
    FOR EACH ROW EXECUTE FUNCTION memconsole_record_changes();
