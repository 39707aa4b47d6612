DROP INDEX session_by_name;
