DROP INDEX standing_age_due;
DROP INDEX standing_validity_due;
DROP INDEX job_run_by_workspace;
DROP INDEX job_run_open;
