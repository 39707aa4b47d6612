"""The overview and every chart over 1,000,000 facts and 90 days of counts.

    .venv/bin/python -m bench.figures [--rounds N] [--records N] [--recalls N]

Server time of each page and piece, in one process, against a page that reads nothing of its own
(the form of a new view's key). One fact in fifty was found bad, one in twenty has expired and a third
has been said again; every quarter of an hour of 90 days has counts of every decision.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from datetime import UTC, date, datetime, timedelta
from functools import partial
from typing import Any

from bench import instance
from bench.instance import bars, spread, timed

# isort: split
from django.conf import settings
from django.db import connection
from django.test import Client

from audits import figures, people
from audits.domain.roles import Role
from audits.models import User
from records.access import Access, Actor, ActorKind
from records.jobs.partitions import LOGS, _make, next_month
from records.scope import workspace_scope
from records.workspaces import make_workspace

DAYS = 90
PARTITIONS = 200
# 300 ms, where a page that reads nothing takes 12 on an idle machine of two cores. Charts come
# after the page, each by itself.
BAR = 25.0

FILL = (
    """INSERT INTO partition (id, workspace_id, name)
    SELECT md5('p' || n)::uuid, %(workspace)s, 'person ' || n
    FROM generate_series(0, %(partitions)s - 1) n""",
    """INSERT INTO session (id, workspace_id, partition_id, external_id)
    SELECT md5('s' || p)::uuid, %(workspace)s, md5('p' || p)::uuid, 'session ' || p
    FROM generate_series(0, %(partitions)s - 1) p""",
    # Ids follow the time of recording, as the application makes them.
    """INSERT INTO memory_record (id, workspace_id, partition_id, source_id, session_id, slot_id,
        fingerprint, subject, subject_key, predicate, value, content, status, cardinality, tags,
        labels, metadata, confidence, stated_confidence, written_at, order_at, recorded_at,
        last_seen, status_at, valid_until, believed, terms, findings)
    SELECT (lpad(to_hex((extract(epoch FROM at) * 1000)::bigint), 12, '0') || '7'
            || left(md5('r' || n), 3) || '8' || substr(md5('q' || n), 1, 15))::uuid,
        %(workspace)s, md5('p' || n %% %(partitions)s)::uuid, %(source)s,
        md5('s' || n %% %(partitions)s)::uuid, gen_random_uuid(), 'fp_' || left(md5('f' || n), 24),
        'Subject ' || n %% 997, 'subject ' || n %% 997, 'predicate_' || n %% 50, 'value ' || n,
        'Subject says value ' || n,
        CASE n %% 150 WHEN 0 THEN 'evicted' WHEN 1 THEN 'rejected' WHEN 2 THEN 'retracted'
             ELSE 'active' END,
        'many', '{}', '{}', '{}', 0.8, 0.8, at, at, at, at, at,
        CASE n %% 20 WHEN 3 THEN %(now)s::timestamptz - n %% 997 * interval '1 hour'
             WHEN 4 THEN %(now)s::timestamptz + n %% 1997 * interval '1 hour' END,
        CASE WHEN n %% 150 < 3 THEN '{}'::tstzmultirange
             ELSE tstzmultirange(tstzrange(at, NULL)) END, ARRAY[n], '[]'
    FROM (SELECT n, %(begin)s::timestamptz + (n %% 99991) / 99991.0 * %(span)s AS at
          FROM generate_series(0, %(records)s - 1) n) one""",
    """INSERT INTO tally (record_id, workspace_id, partition_id, seen_count, sessions, sources,
        first_seen, last_seen)
    SELECT id, workspace_id, partition_id, 2 + abs(hashtext(id::text)) %% 30, 1, 1, recorded_at,
        recorded_at
    FROM memory_record WHERE workspace_id = %(workspace)s AND abs(hashtext(id::text)) %% 3 = 0""",
    """INSERT INTO recall (id, at, workspace_id, partition_id, actor, query, parameters, served_count,
        micros)
    SELECT md5('c' || n)::uuid, %(begin)s::timestamptz + n / %(recalls)s::float8 * %(span)s,
        %(workspace)s, md5('p' || n %% %(partitions)s)::uuid, 'bench', 'q', '{}', 5, 500 + n %% 9999
    FROM generate_series(0, %(recalls)s - 1) n""",
    """INSERT INTO serve (recall_id, at, workspace_id, partition_id, record_id, rank, score, current)
    SELECT md5('c' || n / 5)::uuid, %(begin)s::timestamptz + n / 5 / %(recalls)s::float8 * %(span)s,
        %(workspace)s, r.partition_id, r.id, 1 + n %% 5, 0.5, true
    FROM (SELECT id, partition_id, row_number() OVER (ORDER BY id) - 1 AS n FROM memory_record
          WHERE workspace_id = %(workspace)s LIMIT %(recalls)s * 5) r""",
    """INSERT INTO rollup (workspace_id, kind, at, label, number)
    SELECT %(workspace)s, k.kind, date_bin('15 minutes', %(now)s::timestamptz - n * interval '15 minutes',
        '2000-01-01 00:00:00+00'::timestamptz), k.label, 1 + n %% 7
    FROM generate_series(0, %(days)s * 96 - 1) n, (
        SELECT 'write' AS kind, unnest(%(decisions)s::text[]) AS label
        UNION ALL SELECT 'flow', unnest(ARRAY['held', 'decided'])
        UNION ALL SELECT 'hit', 'rule ' || g FROM generate_series(1, 20) g
        UNION ALL SELECT 'recall', g::text FROM generate_series(0, 12) g
        UNION ALL SELECT 'served', 'facts') k""",
    """INSERT INTO rollup_progress (workspace_id, log_through, rules)
    VALUES (%(workspace)s, %(now)s::timestamptz - interval '20 minutes', '{}')""",
)


def main() -> int:
    """Run the benchmark and print its figures; the exit code says whether the bar is met."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--records", type=int, default=1_000_000)
    parser.add_argument("--recalls", type=int, default=200_000, help="five serves each")
    asked = parser.parse_args()
    settings.ALLOWED_HOSTS.append("testserver")
    with instance.database():
        access = make_workspace("bench", actor=Actor(ActorKind.COMMAND, "bench"))
        _fill(access, asked)
        instance.vacuum()
        return _run(access, asked)


