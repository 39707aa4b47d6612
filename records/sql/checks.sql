-- What a row may say. The lists are those of records/domain/facts.py; a test compares them.

ALTER TABLE memory_record
    ADD CONSTRAINT memory_record_status_check CHECK (status IN
        ('active', 'quarantined', 'rejected', 'superseded', 'retracted', 'evicted', 'erased')),
    ADD CONSTRAINT memory_record_hold_check CHECK (hold_reason IN
        ('', 'gate', 'contest', 'policy', 'fence', 'expiry', 'feedback', 'incident', 'rescan', 'manual')),
    ADD CONSTRAINT memory_record_held_has_reason CHECK (status <> 'quarantined' OR hold_reason <> ''),
    ADD CONSTRAINT memory_record_superseded_has_successor CHECK (status <> 'superseded' OR superseded_by IS NOT NULL),
    ADD CONSTRAINT memory_record_no_self_successor CHECK (superseded_by IS DISTINCT FROM id),
    ADD CONSTRAINT memory_record_cardinality_check CHECK (cardinality IN ('one', 'many')),
    ADD CONSTRAINT memory_record_negated_is_many CHECK (NOT negated OR cardinality = 'many'),
    ADD CONSTRAINT memory_record_confidence_check CHECK (confidence BETWEEN 0 AND 1 AND stated_confidence BETWEEN 0 AND 1),
    ADD CONSTRAINT memory_record_trust_check CHECK (trust BETWEEN 0 AND 2),
    ADD CONSTRAINT memory_record_corroboration_check CHECK (corroboration BETWEEN 0 AND 8),
    ADD CONSTRAINT memory_record_verdict_check CHECK (verdict IN ('allow', 'quarantine', 'reject')),
    ADD CONSTRAINT memory_record_fingerprint_check CHECK (fingerprint ~ '^fp_[0-9a-f]{24}$'),
    ADD CONSTRAINT memory_record_lengths_check CHECK (
        char_length(subject) <= 200 AND char_length(predicate) <= 200
        AND char_length(value) <= 4000 AND char_length(content) <= 4000),
    ADD CONSTRAINT memory_record_terms_check CHECK (cardinality(terms) <= 160),
    ADD CONSTRAINT memory_record_derived_has_key CHECK (NOT derived OR source_key IS NOT NULL),
    ADD CONSTRAINT memory_record_embedding_has_model CHECK ((embedding IS NULL) = (embedding_model IS NULL)),
    ADD CONSTRAINT memory_record_erased_is_empty CHECK (status <> 'erased' OR
        (content = '' AND value = '' AND subject = '' AND subject_key = '' AND embedding IS NULL AND salt IS NULL
         AND terms = '{}' AND more_terms IS NULL AND findings = '[]'::jsonb AND metadata = '{}'::jsonb AND tags = '{}'));
ALTER TABLE claim
    ADD CONSTRAINT claim_state_check CHECK (state IN ('live', 'held', 'dropped')),
    ADD CONSTRAINT claim_count_check CHECK (count >= 0 AND echoes >= 0),
    ADD CONSTRAINT claim_times_check CHECK (last_at >= first_at),
    ADD CONSTRAINT claim_evidence_check CHECK (char_length(evidence) <= 2000 AND char_length(wording) <= 4000);
ALTER TABLE tally
    ADD CONSTRAINT tally_counts_check CHECK (seen_count >= 1 AND sessions >= 0 AND sources >= 0),
    ADD CONSTRAINT tally_times_check CHECK (last_seen >= first_seen);
ALTER TABLE source
    ADD CONSTRAINT source_tier_check CHECK (tier IN ('untrusted', 'standard', 'trusted')),
    ADD CONSTRAINT source_name_check CHECK (char_length(name) BETWEEN 1 AND 200);
ALTER TABLE partition ADD CONSTRAINT partition_name_check CHECK (char_length(name) BETWEEN 1 AND 200);
ALTER TABLE session ADD CONSTRAINT session_external_check CHECK (char_length(external_id) BETWEEN 1 AND 200);
ALTER TABLE workspace ADD CONSTRAINT workspace_name_check CHECK (char_length(name) BETWEEN 1 AND 100);
ALTER TABLE address ADD CONSTRAINT address_key_check CHECK (char_length(source_key) BETWEEN 1 AND 400);
ALTER TABLE predicate_policy
    ADD CONSTRAINT predicate_policy_cardinality_check CHECK (cardinality IN ('one', 'many')),
    ADD CONSTRAINT predicate_policy_ttl_check CHECK (ttl_days > 0 AND half_life_days > 0);
ALTER TABLE standing
    ADD CONSTRAINT standing_validity_check CHECK (validity IN ('fresh', 'fading', 'stale', 'expired')),
    ADD CONSTRAINT standing_age_check CHECK (age IN ('fresh', 'fading', 'stale'));
ALTER TABLE job_run ADD CONSTRAINT job_run_state_check CHECK (state IN ('queued', 'running', 'paused', 'done', 'failed', 'lost'));
ALTER TABLE feedback ADD CONSTRAINT feedback_verdict_check CHECK (verdict IN ('confirmed', 'wrong', 'stale'));
ALTER TABLE embedding_model ADD CONSTRAINT embedding_model_state_check CHECK (state IN ('serving', 'retiring', 'caller', 'retired'));
