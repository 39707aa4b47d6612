-- Who may be the second person, kept by the database. Beside who asked and who wrote it:
-- whoever got the right to agree from them less than three days before it was asked cannot agree
-- while somebody else could, and nobody agrees alone who has just taken that right from another.
-- What was asked for stays as it was asked until it has run.
ALTER TABLE membership
    ADD COLUMN changed_by text NOT NULL DEFAULT '',
    ADD COLUMN agrees_since timestamptz,
    ADD COLUMN agrees_by text NOT NULL DEFAULT '',
    ADD COLUMN agreed_until timestamptz,
    ADD COLUMN agreed_ended_by text NOT NULL DEFAULT '';
CREATE FUNCTION memconsole_note_agreeing() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    agreed boolean := false;
    agrees boolean := NEW.removed_at IS NULL AND NEW.role IN ('approver', 'administrator');
BEGIN
    IF TG_OP = 'UPDATE' THEN
        agreed := OLD.removed_at IS NULL AND OLD.role IN ('approver', 'administrator');
    END IF;
    IF agrees AND NOT agreed THEN
        NEW.agrees_since := clock_timestamp();
        NEW.agrees_by := NEW.changed_by;
    ELSIF agreed AND NOT agrees THEN
        NEW.agreed_until := clock_timestamp();
        NEW.agreed_ended_by := NEW.changed_by;
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER membership_agreeing BEFORE INSERT OR UPDATE ON membership
    FOR EACH ROW EXECUTE FUNCTION memconsole_note_agreeing();

-- Who could agree to what ``barred`` asked or wrote: each with whether ``barred`` gave them that
-- right of late, and whether they have it no more because ``barred`` took it.
CREATE FUNCTION memconsole_agreeing(workspace uuid, barred uuid[], asked timestamptz)
    RETURNS TABLE (person uuid, is_fresh boolean, is_ousted boolean) LANGUAGE sql STABLE AS $$
    SELECT m.user_id,
        m.agrees_since > asked - interval '3 days' AND m.agrees_by = ANY (names.all_of),
        m.removed_at IS NOT NULL OR m.role NOT IN ('approver', 'administrator')
    FROM membership m JOIN audits_user u ON u.id = m.user_id,
        (SELECT ARRAY(SELECT b.username FROM audits_user b WHERE b.id = ANY (barred)) AS all_of) AS names
    WHERE m.workspace_id = workspace AND u.is_active AND m.user_id <> ALL (barred)
      AND (m.removed_at IS NULL AND m.role IN ('approver', 'administrator')
           OR m.agreed_until > asked - interval '3 days' AND m.agreed_ended_by = ANY (names.all_of))
$$;

CREATE OR REPLACE FUNCTION memconsole_four_eyes() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    barred uuid[];
    able uuid[];
    fresh uuid[];
    ousted boolean;
BEGIN
    IF TG_OP = 'INSERT' THEN
        IF NEW.state <> 'waiting' THEN
            RAISE EXCEPTION 'an approval begins as a question' USING ERRCODE = 'check_violation';
        END IF;
        RETURN NEW;
    END IF;
    IF OLD.state <> 'waiting' THEN
        RAISE EXCEPTION 'approval % is % already', OLD.id, OLD.state USING ERRCODE = 'check_violation';
    END IF;
    IF (NEW.id, NEW.workspace_id, NEW.kind, NEW.target_kind, NEW.target_id, NEW.payload, NEW.summary, NEW.reason,
        NEW.requested_by, NEW.requested_by_id, NEW.requested_at, NEW.expires_at)
        IS DISTINCT FROM (OLD.id, OLD.workspace_id, OLD.kind, OLD.target_kind, OLD.target_id, OLD.payload,
        OLD.summary, OLD.reason, OLD.requested_by, OLD.requested_by_id, OLD.requested_at, OLD.expires_at) THEN
        RAISE EXCEPTION 'what approval % asks does not change', OLD.id USING ERRCODE = 'check_violation';
    END IF;
    IF NEW.state = 'approved' THEN
        IF OLD.expires_at <= clock_timestamp() THEN
            RAISE EXCEPTION 'approval % has expired', OLD.id USING ERRCODE = 'check_violation';
        END IF;
        barred := OLD.requested_by_id || ARRAY(
            SELECT a::uuid FROM jsonb_array_elements_text(coalesce(OLD.payload -> 'authors', '[]')) AS a);
        SELECT coalesce(array_agg(a.person) FILTER (WHERE NOT a.is_ousted AND a.is_fresh IS NOT TRUE), '{}'),
            coalesce(array_agg(a.person) FILTER (WHERE NOT a.is_ousted AND a.is_fresh), '{}'),
            coalesce(bool_or(a.is_ousted), false)
        INTO able, fresh, ousted
        FROM memconsole_agreeing(OLD.workspace_id, barred, OLD.requested_at) AS a;
        IF able = '{}' AND NOT ousted THEN
            able := fresh;
        END IF;
        IF NEW.decided_by_id = ANY (barred) THEN
            IF NOT NEW.is_alone OR NEW.decided_reason = '' OR able <> '{}' OR ousted THEN
                RAISE EXCEPTION 'approval % takes a second person', OLD.id USING ERRCODE = 'check_violation';
            END IF;
        ELSIF NEW.decided_by_id <> ALL (able) AND NOT EXISTS (
                SELECT 1 FROM audits_user u WHERE u.id = NEW.decided_by_id AND u.is_active AND u.is_superuser) THEN
            RAISE EXCEPTION 'approval % takes somebody who may agree to it', OLD.id
                USING ERRCODE = 'check_violation';
        END IF;
    END IF;
    RETURN NEW;
