-- What must be known before a workspace is: which key this is, which workspaces there are.
-- Narrow functions that run as the owner, and policies that let the owner read just that.

CREATE POLICY doors ON workspace FOR SELECT TO memconsole_owner USING (true);
CREATE POLICY doors ON api_key FOR SELECT TO memconsole_owner USING (true);

CREATE FUNCTION memconsole_find_key(wanted bytea)
    RETURNS TABLE (id uuid, workspace_id uuid, workspace text, name text, prefix text, scopes text[],
                   partition_name text, expires_at timestamptz, revoked_at timestamptz, last_used_at timestamptz)
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public AS $$
    SELECT k.id, k.workspace_id, w.name, k.name, k.prefix, k.scopes, k.partition_name, k.expires_at, k.revoked_at,
           k.last_used_at
    FROM api_key k JOIN workspace w ON w.id = k.workspace_id WHERE k.digest = wanted
$$;
CREATE FUNCTION memconsole_find_workspace(wanted text) RETURNS uuid
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public AS $$
    SELECT id FROM workspace WHERE name = wanted
$$;
CREATE FUNCTION memconsole_workspaces() RETURNS TABLE (id uuid, name text)
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public AS $$
    SELECT id, name FROM workspace ORDER BY name
$$;
REVOKE ALL ON FUNCTION memconsole_find_key(bytea), memconsole_find_workspace(text), memconsole_workspaces() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION memconsole_find_key(bytea), memconsole_find_workspace(text), memconsole_workspaces()
    TO memconsole_app, memconsole_maintenance;
