-- A workspace's own gate rules in whole versions: at most one active, at most one draft.
ALTER TABLE gate_ruleset
    ADD CONSTRAINT gate_ruleset_number_key UNIQUE (workspace_id, number),
    ADD CONSTRAINT gate_ruleset_scope_key UNIQUE (workspace_id, id),
    ADD CONSTRAINT gate_ruleset_state_check CHECK (state IN ('draft', 'active', 'retired', 'discarded')),
    ADD CONSTRAINT gate_ruleset_times_check CHECK (
        (state IN ('active', 'retired')) = (activated_at IS NOT NULL) AND (state = 'retired') = (retired_at IS NOT NULL)),
    ADD CONSTRAINT gate_ruleset_shape_check CHECK (
        jsonb_typeof(rules) = 'array' AND jsonb_typeof(softened) = 'object' AND number >= 1);
CREATE UNIQUE INDEX gate_ruleset_one_active ON gate_ruleset (workspace_id) WHERE state = 'active';
CREATE UNIQUE INDEX gate_ruleset_one_draft ON gate_ruleset (workspace_id) WHERE state = 'draft';

ALTER TABLE gate_replay
    ADD CONSTRAINT gate_replay_ruleset_fk FOREIGN KEY (workspace_id, ruleset_id)
        REFERENCES gate_ruleset (workspace_id, id),
    ADD CONSTRAINT gate_replay_state_check CHECK (state IN ('waiting', 'running', 'done')),
    ADD CONSTRAINT gate_replay_population_check CHECK (population IN ('writes', 'store'));
CREATE INDEX gate_replay_of_ruleset ON gate_replay (ruleset_id, id DESC);

-- A set that was active is history: what it said stays as it was.
CREATE FUNCTION memconsole_keep_gate_ruleset() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF OLD.state <> 'draft' AND (NEW.rules, NEW.softened, NEW.number, NEW.reason, NEW.activated_at, NEW.activated_by)
            IS DISTINCT FROM (OLD.rules, OLD.softened, OLD.number, OLD.reason, OLD.activated_at, OLD.activated_by) THEN
        RAISE EXCEPTION 'gate rules that left the draft are never changed';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER gate_ruleset_is_history BEFORE UPDATE ON gate_ruleset
    FOR EACH ROW EXECUTE FUNCTION memconsole_keep_gate_ruleset();

-- How often each rule hit on each day, and what reviewers made of it. Folded from sealed
-- events by one job, which notes in the same transaction how far it got.
CREATE TABLE gate_tally (
    workspace_id uuid NOT NULL REFERENCES workspace (id),
    day          date NOT NULL,
    rule         text NOT NULL,
    hits         integer NOT NULL DEFAULT 0 CHECK (hits >= 0),
    held         integer NOT NULL DEFAULT 0 CHECK (held >= 0),
    approved     integer NOT NULL DEFAULT 0,  -- an undone decision counts back on the day of the undo
    rejected     integer NOT NULL DEFAULT 0,
    last_at      timestamptz,
    PRIMARY KEY (workspace_id, rule, day)
);
CREATE TABLE gate_folded (
    workspace_id uuid PRIMARY KEY REFERENCES workspace (id),
    position     bigint NOT NULL CHECK (position >= 0)
);

DO $$
DECLARE
    name text;
BEGIN
    -- The active rules are read on the write path, in an agent's reach.
    EXECUTE 'ALTER TABLE gate_ruleset ENABLE ROW LEVEL SECURITY';
    EXECUTE 'ALTER TABLE gate_ruleset FORCE ROW LEVEL SECURITY';
    EXECUTE 'CREATE POLICY scope ON gate_ruleset USING (workspace_id = (SELECT memconsole_workspace()))
             WITH CHECK (workspace_id = (SELECT memconsole_workspace()) AND (SELECT memconsole_whole_workspace()))';
    FOREACH name IN ARRAY ARRAY['gate_replay', 'gate_tally', 'gate_folded']
    LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', name);
        EXECUTE format('CREATE POLICY scope ON %I
            USING (workspace_id = (SELECT memconsole_workspace()) AND (SELECT memconsole_whole_workspace()))
            WITH CHECK (workspace_id = (SELECT memconsole_workspace()) AND (SELECT memconsole_whole_workspace()))', name);
    END LOOP;
END $$;

GRANT SELECT, INSERT, UPDATE ON gate_ruleset, gate_replay, gate_tally, gate_folded TO memconsole_app;
GRANT ALL ON gate_ruleset, gate_replay, gate_tally, gate_folded TO memconsole_maintenance;
