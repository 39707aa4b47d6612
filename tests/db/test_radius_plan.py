"""The blast radius reads what the facts touch, never the log: the plan is pinned."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from django.db import connection, connections

from audits.queries import radius, radius_sets, radius_taint
from records import queries
from records.access import Access
from records.scope import workspace_scope
from tests.factories import make_many, make_partition, make_session, make_source, make_workspace

FACTS = 200
OTHERS = 4_000
SERVES = 30_000
WRITTEN = 20  # by each of the sessions that were served
BIG = ("serve", "claim", "memory_record", "recall")

SERVE = """INSERT INTO serve (recall_id, at, workspace_id, partition_id, session_id, record_id, rank,
    score, current)
SELECT gen_random_uuid(), now() - n * interval '1 millisecond', workspace_id, partition_id,
    (%(sessions)s::uuid[])[1 + n %% %(count)s], id, 1, 0.5, true
FROM (SELECT *, row_number() OVER (ORDER BY id) AS place FROM memory_record
      WHERE workspace_id = %(workspace)s) r
JOIN generate_series(1, %(serves)s) n ON r.place = 1 + n %% %(records)s"""


@pytest.fixture(scope="module")
def store(django_db_setup: None, django_db_blocker: Any) -> dict[str, Any]:
    """A few poisoned facts among many others, all of them served to thirty sessions."""
    with django_db_blocker.unblock():
        access = make_workspace()
        partition, source = make_partition(access), make_source(access)
        bad = make_session(access, "alice", "bad")
        make_many(access, FACTS, "poison", partition, source, bad)
        plain = make_session(access, "alice", "plain")
        make_many(access, OTHERS, "plain", partition, source, plain)
        readers = [make_session(access, "alice", f"r{number}") for number in range(30)]
        values = {"workspace": access.workspace_id, "sessions": readers, "count": len(readers)}
        with workspace_scope(access.workspace_id), connection.cursor() as cursor:
            cursor.execute(SERVE, {**values, "serves": SERVES, "records": FACTS + OTHERS})
        for number, reader in enumerate(readers):
            make_many(access, WRITTEN, f"reader{number}", partition, source, reader)
        with connections["owner"].cursor() as cursor:
            cursor.execute("VACUUM (ANALYZE) memory_record, claim, serve, session")
        return {"access": access, "facts": radius_sets.of_sessions([bad])}


def _nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for one in plan.get("Plans", ()):
        yield from _nodes(one)


def _plan(access: Access, statement: str, values: dict[str, Any]) -> dict[str, Any]:
    with workspace_scope(access.workspace_id):
        with queries.cursor() as cursor:
            cursor.execute("SELECT current_user")
            assert cursor.fetchone() == ("memconsole_app",)
        with connection.cursor() as cursor:
            cursor.execute(f"EXPLAIN (ANALYZE, FORMAT JSON) {statement}", values)
            row = cursor.fetchone()
    assert row is not None
    plan = json.loads(row[0]) if isinstance(row[0], str) else row[0]
    found: dict[str, Any] = plan[0]["Plan"]
    return found


def _statements(store: dict[str, Any]) -> dict[str, tuple[str, dict[str, Any]]]:
    facts, workspace = store["facts"], store["access"].workspace_id
    first = radius_sets.bound(facts, workspace_id=workspace, limit=51)
    way = radius_sets.way(facts)
    sort, _ = radius.ORDERS["last"]
    tainted = radius_taint.TAINTED.format(
        way=radius_sets.way(facts, depth=3, linked=True),
        tainted=radius_taint._tainted(3),
        where="true",
    )
    return {
        "measure": (radius.MEASURE.format(way=way, tainted=""), first),
        "exposed": (radius.EXPOSED.format(way=way, where="true", order=sort), first),
        "tainted": (tainted, first),
    }


@pytest.mark.parametrize("name", ["measure", "exposed", "tainted"])
def test_no_statement_reads_a_log_or_a_table_of_facts_from_end_to_end(
    store: dict[str, Any], name: str
) -> None:
    statement, values = _statements(store)[name]
    nodes = list(_nodes(_plan(store["access"], statement, values)))
    whole = [
        (one["Relation Name"], one["Actual Rows"])
        for one in nodes
        if one["Node Type"] == "Seq Scan"
        and one["Relation Name"].startswith(BIG)
        and one["Actual Rows"] + one.get("Rows Removed by Filter", 0) > 100
    ]
    assert whole == []
    by_record = [
        one for one in nodes if "serve" in one.get("Index Name", "") and one["Actual Rows"] > 0
    ]
    assert by_record
    assert not [one for one in nodes if "Gather" in one["Node Type"]]


def test_what_was_heard_is_compared_once_for_each_write(store: dict[str, Any]) -> None:
    statement, values = _statements(store)["tainted"]
    nodes = list(_nodes(_plan(store["access"], statement, values)))
    lookups = [
        one["Actual Loops"]
        for one in nodes
        if one.get("Relation Name") == "memory_record" and one["Alias"].split("_")[0] == "r"
    ]
    assert lookups
    assert sum(lookups) <= 30 * WRITTEN * (radius_sets.COMPARED + 1)
