-- Append-only logs. Events are one table; recalls and serves are partitioned by
-- month, so that retention drops a table instead of deleting rows.

CREATE TABLE event (
    id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    transaction  xid8 NOT NULL DEFAULT pg_current_xact_id(),
    workspace_id uuid,
    partition_id uuid,
    at           timestamptz NOT NULL DEFAULT clock_timestamp(),
    actor_kind   text NOT NULL CHECK (actor_kind IN ('key', 'user', 'job', 'command', 'system', 'anonymous')),
    actor        text NOT NULL,
    role         text NOT NULL DEFAULT '',
    action       text NOT NULL CHECK (action <> ''),
    outcome      text NOT NULL DEFAULT 'done' CHECK (outcome IN ('done', 'denied', 'failed', 'held')),
    target_kind  text NOT NULL DEFAULT '',
    target_id    uuid,
    session_id   uuid,
    reason       text NOT NULL DEFAULT '',
    request_id   text NOT NULL DEFAULT '',
    count        integer NOT NULL DEFAULT 1 CHECK (count >= 0),
    details      jsonb NOT NULL DEFAULT '{}'
);
CREATE INDEX event_by_workspace ON event (workspace_id, id);
CREATE INDEX event_by_target ON event (target_id, id) WHERE target_id IS NOT NULL;
CREATE INDEX event_by_session ON event (session_id, id) WHERE session_id IS NOT NULL;

CREATE TABLE recall (
    id           uuid NOT NULL,
    at           timestamptz NOT NULL,
    workspace_id uuid NOT NULL,
    partition_id uuid NOT NULL,
    session_id   uuid,
    actor        text NOT NULL,
    query        text NOT NULL,
    parameters   jsonb NOT NULL DEFAULT '{}',
    served_count smallint NOT NULL,
    micros       integer NOT NULL,
    PRIMARY KEY (id, at)
) PARTITION BY RANGE (at);
CREATE INDEX recall_by_partition ON recall (workspace_id, partition_id, at);
CREATE INDEX recall_by_session ON recall (session_id, at) WHERE session_id IS NOT NULL;

CREATE TABLE serve (
    recall_id    uuid NOT NULL,
    at           timestamptz NOT NULL,
    workspace_id uuid NOT NULL,
    partition_id uuid NOT NULL,
    session_id   uuid,
    record_id    uuid NOT NULL,
    rank         smallint NOT NULL,
    score        real NOT NULL,
    current      boolean NOT NULL,
    PRIMARY KEY (recall_id, record_id, at)
) PARTITION BY RANGE (at);
CREATE INDEX serve_by_record ON serve (record_id, at);
CREATE INDEX serve_by_session ON serve (session_id, at) WHERE session_id IS NOT NULL;

-- The net under the monthly tables: a row is never refused because a job was late.
CREATE TABLE recall_rest PARTITION OF recall DEFAULT;
CREATE TABLE serve_rest PARTITION OF serve DEFAULT;
