"""The blast radius: who was served a set of facts, how often, when, and what followed.

Owns the counts, the list of who was exposed and the serves over time; what the
exposed wrote is ``radius_taint.py``'s. A set is one of ``radius_sets.py``'s
(``of_sessions``, ``of_source``, ``of_records``, ``of_incident``). Counts come
from the serve log alone, so that the sentence and the lists agree. Inside a
workspace scope.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import connection

from audits.domain.radius import Bucket, Radius, sentence
from audits.queries.radius_sets import (
    Facts,
    bound,
    of_incident,
    of_records,
    of_sessions,
    of_source,
    way,
)
from audits.queries.rows import fetch
from records.cursors import Page, list_key, make_page, open_cursor

__all__ = [
    "Facts",
    "Radius",
    "list_exposed",
    "list_exposed_partitions",
    "load_span",
    "measure",
    "of_incident",
    "of_records",
    "of_sessions",
    "of_source",
    "sentence",
    "serves_by_time",
]

PAGE = 50

MEASURE = """{way}
SELECT (SELECT count(*) FROM facts), count(DISTINCT v.record_id), count(*),
    count(DISTINCT v.recall_id), count(DISTINCT v.session_id), count(DISTINCT v.partition_id),
    count(*) FILTER (WHERE v.session_id IS NULL), min(v.at), max(v.at),
    (SELECT count(*) FROM wanted) > %(f_most)s{tainted}
FROM served0 v"""

# One row for each session, and one for each partition's serves that named none.
EXPOSED = """{way},
grouped AS (
    SELECT coalesce(v.session_id, v.partition_id) AS place, v.session_id, v.partition_id,
        min(v.at) AS first_at, max(v.at) AS last_at, count(*) AS serves,
        count(DISTINCT v.record_id) AS facts, count(DISTINCT v.recall_id) AS recalls,
        (array_agg(v.recall_id ORDER BY v.at DESC, v.recall_id))[1] AS recall_id
    FROM served0 v GROUP BY 1, 2, 3),
page AS MATERIALIZED (
    SELECT * FROM grouped g WHERE {where} ORDER BY {order} LIMIT %(limit)s)
SELECT page.*, p.name AS partition, coalesce(s.external_id, r.parameters->>'session') AS session,
    s.id IS NOT NULL AS has_written, s.agent, s.suspended_at IS NOT NULL AS suspended,
    w.wrote, w.repeated
FROM page JOIN partition p ON p.id = page.partition_id
LEFT JOIN session s ON s.id = page.session_id
LEFT JOIN recall r ON r.id = page.recall_id AND r.at = page.last_at
CROSS JOIN LATERAL (
    SELECT count(DISTINCT c.record_id) FILTER (WHERE f.id IS NULL) AS wrote,
        count(DISTINCT c.record_id) FILTER (WHERE f.id IS NOT NULL) AS repeated
    FROM claim c JOIN memory_record m ON m.id = c.record_id
    LEFT JOIN facts f ON f.id = c.record_id
    WHERE c.session_id = page.session_id AND greatest(c.first_at, m.recorded_at) > page.first_at
    OFFSET 0) w
ORDER BY {order}"""

PARTITIONS = """{way},
grouped AS (
    SELECT v.partition_id AS place, v.partition_id, min(v.at) AS first_at, max(v.at) AS last_at,
        count(*) AS serves, count(DISTINCT v.record_id) AS facts,
        count(DISTINCT v.recall_id) AS recalls, count(DISTINCT v.session_id) AS sessions,
        count(*) FILTER (WHERE v.session_id IS NULL) AS unnamed
    FROM served0 v GROUP BY 1)
SELECT g.*, p.name AS partition FROM grouped g JOIN partition p ON p.id = g.partition_id
WHERE {where} ORDER BY {order} LIMIT %(limit)s"""

BY_TIME = """{way}
SELECT date_trunc(%(unit)s, v.at, %(zone)s) AS start, count(*) AS serves,
    count(DISTINCT v.session_id) AS sessions
