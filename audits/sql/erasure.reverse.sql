DROP TRIGGER approval_words_only ON approval;
DROP TRIGGER approval_four_eyes ON approval;
DROP TRIGGER approval_asked ON approval;
CREATE TRIGGER approval_four_eyes BEFORE INSERT OR UPDATE ON approval
    FOR EACH ROW EXECUTE FUNCTION memconsole_four_eyes();
DROP FUNCTION memconsole_words_only();
