-- A session is looked up by the name that its writer gave it, in whatever partition.
CREATE INDEX session_by_name ON session (workspace_id, external_id, id);
