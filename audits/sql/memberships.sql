-- Who belongs where. Row-level security like every table of a workspace; what must be known
-- before a workspace is goes through narrow functions that run as the owner.

ALTER TABLE audits_user
    ADD CONSTRAINT audits_user_theme_check CHECK (theme IN ('system', 'light', 'dark')),
    ADD CONSTRAINT audits_user_density_check CHECK (density IN ('compact', 'comfortable'));
ALTER TABLE membership
    ADD CONSTRAINT membership_role_check
        CHECK (role IN ('viewer', 'reviewer', 'responder', 'approver', 'auditor', 'administrator')),
    ADD CONSTRAINT membership_person_key UNIQUE (workspace_id, user_id),
    ADD CONSTRAINT membership_workspace_fk FOREIGN KEY (workspace_id) REFERENCES workspace (id);
ALTER TABLE invitation
    ADD CONSTRAINT invitation_role_check
        CHECK (role IN ('viewer', 'reviewer', 'responder', 'approver', 'auditor', 'administrator')),
    ADD CONSTRAINT invitation_invited_check CHECK (char_length(invited) BETWEEN 1 AND 200),
    ADD CONSTRAINT invitation_once CHECK (accepted_at IS NULL OR revoked_at IS NULL),
    ADD CONSTRAINT invitation_workspace_fk FOREIGN KEY (workspace_id) REFERENCES workspace (id);
ALTER TABLE saved_view
    ADD CONSTRAINT saved_view_name_check CHECK (char_length(name) BETWEEN 1 AND 100),
    ADD CONSTRAINT saved_view_query_check CHECK (char_length(query) <= 2000),
    ADD CONSTRAINT saved_view_name_key UNIQUE (workspace_id, user_id, page, name),
    ADD CONSTRAINT saved_view_workspace_fk FOREIGN KEY (workspace_id) REFERENCES workspace (id);
CREATE INDEX membership_by_person ON membership (user_id) WHERE removed_at IS NULL;
CREATE INDEX invitation_listed ON invitation (workspace_id, created_at DESC);

DO $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['membership', 'invitation', 'saved_view']
    LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', name);
        EXECUTE format('CREATE POLICY scope ON %I
            USING (workspace_id = (SELECT memconsole_workspace()) AND (SELECT memconsole_whole_workspace()))
            WITH CHECK (workspace_id = (SELECT memconsole_workspace()) AND (SELECT memconsole_whole_workspace()))', name);
    END LOOP;
END $$;
CREATE POLICY doors ON membership FOR SELECT TO memconsole_owner USING (true);
CREATE POLICY doors ON invitation FOR SELECT TO memconsole_owner USING (true);

-- Where a person may go: the wanted workspace first if it is one of them, then others by name.
CREATE FUNCTION memconsole_reach(person uuid, wanted_name text, wanted_id uuid, most integer)
    RETURNS TABLE (id uuid, name text, role text, is_wanted boolean)
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public AS $$
    SELECT w.id, w.name, m.role, w.name = wanted_name OR w.id IS NOT DISTINCT FROM wanted_id
    FROM membership m JOIN audits_user u ON u.id = m.user_id JOIN workspace w ON w.id = m.workspace_id
    WHERE m.user_id = person AND m.removed_at IS NULL AND u.is_active AND NOT u.is_superuser
    UNION ALL
    SELECT w.id, w.name, 'administrator', w.name = wanted_name OR w.id IS NOT DISTINCT FROM wanted_id
    FROM audits_user u CROSS JOIN workspace w WHERE u.id = person AND u.is_active AND u.is_superuser
    ORDER BY 4 DESC, 2
    LIMIT most
$$;
CREATE FUNCTION memconsole_find_invitation(wanted bytea)
    RETURNS TABLE (id uuid, workspace_id uuid, workspace text, invited text, role text, created_by text,
                   expires_at timestamptz, accepted_at timestamptz, revoked_at timestamptz)
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public AS $$
    SELECT i.id, i.workspace_id, w.name, i.invited, i.role, i.created_by, i.expires_at, i.accepted_at, i.revoked_at
    FROM invitation i JOIN workspace w ON w.id = i.workspace_id WHERE i.digest = wanted
$$;
REVOKE ALL ON FUNCTION memconsole_reach(uuid, text, uuid, integer), memconsole_find_invitation(bytea)
    FROM PUBLIC;
GRANT EXECUTE ON FUNCTION memconsole_reach(uuid, text, uuid, integer), memconsole_find_invitation(bytea)
    TO memconsole_app;

-- People leave by removed_at and invitations end by revoked_at: nobody deletes either.
GRANT SELECT, INSERT, UPDATE ON membership, invitation TO memconsole_app;
GRANT SELECT, INSERT, UPDATE, DELETE ON saved_view, login_failure TO memconsole_app;
GRANT ALL ON membership, invitation, saved_view, login_failure TO memconsole_maintenance;
