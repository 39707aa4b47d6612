"""One complete pass of a source: what it named, what it named no longer, what came back.

Owns the statements. What a run stopped or took up again is read from its own
events, so that a run of last month still tells its own; which addresses it
named is known while no later run has named them again. Inside a workspace scope.
"""

from __future__ import annotations

from typing import Any
from uuid import UUID

from audits.queries.rows import fetch
from records.cursors import Page, list_key, make_page, open_cursor

PAGE = 50
# Events of one run follow each other; other transactions' may stand between.
REACH = 100_000
ACTIONS = {"gone": "record.unlisted", "back": "record.relisted"}

RUN = """SELECT r.id, r.external_id, r.started_at, r.finished_at, r.seen_count, r.unlisted_count,
    r.relisted_count, r.partition_id, p.name AS partition, s.id AS source_id, s.name AS source,
    NOT EXISTS (SELECT 1 FROM source_run later WHERE later.source_id = r.source_id
        AND later.partition_id IS NOT DISTINCT FROM r.partition_id
        AND later.started_at > r.started_at) AS is_latest,
    (SELECT e.id FROM event e WHERE e.target_id = r.id AND e.action = 'source.run_finished'
     ORDER BY e.id DESC LIMIT 1) AS told
FROM source_run r JOIN source s ON s.id = r.source_id
LEFT JOIN partition p ON p.id = r.partition_id
WHERE r.id = %(id)s AND r.workspace_id = %(workspace)s"""
FACT = """r.id, r.subject, r.predicate, r.value, r.status, r.source_key, r.unlisted_at,
    greatest(r.last_seen, t.last_seen) AS last_seen"""
TOLD = f"""WITH told AS MATERIALIZED (
    SELECT e.id AS place, e.target_id FROM event e
    WHERE e.workspace_id = %(workspace)s AND e.id > %(after)s AND e.id < %(before)s
      AND e.action = %(action)s AND e.details->>'run' = %(run)s ORDER BY e.id LIMIT %(limit)s)
SELECT told.place, {FACT} FROM told JOIN memory_record r ON r.id = told.target_id
LEFT JOIN tally t ON t.record_id = r.id ORDER BY told.place"""
NAMED = f"""SELECT a.last_named_at AS at, a.id AS place, {FACT}
FROM address a JOIN memory_record r ON r.id = a.record_id LEFT JOIN tally t ON t.record_id = r.id
WHERE a.source_id = %(source)s AND a.workspace_id = %(workspace)s
  AND (%(partition)s::uuid IS NULL OR a.partition_id = %(partition)s)
  AND a.last_named_at >= %(since)s AND a.last_named_at <= coalesce(%(until)s, now())
  AND (a.last_named_at, a.id) > (%(after_at)s::timestamptz, %(after_id)s::uuid)
ORDER BY a.last_named_at, a.id LIMIT %(limit)s"""


def load_run(run_id: UUID, *, workspace_id: UUID) -> dict[str, Any] | None:
    """Return one run; ``None`` for unknown and foreign alike."""
    found = fetch(RUN, {"id": run_id, "workspace": workspace_id})
    return found[0] if found else None


def list_facts(run: dict[str, Any], what: str, *, cursor: str | None, workspace_id: UUID) -> Page:
    """Return a page of what the run named (``named``), left out (``gone``) or took up (``back``).

    BadRequest: a cursor of another list.
    """
    key = list_key("console.source_run", workspace_id, [str(run["id"]), what])
    place = open_cursor(cursor, key=key)
    if what == "named":
        return _list_named(run, place, key, workspace_id)
    count = run["unlisted_count"] if what == "gone" else run["relisted_count"]
    shown = int(place[1]) if place else 0
    if run["told"] is None or count <= shown:
        return Page([], None)
    rows = fetch(
        TOLD,
        {
            "workspace": workspace_id,
            "action": ACTIONS[what],
            "run": str(run["id"]),
            "after": int(place[0]) if place else run["told"],
            "before": run["told"] + 20 * count + REACH,
            "limit": min(PAGE + 1, count - shown),
        },
    )
    for number, row in enumerate(rows, start=shown + 1):
        row["number"] = number
    return make_page(rows, limit=PAGE, key=key, place=lambda row: [row["place"], row["number"]])


def _list_named(run: dict[str, Any], place: list[str] | None, key: str, workspace_id: UUID) -> Page:
    rows = fetch(
        NAMED,
        {
            "workspace": workspace_id,
            "source": run["source_id"],
            "partition": run["partition_id"],
            "since": run["started_at"],
            "until": run["finished_at"],
            "after_at": place[0] if place else "-infinity",
            "after_id": place[1] if place else UUID(int=0),
            "limit": PAGE + 1,
        },
    )
    return make_page(rows, limit=PAGE, key=key, place=lambda row: [row["at"], row["place"]])
