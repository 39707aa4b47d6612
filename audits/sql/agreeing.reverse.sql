DROP TRIGGER operation_target_whole ON operation_target;
DROP FUNCTION memconsole_no_more_targets();
DROP TRIGGER operation_target_frozen ON operation_target;
DROP FUNCTION memconsole_frozen_target();
DROP TRIGGER operation_as_asked ON operation;
DROP FUNCTION memconsole_as_asked();
CREATE OR REPLACE FUNCTION memconsole_four_eyes() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    barred uuid[];
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
        IF NEW.decided_by_id = ANY (barred) AND (
            NOT NEW.is_alone OR NEW.decided_reason = '' OR EXISTS (
                SELECT 1 FROM membership m JOIN audits_user u ON u.id = m.user_id
                WHERE m.workspace_id = OLD.workspace_id AND m.removed_at IS NULL AND u.is_active
                  AND m.role IN ('approver', 'administrator') AND m.user_id <> ALL (barred))) THEN
            RAISE EXCEPTION 'approval % takes a second person', OLD.id USING ERRCODE = 'check_violation';
        END IF;
    END IF;
    RETURN NEW;
END $$;
DROP FUNCTION memconsole_agreeing(uuid, uuid[], timestamptz);
DROP TRIGGER membership_agreeing ON membership;
DROP FUNCTION memconsole_note_agreeing();
ALTER TABLE membership DROP COLUMN changed_by, DROP COLUMN agrees_since, DROP COLUMN agrees_by,
    DROP COLUMN agreed_until, DROP COLUMN agreed_ended_by;
