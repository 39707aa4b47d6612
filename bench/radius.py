"""The blast radius of 5,000 facts in a store of 200,000 records and 1,000,000 serves.

    .venv/bin/python -m bench.radius [--rounds N] [--records N] [--serves N] [--facts N]

Server time of each page of a session's exposure, in one process, against a page that reads nothing
of its own (the form of a new view's key). The serves lie in thirteen monthly tables; the facts are one
session's, in one partition whose other sessions were served them and wrote afterwards.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from datetime import UTC, date, datetime, timedelta
from functools import partial
from uuid import UUID

from bench import instance
from bench.instance import bars, spread, timed

# isort: split
from django.conf import settings
from django.db import connection
from django.test import Client

from audits import people
from audits.domain.roles import Role
from audits.models import User
from records.access import Access, Actor, ActorKind
from records.jobs.partitions import LOGS, _make, next_month
from records.scope import workspace_scope
from records.workspaces import make_workspace

MONTHS = 13
PARTITIONS = 200
SESSIONS = 10  # of each partition, besides those that were exposed
EXPOSED = 60  # sessions of the poisoned partition
# 500 ms, where a page that reads nothing takes 12 on an idle machine of two cores.
BAR = 40.0

PARTITION_ROWS = """INSERT INTO partition (id, workspace_id, name)
SELECT md5('p' || n)::uuid, %(workspace)s, 'person ' || n FROM generate_series(0, %(partitions)s - 1) n"""
SESSION_ROWS = """INSERT INTO session (id, workspace_id, partition_id, external_id)
SELECT md5('s' || p || '/' || n)::uuid, %(workspace)s, md5('p' || p)::uuid, 'session ' || p || '/' || n
FROM generate_series(0, %(partitions)s - 1) p, generate_series(0, %(sessions)s - 1) n
WHERE p = 0 OR n < %(few)s"""
# Record n belongs to partition 0 and its first session when it is one of the facts; the others are
# spread over all. Each was written at a moment of the thirteen months.
RECORD_ROWS = """INSERT INTO memory_record (id, workspace_id, partition_id, source_id, session_id,
    slot_id, fingerprint, subject, subject_key, predicate, value, content, cardinality, tags, labels,
    metadata, confidence, stated_confidence, written_at, order_at, recorded_at, last_seen, status_at,
    believed, terms, findings, embedding, embedding_model)
SELECT md5('r' || n)::uuid, %(workspace)s, md5('p' || p)::uuid, %(source)s,
    md5('s' || p || '/' || s)::uuid, gen_random_uuid(), 'fp_' || left(md5('f' || n), 24),
    'Subject ' || n %% 997, 'subject ' || n %% 997, 'predicate_' || n %% 50, 'value ' || md5('v' || n),
    'Subject says value ' || md5('v' || n), 'many', '{}', '{}', '{}', 0.8, 0.8, at, at, at, at, at,
    tstzmultirange(tstzrange(at, NULL)), ARRAY[n, n + 1, n + 2], '[]',
    vectors.embedding, 1
FROM (SELECT n, CASE WHEN n < %(facts)s OR n %% 40 = 0 THEN 0 ELSE n %% %(partitions)s END AS p,
          CASE WHEN n < %(facts)s THEN 0
               WHEN n %% 40 = 0 THEN 1 + (n / 40) %% (%(sessions)s - 1)
               ELSE (n / %(partitions)s) %% %(few)s END AS s,
          CASE WHEN n < %(facts)s THEN %(begin)s::timestamptz
               ELSE %(begin)s::timestamptz + (n %% 9973) / 9973.0 * %(span)s END AS at
      FROM generate_series(0, %(records)s - 1) n) one
JOIN (SELECT k, (SELECT array_agg(sin(k * 13 + i * (1 + k %% 7)))::halfvec(256)
                 FROM generate_series(1, 256) i) AS embedding
      FROM generate_series(0, 255) k) vectors ON vectors.k = n %% 256"""
CLAIM_ROWS = """INSERT INTO claim (record_id, session_id, source_id, workspace_id, partition_id,
    first_at, last_at, count, confidence, evidence, wording)
SELECT id, session_id, source_id, workspace_id, partition_id, recorded_at, recorded_at, 1, 0.8, '', ''
FROM memory_record WHERE workspace_id = %(workspace)s"""
# Five serves of each fact to the exposed sessions; the rest of any record to its own partition's.
SERVE_ROWS = """INSERT INTO serve (recall_id, at, workspace_id, partition_id, session_id, record_id,
    rank, score, current)
