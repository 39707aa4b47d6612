REVOKE ALL ON audits_user FROM memconsole_app;
REVOKE ALL ON audits_user_groups, audits_user_user_permissions FROM memconsole_app;
