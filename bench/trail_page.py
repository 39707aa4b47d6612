"""The audit trail's page on a million events, beside the page of an empty workspace.

    .venv/bin/python -m bench.trail_page [--events N]

Ratios within one run: the quickest of the server's whole answers, which alternate with those of
the empty view; the rest is the machine's noise. Also what the page's indexes cost whoever appends.
"""

from __future__ import annotations

import argparse
import re
import sys
from functools import partial
from time import perf_counter
from typing import Any

from django.conf import settings
from django.db import connections
from django.test import Client

from bench import instance  # isort: skip  (sets Django up)
from audits import people, seals
from audits.domain.roles import Role
from audits.models import User
from audits.queries import auditing
from audits.queries.trail import TrailFilter
from bench.instance import bars, timed
from records.access import Access, Actor, ActorKind
from records.scope import workspace_scope
from records.workspaces import make_workspace

MILLION = 1_000_000
RUNS = 15
LIMIT = 2.0  # times an empty view
# No index knows these: a page looks through 10,000 events, whatever the trail's size.
SEARCHES = ("no such role", "words")
SEARCH_LIMIT = 5.0
# As a store looks after a year: agents' writes, people's decisions, refusals, a few operations.
FILL = """INSERT INTO event (workspace_id, partition_id, at, actor_kind, actor, role, action, outcome,
    target_kind, target_id, session_id, reason, request_id, count, details)
SELECT %(workspace)s, gen_random_uuid(), now() - (%(count)s - n) * interval '30 seconds',
    CASE WHEN n %% 50 = 0 THEN 'user' ELSE 'key' END,
    CASE WHEN n %% 50 = 0 THEN 'person-' || n %% 7 ELSE 'mc_' || n %% 20 END,
    CASE WHEN n %% 50 = 0 THEN 'reviewer' ELSE '' END,
    CASE WHEN n %% 50 = 0 THEN 'record.rejected' WHEN n = 1000 THEN 'session.suspended'
         ELSE 'record.added' END,
    CASE WHEN n %% 999 = 0 THEN 'denied' ELSE 'done' END, 'record', gen_random_uuid(),
    gen_random_uuid(), CASE WHEN n %% 50 = 0 THEN 'wrong' WHEN n = 2000 THEN 'needle' ELSE '' END,
    gen_random_uuid()::text, CASE WHEN n %% 5000 = 0 THEN 40 ELSE 1 END,
    jsonb_build_object('digest', md5(n::text))
        || CASE WHEN n %% 10000 = 0 THEN jsonb_build_object('operation', %(operation)s::text)
                ELSE '{}' END
FROM generate_series(%(from)s, %(to)s) AS n"""
INDEXES = "event_of_incident event_of_operation event_bulk event_refused event_by_actor" + (
    " event_by_action event_by_time"
)
OPERATION = "01234567-89ab-7def-8123-456789abcdef"


def main() -> int:
    """Run the benchmark and print its figures; the exit code says whether the bars are met."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=MILLION)
    count = parser.parse_args().events
    settings.ALLOWED_HOSTS = ["testserver"]
    with instance.database():
        return _run(count)


def _run(count: int) -> int:
    full, empty = _workspace("full"), _workspace("empty")
    with_indexes, without = _fill(full, count)
    seals.seal_now(full.workspace_id)
    instance.vacuum()
    clients = {one.workspace: _person(one) for one in (full, empty)}
    deep = _deep(clients["full"], count)
    queries = {
        "first page": "",
        "deep page": deep,
        "rare action": "action=session.suspended",
        "action of people": "action=record.rejected",
        "common action": "action=record.added",
        "actor": "actor=person-3&actor_kind=user",
        "only denied": "only=denied",
        "only bulk": "only=bulk",
        "one old day": "since=2026-01-05&until=2026-01-05",
        "numbers": "first=1000&last=2000",
        "operation": f"operation={OPERATION}",
        "left out": "not_action=record.added",
        "no such role": "role=none",
        "words": "text=needle",
    }
    met = []
    for name, query in queries.items():
        empty_view, view = _times(clients, query)
        limit = SEARCH_LIMIT if name in SEARCHES else LIMIT
        print(f"{name:>18}: {view * 1000:6.1f} ms, an empty view {empty_view * 1000:6.1f} ms")
        met.append((f"times an empty view: {name}", view / empty_view, "<=", limit))
    with workspace_scope(full.workspace_id):
        seconds = timed(
            lambda: auditing.draw_sample(
                TrailFilter(),
                seed="seed",
                size=50,
                first=1,
                last=min(count, auditing.RANGE_LIMIT),
                workspace_id=full.workspace_id,
            )
        )
    met.append(("seconds to draw a sample", seconds, "<=", 8.0))
    met.append(("times as long to append, by the indexes", with_indexes / without, "<=", 1.5))
    return bars(met)


def _workspace(name: str) -> Access:
    return make_workspace(name, actor=Actor(ActorKind.COMMAND, "bench"))


def _person(access: Access) -> Client:
    user = User.objects.create_user(f"auditor-{access.workspace}", password="long enough to be one")
    people.add_member(user, Role.AUDITOR, access=access)
    client = Client()
    client.force_login(user)
    return client


def _fill(access: Access, count: int) -> tuple[float, float]:
    """Append the events; return the seconds of a tenth with the page's indexes, and without."""
    tenth = count // 10

    def append(first: int, last: int) -> float:
        with workspace_scope(access.workspace_id), connections["default"].cursor() as cursor:
            values: dict[str, Any] = {
                **{"workspace": access.workspace_id, "count": count, "operation": OPERATION},
                **{"from": first, "to": last},
            }
            began = perf_counter()
            cursor.execute(FILL, values)
            return perf_counter() - began

    append(1, tenth)
    taken_with = append(tenth + 1, 2 * tenth)
    with connections["owner"].cursor() as cursor:
        cursor.execute(
            "SELECT indexdef FROM pg_indexes WHERE indexname = ANY (%s)", [INDEXES.split()]
        )
        definitions = [row[0] for row in cursor.fetchall()]
        cursor.execute(f"DROP INDEX {', '.join(INDEXES.split())}")
        taken_without = append(2 * tenth + 1, 3 * tenth)
        for one in definitions:
            cursor.execute(one)
    append(3 * tenth + 1, count)
    return taken_with, taken_without


def _deep(client: Client, count: int) -> str:
    """Return the query of a page half-way down, reached by its cursor as a reader would."""
    page = client.get("/w/full/trail", {"last": str(count // 2)}).content.decode()
    found = re.search(r'rel="next" href="\?([^"]*)"|rel="next" href="[^"]*\?([^"]*)"', page)
    if found is None:
        raise RuntimeError("there is no next page")
    return (found.group(1) or found.group(2)).replace("&amp;", "&")


def _times(clients: dict[str, Client], query: str) -> tuple[float, float]:
    """Return the quickest of some alternating requests: of an empty view, and of this one."""
    urls = {"empty": "/w/empty/trail", "full": f"/w/full/trail?{query}"}
    taken: dict[str, list[float]] = {name: [] for name in urls}
    for name, url in urls.items():
        if clients[name].get(url).status_code != 200:
            raise RuntimeError(url)
    for _ in range(RUNS):
        for name, url in urls.items():
            taken[name].append(timed(partial(clients[name].get, url)))
    return min(taken["empty"]), min(taken["full"])


if __name__ == "__main__":
    sys.exit(main())