SELECT gen_random_uuid(), %(begin)s::timestamptz + (n %% 99991) / 99991.0 * %(span)s, %(workspace)s,
    r.partition_id, md5('s' || CASE WHEN r.partition_id = md5('p0')::uuid
                                    THEN '0/' || 1 + n %% (%(sessions)s - 1)
                                    ELSE (one.n %% %(records)s) %% %(partitions)s || '/' || n %% %(few)s
                               END)::uuid,
    r.id, 1, 0.5, true
FROM (SELECT n, CASE WHEN n < %(facts)s * 5 THEN n %% %(facts)s
                     ELSE %(facts)s + n::bigint * 7919 %% (%(records)s - %(facts)s) END AS record
      FROM generate_series(0, %(serves)s - 1) n) one
JOIN memory_record r ON r.id = md5('r' || one.record)::uuid"""


def main() -> int:
    """Run the benchmark and print its figures; the exit code says whether the bar is met."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--records", type=int, default=200_000)
    parser.add_argument("--serves", type=int, default=1_000_000)
    parser.add_argument("--facts", type=int, default=5_000)
    parser.add_argument("--explain", action="store_true", help="print the plan of the measurement")
    asked = parser.parse_args()
    settings.ALLOWED_HOSTS.append("testserver")
    with instance.database():
        access = make_workspace("bench", actor=Actor(ActorKind.COMMAND, "bench"))
        _fill(access, asked)
        instance.vacuum()
        if asked.explain:
            _explain(access)
        return _run(access, asked)


def _run(access: Access, asked: argparse.Namespace) -> int:
    user = User.objects.create_user("bench", password="bench-bench-bench")
    people.add_member(user, Role.ADMINISTRATOR, access=access)
    client = Client()
    client.force_login(user)
    with connection.cursor() as cursor:
        cursor.execute("SELECT md5('s0/0')::uuid")
        session: UUID = cursor.fetchone()[0]
    base = f"/w/{access.workspace}"
    pages = {
        "an empty view": f"{base}/keys/new",
        "the sentence, with taint": f"{base}/sessions/{session}/exposure",
        "who was served": f"{base}/sessions/{session}/exposed",
        "when (the chart)": f"{base}/sessions/{session}/exposed/chart",
        "what they wrote": f"{base}/sessions/{session}/derived",
    }
    times: dict[str, list[float]] = {name: [] for name in pages}
    for number in range(asked.rounds + 2):
        for name, path in pages.items():
            took = timed(partial(_get, client, path))
            if number >= 2:
                times[name].append(took)
    print(
        f"{asked.facts:,} facts of {asked.records:,}, {asked.serves:,} serves; medians (quartiles)\n"
    )
    for name, seconds in times.items():
        print(f"{name:28}{spread(seconds)}")
    empty = statistics.median(times["an empty view"])
    print()
    return bars(
        [
            (f"{name} / an empty view", statistics.median(seconds) / empty, "<=", BAR)
            for name, seconds in list(times.items())[1:]
        ]
    )


def _get(client: Client, path: str) -> None:
    answer = client.get(path)
    if answer.status_code != 200:
        raise RuntimeError(f"{path}: {answer.status_code}")


def _fill(access: Access, asked: argparse.Namespace) -> None:
    now = datetime.now(UTC)
    begin = now - timedelta(days=30 * (MONTHS - 1))
    month = date(begin.year, begin.month, 1)
    while month <= now.date():
        for log in LOGS:
            _make(log, month)
        month = next_month(month)
    values = {
        "workspace": access.workspace_id,
        "partitions": PARTITIONS,
        "sessions": EXPOSED,
        "few": SESSIONS,
        "records": asked.records,
        "serves": asked.serves,
        "facts": asked.facts,
        "begin": begin,
        "span": now - begin,
    }
    for statement in (PARTITION_ROWS, SESSION_ROWS, RECORD_ROWS, CLAIM_ROWS, SERVE_ROWS):
        with workspace_scope(access.workspace_id), connection.cursor() as cursor:
            cursor.execute("SELECT id FROM source WHERE workspace_id = %(workspace)s", values)
            values["source"] = cursor.fetchone()[0]
            cursor.execute(statement, values)


def _explain(access: Access) -> None:
    from audits.queries import radius, radius_sets

    with workspace_scope(access.workspace_id), connection.cursor() as cursor:
        cursor.execute("SELECT md5('s0/0')::uuid")
        facts = radius_sets.of_sessions([cursor.fetchone()[0]])
        statement = radius.MEASURE.format(way=radius_sets.way(facts), tainted="")
        cursor.execute(
            f"EXPLAIN (ANALYZE, BUFFERS) {statement}",
            radius_sets.bound(facts, workspace_id=access.workspace_id),
        )
        print("\n".join(row[0] for row in cursor.fetchall()))


if __name__ == "__main__":
    sys.exit(main())
