DROP TABLE gate_folded;
DROP TABLE gate_tally;
DROP TRIGGER gate_ruleset_is_history ON gate_ruleset;
DROP FUNCTION memconsole_keep_gate_ruleset();
DROP POLICY scope ON gate_replay;
DROP POLICY scope ON gate_ruleset;
ALTER TABLE gate_replay DROP CONSTRAINT gate_replay_ruleset_fk, DROP CONSTRAINT gate_replay_state_check,
    DROP CONSTRAINT gate_replay_population_check;
DROP INDEX gate_ruleset_one_active, gate_ruleset_one_draft, gate_replay_of_ruleset;
ALTER TABLE gate_ruleset DROP CONSTRAINT gate_ruleset_number_key, DROP CONSTRAINT gate_ruleset_scope_key,
    DROP CONSTRAINT gate_ruleset_state_check, DROP CONSTRAINT gate_ruleset_times_check,
    DROP CONSTRAINT gate_ruleset_shape_check;
