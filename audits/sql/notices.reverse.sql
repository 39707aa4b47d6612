DO $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['notice_attempt', 'notice', 'notice_quiet', 'notice_rule', 'notice_channel']
    LOOP
        EXECUTE format('REVOKE ALL ON %I FROM memconsole_app, memconsole_maintenance', name);
        EXECUTE format('DROP POLICY scope ON %I', name);
        EXECUTE format('ALTER TABLE %I NO FORCE ROW LEVEL SECURITY', name);
        EXECUTE format('ALTER TABLE %I DISABLE ROW LEVEL SECURITY', name);
    END LOOP;
END $$;
DROP INDEX notice_attempt_of, notice_recent, notice_due, notice_quiet_over, notice_rule_of, notice_channel_of;
ALTER TABLE notice_attempt DROP CONSTRAINT notice_attempt_length, DROP CONSTRAINT notice_attempt_notice_fk;
ALTER TABLE notice DROP CONSTRAINT notice_lengths, DROP CONSTRAINT notice_sent_whole,
    DROP CONSTRAINT notice_state_check, DROP CONSTRAINT notice_rule_fk, DROP CONSTRAINT notice_channel_fk,
    DROP CONSTRAINT notice_scope_key;
ALTER TABLE notice_quiet DROP CONSTRAINT notice_quiet_kept_check, DROP CONSTRAINT notice_quiet_rule_fk;
ALTER TABLE notice_rule DROP CONSTRAINT notice_rule_quiet_check, DROP CONSTRAINT notice_rule_channel_fk,
    DROP CONSTRAINT notice_rule_scope_key;
ALTER TABLE notice_channel DROP CONSTRAINT notice_channel_lengths, DROP CONSTRAINT notice_channel_kind_check,
    DROP CONSTRAINT notice_channel_workspace_fk, DROP CONSTRAINT notice_channel_scope_key;
