"""What every page shows around its own content: held facts, containment, the chain, open work.

Owns one statement, whose first column also bounds how long the page's other
statements may take. Inside a workspace scope.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db import connection

CAP = 99
NAMED = 3  # suspended sources that the banner calls by their names
NEWS = timedelta(hours=24)  # how long a colleague's bulk act is told
PREVIEWED = timedelta(days=4)  # and so long before it began its preview may have been made
PATIENCE = "8s"  # a page gives up and says so, instead of holding a connection

COUNTS = """SELECT set_config('statement_timeout', %(patience)s, true),
    (SELECT count(*) FROM (SELECT 1 FROM memory_record WHERE workspace_id = %(workspace)s
        AND status = 'quarantined' LIMIT %(most)s) AS held),
    contained.sessions, contained.sources, contained.since,
    sealed.number, sealed.last, sealed.sealed_at,
    (SELECT count(*) FROM (SELECT 1 FROM incident WHERE workspace_id = %(workspace)s
        AND state = 'open' LIMIT %(most)s) AS o),
    (SELECT count(*) FROM (SELECT 1 FROM operation WHERE workspace_id = %(workspace)s
        AND state IN ('queued', 'running') LIMIT %(most)s) AS o),
    (SELECT count(*) FROM (SELECT 1 FROM approval WHERE workspace_id = %(workspace)s
        AND state = 'waiting' AND expires_at > now() LIMIT %(most)s) AS o),
    running.started_at, checked.at, checked.is_whole, checked.number,
    act.id, act.kind, act.state, act.requested_by, act.changed, act.started_at,
    stopped.ids, stopped.names
FROM (SELECT count(*) FILTER (WHERE kind = 'session') AS sessions,
             count(*) FILTER (WHERE kind = 'source') AS sources, min(at) AS since
      FROM ((SELECT 'session' AS kind, suspended_at AS at FROM session
             WHERE workspace_id = %(workspace)s AND suspended_at IS NOT NULL LIMIT %(most)s)
            UNION ALL
            (SELECT 'source', suspended_at FROM source
             WHERE workspace_id = %(workspace)s AND suspended_at IS NOT NULL LIMIT %(most)s)) AS one
     ) AS contained
LEFT JOIN LATERAL (SELECT number, last, sealed_at FROM seal WHERE workspace_id = %(workspace)s
                   ORDER BY number DESC LIMIT 1) AS sealed ON true
LEFT JOIN LATERAL (SELECT started_at FROM job_run WHERE workspace_id = %(workspace)s
                   AND job = 'verification' AND state IN ('queued', 'running')
                   LIMIT 1) AS running ON true
LEFT JOIN LATERAL (SELECT finished_at AS at, (cursor->'report'->>'whole')::boolean AS is_whole,
                          (cursor->'report'->'flaw'->>'number')::bigint AS number
                   FROM job_run WHERE workspace_id = %(workspace)s AND job = 'verification'
                   AND state = 'done' ORDER BY started_at DESC LIMIT 1) AS checked ON true
LEFT JOIN LATERAL (SELECT id, kind, state, requested_by, changed, started_at FROM operation
                   WHERE workspace_id = %(workspace)s AND state <> 'preview' AND id > %(floor)s
                   AND started_at > %(seen)s AND requested_by_id IS DISTINCT FROM %(me)s
                   ORDER BY id DESC LIMIT 1) AS act ON true
LEFT JOIN LATERAL (SELECT array_agg(id) AS ids, array_agg(name) AS names
                   FROM (SELECT id, name FROM source WHERE workspace_id = %(workspace)s
                         AND suspended_at IS NOT NULL ORDER BY suspended_at DESC, id
                         LIMIT %(named)s) AS source) AS stopped ON true"""


@dataclass(frozen=True, slots=True)
class Shell:
    """The numbers around a page; counts stop one above ``CAP``."""

    held: int = 0
    suspended_sessions: int = 0
    suspended_sources: int = 0
    suspended_since: datetime | None = None
    seal_number: int | None = None
    sealed_through: int | None = None
    sealed_at: datetime | None = None
    open_incidents: int = 0
    running_operations: int = 0
    waiting_approvals: int = 0
    check_began_at: datetime | None = None
    checked_at: datetime | None = None
    is_whole: bool | None = None
    broken_at: int | None = None
    act_id: UUID | None = None  # what a colleague did in bulk of late, and this person has not seen
    act_kind: str = ""
    act_state: str = ""
    act_by: str = ""
    act_changed: int = 0
    act_at: datetime | None = None
    source_ids: list[UUID] | None = None  # the first few suspended ones
    source_names: list[str] | None = None

    @property
    def chain_state(self) -> str:
        """How the trail stands by its last check; a broken one stays so while it is checked."""
        if self.is_whole is False:
            return "broken"
        if self.check_began_at is not None:
            return "checking"
        return "ok" if self.is_whole else "unchecked"

    @property
    def stopped_sources(self) -> list[tuple[UUID, str]]:
        """The suspended sources that are named."""
        return list(zip(self.source_ids or [], self.source_names or [], strict=True))

    @property
    def is_contained(self) -> bool:
        """Whether anything is suspended."""
        return bool(self.suspended_sessions or self.suspended_sources)


def load_shell(
    workspace_id: UUID, *, user_id: UUID, now: datetime, seen: datetime | None = None
) -> Shell:
    """Return the numbers around a page, and bound the statements that follow.

    ``seen`` is up to when the person has seen what colleagues did in bulk.
    """
    begin = now - NEWS
    values: dict[str, Any] = {
        "workspace": workspace_id,
        "most": CAP + 1,
        "named": NAMED,
        "patience": PATIENCE,
        "me": user_id,
        "seen": max(begin, seen) if seen else begin,
        # Ids follow time, and their index is in this order: older previews are not looked through.
        "floor": UUID(int=int((begin - PREVIEWED).timestamp() * 1000) << 80),
    }
    with connection.cursor() as cursor:
        cursor.execute(COUNTS, values)
        row = cursor.fetchone()
    assert row is not None
    return Shell(*row[1:])


def bound_statements() -> None:
    """Bound the statements of a partial, which shows no shell."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT set_config('statement_timeout', %s, true)", [PATIENCE])
