-- One open run per job and workspace: the database refuses a second one whatever the code does.
CREATE UNIQUE INDEX job_run_open ON job_run
    (job, coalesce(workspace_id, '00000000-0000-0000-0000-000000000000'::uuid))
    WHERE state IN ('queued', 'running', 'paused');
CREATE INDEX job_run_by_workspace ON job_run (workspace_id, job, started_at DESC);

-- What the clock changes next, so that a job reads only what is due.
CREATE INDEX standing_validity_due ON standing (workspace_id, validity_next_at)
    WHERE validity_next_at IS NOT NULL;
CREATE INDEX standing_age_due ON standing (workspace_id, age_next_at)
    WHERE age_next_at IS NOT NULL;
