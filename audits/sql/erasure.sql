-- What an approval asked and answered never changes, but for the words of a fact that is erased: an
-- erasure says so for its transaction, and then nothing but typed words may change.
CREATE FUNCTION memconsole_words_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF to_jsonb(NEW) - ARRAY['summary', 'reason', 'decided_reason']
        IS DISTINCT FROM to_jsonb(OLD) - ARRAY['summary', 'reason', 'decided_reason'] THEN
        RAISE EXCEPTION 'an erasure changes nothing of an approval but its words'
            USING ERRCODE = 'check_violation';
    END IF;
    RETURN NEW;
END $$;
DROP TRIGGER approval_four_eyes ON approval;
CREATE TRIGGER approval_asked BEFORE INSERT ON approval
    FOR EACH ROW EXECUTE FUNCTION memconsole_four_eyes();
CREATE TRIGGER approval_four_eyes BEFORE UPDATE ON approval
    FOR EACH ROW WHEN (current_setting('memconsole.erasing', true) IS DISTINCT FROM 'on')
    EXECUTE FUNCTION memconsole_four_eyes();
CREATE TRIGGER approval_words_only BEFORE UPDATE ON approval
    FOR EACH ROW WHEN (current_setting('memconsole.erasing', true) = 'on')
    EXECUTE FUNCTION memconsole_words_only();