END $$;

-- A bulk act begins as a preview. From when it is asked for until it has run, what it is about
-- stays as it was shown, and one that took a second person runs by that person's word alone.
CREATE FUNCTION memconsole_as_asked() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        IF NEW.state IN ('waiting', 'queued', 'running') THEN
            RAISE EXCEPTION 'an operation begins as a preview' USING ERRCODE = 'check_violation';
        END IF;
        RETURN NEW;
    END IF;
    IF OLD.state <> 'preview' AND (
        (NEW.id, NEW.workspace_id, NEW.kind, NEW.digest, NEW.groups, NEW.total, NEW.undoes, NEW.requested_by_id,
         NEW.approval_id)
        IS DISTINCT FROM (OLD.id, OLD.workspace_id, OLD.kind, OLD.digest, OLD.groups, OLD.total, OLD.undoes,
         OLD.requested_by_id, OLD.approval_id)
        OR OLD.state <> 'done' AND current_setting('memconsole.erasing', true) IS DISTINCT FROM 'on'
            AND (NEW.scope, NEW.reason, NEW.options - 'resumed')
                IS DISTINCT FROM (OLD.scope, OLD.reason, OLD.options - 'resumed')) THEN
        RAISE EXCEPTION 'what operation % does stays as it was asked', OLD.id USING ERRCODE = 'check_violation';
    END IF;
    IF NEW.state <> OLD.state AND OLD.state IN ('refused', 'expired', 'drifted') THEN
        RAISE EXCEPTION 'operation % is %', OLD.id, OLD.state USING ERRCODE = 'check_violation';
    END IF;
    IF NEW.state <> OLD.state AND NEW.state IN ('queued', 'running', 'done')
        AND (NEW.approval_id IS NOT NULL OR NEW.kind = 'erase') AND NOT EXISTS (
            SELECT 1 FROM approval a WHERE a.id = NEW.approval_id AND a.workspace_id = NEW.workspace_id
              AND a.state = 'approved' AND a.kind = 'operation' AND a.target_id = NEW.id
              AND a.payload ->> 'digest' = NEW.digest) THEN
        RAISE EXCEPTION 'nobody has agreed to operation %', OLD.id USING ERRCODE = 'check_violation';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER operation_as_asked BEFORE INSERT OR UPDATE ON operation
    FOR EACH ROW EXECUTE FUNCTION memconsole_as_asked();
CREATE FUNCTION memconsole_frozen_target() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT 1 FROM operation o WHERE o.id = OLD.operation_id AND o.state <> 'preview') THEN
        RAISE EXCEPTION 'the facts of operation % stay as they were shown', OLD.operation_id
            USING ERRCODE = 'check_violation';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER operation_target_frozen
    BEFORE UPDATE OF operation_id, record_id, workspace_id, partition_id, version, grp, is_ticked ON operation_target
    FOR EACH ROW EXECUTE FUNCTION memconsole_frozen_target();
CREATE FUNCTION memconsole_no_more_targets() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT 1 FROM operation o WHERE o.id IN (SELECT DISTINCT a.operation_id FROM added a)
        AND o.state <> 'preview') THEN
        RAISE EXCEPTION 'an operation that was asked for takes no more facts' USING ERRCODE = 'check_violation';
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER operation_target_whole AFTER INSERT ON operation_target
    REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION memconsole_no_more_targets();
