-- The accounts of the console. They are made before any workspace is known and
-- hold no memory, so they carry no row-level security; nobody deletes one.
GRANT SELECT, INSERT, UPDATE ON audits_user TO memconsole_app;
GRANT SELECT, INSERT, DELETE ON audits_user_groups, audits_user_user_permissions TO memconsole_app;
