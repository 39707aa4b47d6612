-- Composite keys: foreign keys bypass row-level security, so each carries the
-- workspace (and the partition where there is one); a row cannot point out of it.

ALTER TABLE partition ADD CONSTRAINT partition_name_key UNIQUE (workspace_id, name);
ALTER TABLE partition ADD CONSTRAINT partition_scope_key UNIQUE (workspace_id, id);
ALTER TABLE source ADD CONSTRAINT source_name_key UNIQUE (workspace_id, name);
ALTER TABLE source ADD CONSTRAINT source_scope_key UNIQUE (workspace_id, id);
ALTER TABLE session ADD CONSTRAINT session_external_key UNIQUE (partition_id, external_id);
ALTER TABLE session ADD CONSTRAINT session_scope_key UNIQUE (workspace_id, partition_id, id);
ALTER TABLE memory_record ADD CONSTRAINT memory_record_scope_key UNIQUE (workspace_id, partition_id, id);
ALTER TABLE idempotency_key ADD CONSTRAINT idempotency_key_key UNIQUE (workspace_id, actor, key);
CREATE UNIQUE INDEX predicate_policy_live ON predicate_policy (workspace_id, predicate) WHERE retired_at IS NULL;
ALTER TABLE predicate_policy ADD CONSTRAINT predicate_policy_version_key UNIQUE (workspace_id, predicate, version);
CREATE UNIQUE INDEX source_run_external ON source_run (source_id, partition_id, external_id) WHERE external_id <> '';

ALTER TABLE session ADD CONSTRAINT session_partition_fk
    FOREIGN KEY (workspace_id, partition_id) REFERENCES partition (workspace_id, id);
ALTER TABLE session_totals ADD CONSTRAINT session_totals_session_fk
    FOREIGN KEY (workspace_id, partition_id, session_id) REFERENCES session (workspace_id, partition_id, id);
ALTER TABLE source_run ADD CONSTRAINT source_run_source_fk
    FOREIGN KEY (workspace_id, source_id) REFERENCES source (workspace_id, id);
ALTER TABLE source_run ADD CONSTRAINT source_run_partition_fk
    FOREIGN KEY (workspace_id, partition_id) REFERENCES partition (workspace_id, id);
ALTER TABLE slot ADD CONSTRAINT slot_partition_fk
    FOREIGN KEY (workspace_id, partition_id) REFERENCES partition (workspace_id, id);
ALTER TABLE address ADD CONSTRAINT address_partition_fk
    FOREIGN KEY (workspace_id, partition_id) REFERENCES partition (workspace_id, id);
ALTER TABLE address ADD CONSTRAINT address_source_fk
    FOREIGN KEY (workspace_id, source_id) REFERENCES source (workspace_id, id);
ALTER TABLE memory_record ADD CONSTRAINT memory_record_session_fk
    FOREIGN KEY (workspace_id, partition_id, session_id) REFERENCES session (workspace_id, partition_id, id);
ALTER TABLE memory_record ADD CONSTRAINT memory_record_source_fk
    FOREIGN KEY (workspace_id, source_id) REFERENCES source (workspace_id, id);
-- A chain's link and the status change are one transaction; the successor may be inserted second.
ALTER TABLE memory_record ADD CONSTRAINT memory_record_successor_fk
    FOREIGN KEY (workspace_id, partition_id, superseded_by)
    REFERENCES memory_record (workspace_id, partition_id, id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE address ADD CONSTRAINT address_record_fk
    FOREIGN KEY (workspace_id, partition_id, record_id) REFERENCES memory_record (workspace_id, partition_id, id)
    DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE claim ADD CONSTRAINT claim_record_fk
    FOREIGN KEY (workspace_id, partition_id, record_id) REFERENCES memory_record (workspace_id, partition_id, id);
ALTER TABLE claim ADD CONSTRAINT claim_session_fk
    FOREIGN KEY (workspace_id, partition_id, session_id) REFERENCES session (workspace_id, partition_id, id);
ALTER TABLE claim ADD CONSTRAINT claim_source_fk
    FOREIGN KEY (workspace_id, source_id) REFERENCES source (workspace_id, id);
ALTER TABLE tally ADD CONSTRAINT tally_record_fk
    FOREIGN KEY (workspace_id, partition_id, record_id) REFERENCES memory_record (workspace_id, partition_id, id);
ALTER TABLE standing ADD CONSTRAINT standing_record_fk
    FOREIGN KEY (workspace_id, partition_id, record_id) REFERENCES memory_record (workspace_id, partition_id, id);
ALTER TABLE feedback ADD CONSTRAINT feedback_record_fk
    FOREIGN KEY (workspace_id, partition_id, record_id) REFERENCES memory_record (workspace_id, partition_id, id);
ALTER TABLE fence ADD CONSTRAINT fence_partition_fk
    FOREIGN KEY (workspace_id, partition_id) REFERENCES partition (workspace_id, id);
