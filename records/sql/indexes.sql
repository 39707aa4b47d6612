-- Recall reads all live candidates of a partition from this index alone. What moves on
-- every reinforcement is kept out of the row, or the scan never stays index-only.
CREATE INDEX memory_record_recall ON memory_record (workspace_id, partition_id)
    INCLUDE (id, embedding, embedding_model, confidence, valid_from, valid_until, last_seen, half_life_days,
             serve_after, demoted, corroboration, trust, terms)
    WHERE status = 'active';

-- The guarantees: one row per fingerprint, one live record per one-valued slot.
-- (One live record per address: the address's row points to it.)
CREATE UNIQUE INDEX memory_record_one_fingerprint ON memory_record (partition_id, fingerprint)
    WHERE status IN ('active', 'quarantined');
CREATE UNIQUE INDEX memory_record_one_live ON memory_record (slot_id)
    WHERE status = 'active' AND cardinality = 'one';

CREATE INDEX memory_record_past_fingerprint ON memory_record (partition_id, fingerprint)
    WHERE status NOT IN ('active', 'quarantined');
CREATE INDEX memory_record_slot ON memory_record (slot_id, order_at);
CREATE INDEX memory_record_listed ON memory_record (workspace_id, status, id) INCLUDE (partition_id);
CREATE INDEX memory_record_external ON memory_record (partition_id, external_id) WHERE external_id IS NOT NULL;
CREATE INDEX memory_record_successor ON memory_record (superseded_by) WHERE superseded_by IS NOT NULL;
CREATE INDEX claim_by_session ON claim (session_id, record_id);
CREATE INDEX address_by_source ON address (source_id, partition_id, last_named_at);
CREATE INDEX address_by_record ON address (record_id) WHERE record_id IS NOT NULL;
-- Whole, not only what is derived: suspending a source withholds what was observed through it, too.
CREATE INDEX claim_by_source ON claim (source_id, partition_id, record_id);
CREATE INDEX session_totals_recent ON session_totals (workspace_id, last_write_at DESC, session_id);
CREATE INDEX session_suspended ON session (workspace_id, partition_id) WHERE suspended_at IS NOT NULL;
CREATE INDEX fence_by_fingerprint ON fence (partition_id, fingerprint) WHERE lifted_at IS NULL;
CREATE INDEX fence_by_record ON fence (record_id) WHERE record_id IS NOT NULL;
CREATE INDEX job_run_recent ON job_run (job, started_at DESC);
CREATE INDEX standing_since ON standing (workspace_id, validity, since);
ALTER TABLE tally SET (fillfactor = 70);
ALTER TABLE claim SET (fillfactor = 85);