def _run(access: Access, asked: argparse.Namespace) -> int:
    user = User.objects.create_user("bench", password="bench-bench-bench")
    people.add_member(user, Role.ADMINISTRATOR, access=access)
    client = Client()
    client.force_login(user)
    base = f"/w/{access.workspace}"
    pages = {
        "an empty view": f"{base}/keys/new",
        "the overview": f"{base}/",
        **{f"chart: {name}": f"{base}/figures/of/{name}?range=90d" for name in figures.ALL},
    }
    times: dict[str, list[float]] = {name: [] for name in pages}
    for number in range(asked.rounds + 1):
        for name, path in pages.items():
            took = timed(partial(_get, client, path))
            if number >= 1:
                times[name].append(took)
    print(f"{asked.records:,} facts, {5 * asked.recalls:,} serves; medians (quartiles)\n")
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
    answer = client.get(path, headers={"HX-Request": "true"} if "/of/" in path else {})
    if answer.status_code != 200 or b"could not be counted" in answer.content:
        raise RuntimeError(f"{path}: {answer.status_code}")


def _fill(access: Access, asked: argparse.Namespace) -> None:
    now = datetime.now(UTC)
    begin = now - timedelta(days=DAYS)
    month = date(begin.year, begin.month, 1)
    while month <= now.date():
        for log in LOGS:
            _make(log, month)
        month = next_month(month)
    values: dict[str, Any] = {
        "workspace": access.workspace_id,
        "partitions": PARTITIONS,
        "records": asked.records,
        "recalls": asked.recalls,
        "decisions": list(figures.DECISIONS),
        "days": DAYS,
        "begin": begin,
        "now": now,
        "span": now - begin,
    }
    for statement in FILL:
        with workspace_scope(access.workspace_id), connection.cursor() as cursor:
            cursor.execute("SELECT id FROM source WHERE workspace_id = %(workspace)s", values)
            values["source"] = cursor.fetchone()[0]
            cursor.execute(statement, values)


if __name__ == "__main__":
    sys.exit(main())
