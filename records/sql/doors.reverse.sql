DROP FUNCTION memconsole_workspaces();
DROP FUNCTION memconsole_find_workspace(text);
DROP FUNCTION memconsole_find_key(bytea);
DROP POLICY doors ON api_key;
DROP POLICY doors ON workspace;
