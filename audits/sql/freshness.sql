-- What the hourly look at habits keeps, and the small lists of what is ranked low.
ALTER TABLE predicate_habit
    ADD CONSTRAINT predicate_habit_workspace_fk FOREIGN KEY (workspace_id) REFERENCES workspace (id),
    ADD CONSTRAINT predicate_habit_days_check CHECK (usual_days >= 0 AND late_days > 0);
CREATE UNIQUE INDEX predicate_habit_once ON predicate_habit (workspace_id, predicate);
ALTER TABLE unseen_fact
    ADD CONSTRAINT unseen_fact_record_fk FOREIGN KEY (workspace_id, partition_id, record_id)
        REFERENCES memory_record (workspace_id, partition_id, id);
CREATE INDEX unseen_fact_listed ON unseen_fact (workspace_id, last_seen, record_id);
CREATE INDEX unseen_fact_of_predicate ON unseen_fact (workspace_id, predicate, record_id);
CREATE INDEX memory_record_to_recheck ON memory_record (workspace_id, recheck_at, id)
    WHERE status = 'active' AND recheck_at IS NOT NULL;
CREATE INDEX memory_record_unlisted ON memory_record (workspace_id, unlisted_at, id)
    WHERE status = 'active' AND unlisted_at IS NOT NULL;
CREATE INDEX address_relisted ON address (workspace_id, relisted_at, id) WHERE relisted_at IS NOT NULL;
-- A batch of facts that a person chose is no sample, and says so.
ALTER TABLE sample_batch DROP CONSTRAINT sample_batch_weighting_check,
    ADD CONSTRAINT sample_batch_weighting_check
        CHECK (weighting IN ('uniform', 'serves', 'risk', 'chosen'));
DO $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['predicate_habit', 'unseen_fact']
    LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', name);
        EXECUTE format('CREATE POLICY scope ON %I
            USING (workspace_id = (SELECT memconsole_workspace()) AND (SELECT memconsole_whole_workspace()))
            WITH CHECK (workspace_id = (SELECT memconsole_workspace()) AND (SELECT memconsole_whole_workspace()))', name);
        EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON %I TO memconsole_app', name);
        EXECUTE format('GRANT ALL ON %I TO memconsole_maintenance', name);
    END LOOP;
END $$;