FROM served0 v GROUP BY 1 ORDER BY 1"""

SPAN = """{way}
SELECT min(v.at), max(v.at), (SELECT time_zone FROM workspace WHERE id = %(workspace)s)
FROM served0 v"""

# Beyond the cursor's row, in the order of the list.
ORDERS = {
    # The last served first. Time falls and place rises: written out, since comparing rows
    # knows one direction.
    "last": (
        "last_at DESC, place",
        "(g.last_at < %(at)s OR g.last_at = %(at)s AND g.place > %(place)s)",
    ),
    # For what is read in pieces while serves go on: no row ever changes its place.
    "place": ("place", "g.place > %(place)s"),
}


def measure(
    facts: Facts, *, workspace_id: UUID, depth: int = 0, until: datetime | None = None
) -> Radius:
    """Count how far a set of facts went; with a ``depth``, also what was written because of it."""
    tainted = "".join(f", (SELECT count(*) FROM wrote{one})" for one in range(1, depth + 1))
    if depth:
        writers = " UNION ".join(
            f"SELECT session_id FROM wrote{one}" for one in range(1, depth + 1)
        )
        tainted += f", (SELECT count(*) FROM ({writers}) AS w)"
    with connection.cursor() as cursor:
        cursor.execute(
            MEASURE.format(way=way(facts, depth=depth), tainted=tainted),
            bound(facts, workspace_id=workspace_id, until=until),
        )
        row = cursor.fetchone()
    assert row is not None
    radius = Radius(*row[:10])
    if not depth:
        return radius
    return replace(radius, tainted=tuple(row[10:-1]), tainted_sessions=row[-1], depth=depth)


def list_exposed(
    facts: Facts,
    *,
    cursor: str | None,
    workspace_id: UUID,
    until: datetime | None = None,
    order: str = "last",
    limit: int = PAGE,
) -> Page:
    """Return a page of who was served the facts: session, partition, when, how often, what then.

    ``wrote`` counts what the session wrote afterwards that is not of the set,
    ``repeated`` what is. BadRequest: a cursor of another list.
    """
    return _list(
        EXPOSED,
        "console.exposed",
        facts,
        cursor,
        workspace_id,
        until=until,
        order=order,
        limit=limit,
    )


def list_exposed_partitions(
    facts: Facts,
    *,
    cursor: str | None,
    workspace_id: UUID,
    until: datetime | None = None,
    order: str = "last",
    limit: int = PAGE,
) -> Page:
    """Return a page of the partitions that were served the facts: whose agents got them.

    BadRequest: a cursor of another list.
    """
    return _list(
        PARTITIONS,
        "console.exposed_partitions",
        facts,
        cursor,
        workspace_id,
        until=until,
        order=order,
        limit=limit,
    )


def _list(
    statement: str,
    name: str,
    facts: Facts,
    cursor: str | None,
    workspace_id: UUID,
    *,
    until: datetime | None,
    order: str,
    limit: int,
) -> Page:
    key = list_key(name, workspace_id, facts.sql, dict(facts.values), order)
    place = open_cursor(cursor, key=key)
    sort, where = ORDERS[order]
    after: dict[str, Any] = {}
    if place is None:
        where = "true"
    else:
        after = {"at": datetime.fromisoformat(place[0]), "place": UUID(place[1])}
    rows = fetch(
        statement.format(way=way(facts), where=where, order=sort),
        bound(facts, workspace_id=workspace_id, until=until, limit=limit + 1, **after),
    )
    return make_page(
        rows, limit=limit, key=key, place=lambda row: [row["last_at"].isoformat(), row["place"]]
    )


def load_span(facts: Facts, *, workspace_id: UUID) -> tuple[datetime | None, datetime | None, str]:
    """Return the first and the last serve of the facts, and the workspace's time zone."""
    with connection.cursor() as cursor:
        cursor.execute(SPAN.format(way=way(facts)), bound(facts, workspace_id=workspace_id))
        row = cursor.fetchone()
    assert row is not None
    return row[0], row[1], row[2]


def serves_by_time(
    facts: Facts, bucket: Bucket, *, workspace_id: UUID, zone: str
) -> list[dict[str, Any]]:
    """Return serves and the sessions they went to, bucket after bucket of a zone's own days."""
    return fetch(
        BY_TIME.format(way=way(facts)),
        bound(facts, workspace_id=workspace_id, unit=bucket.unit, zone=zone),
    )
