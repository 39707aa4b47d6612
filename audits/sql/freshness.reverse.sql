ALTER TABLE sample_batch DROP CONSTRAINT sample_batch_weighting_check,
    ADD CONSTRAINT sample_batch_weighting_check CHECK (weighting IN ('uniform', 'serves', 'risk')) NOT VALID;
DROP INDEX address_relisted;
DROP INDEX memory_record_unlisted;
DROP INDEX memory_record_to_recheck;
REVOKE ALL ON predicate_habit, unseen_fact FROM memconsole_app, memconsole_maintenance;
DROP POLICY scope ON unseen_fact;
DROP POLICY scope ON predicate_habit;
