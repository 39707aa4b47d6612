REVOKE ALL ON membership, invitation, saved_view, login_failure FROM memconsole_app, memconsole_maintenance;
DROP FUNCTION memconsole_find_invitation(bytea);
DROP FUNCTION memconsole_reach(uuid, text, uuid, integer);
DROP POLICY doors ON invitation;
DROP POLICY doors ON membership;
DROP POLICY scope ON saved_view;
DROP POLICY scope ON invitation;
DROP POLICY scope ON membership;
DROP INDEX invitation_listed;
DROP INDEX membership_by_person;
ALTER TABLE saved_view DROP CONSTRAINT saved_view_workspace_fk, DROP CONSTRAINT saved_view_name_key,
    DROP CONSTRAINT saved_view_query_check, DROP CONSTRAINT saved_view_name_check;
ALTER TABLE invitation DROP CONSTRAINT invitation_workspace_fk, DROP CONSTRAINT invitation_once,
    DROP CONSTRAINT invitation_invited_check, DROP CONSTRAINT invitation_role_check;
ALTER TABLE membership DROP CONSTRAINT membership_workspace_fk, DROP CONSTRAINT membership_person_key,
    DROP CONSTRAINT membership_role_check;
ALTER TABLE audits_user DROP CONSTRAINT audits_user_density_check, DROP CONSTRAINT audits_user_theme_check;
