"""Recall on a partition of 1,000 facts through HTTP, against the same transaction in bare psycopg.

    .venv/bin/python -m bench.recall [--rounds N]

Bare: a pooled connection, the transaction's settings, the same prepared SELECT with parameters
that are ready (the question's vector, too), its rows fetched, the serve log, commit. Beside it an
authenticated endpoint of the same server that does nothing (GET /api/v1/whoami). One client;
within one run, rounds of the three alternate. Ten more partitions of the same size lie beside.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from typing import Any

import psycopg
from django.conf import settings
from pgvector.psycopg import register_vector
from psycopg.types.json import Jsonb
from psycopg_pool import ConnectionPool

from bench import instance
from bench.instance import Client, bars, dumps, real_facts, spread, timed
from memconsole.database import connection_arguments
from records import embeddings, write
from records.access import Access, Actor, ActorKind
from records.domain.ids import uuid7
from records.items import WriteItem
from records.keys import make_key
from records.retrieve import RecallRequest
from records.retrieve.recall import LOG, _statement, execute
from records.retrieve.statement import PLANNER, build
from records.schemas.items import read_item
from records.scope import SETTINGS
from records.workspaces import make_workspace

COUNT = 1_000
BESIDE = 10
PARTITION = "library-0"
WARM = 40


def main() -> int:
    """Run the benchmark and print its figures; the exit code says whether the bar is met."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=400)
    rounds = parser.parse_args().rounds
    with instance.database(), instance.web() as port:
        access = make_workspace("bench", actor=Actor(ActorKind.COMMAND, "bench"))
        facts = real_facts(COUNT)
        for number in range(BESIDE + 1):
            write.write_facts(_items(facts, f"library-{number}"), access=access)
        instance.vacuum()
        client = Client(port, make_key(access=access))
        pool = ConnectionPool(
            min_size=1,
            max_size=1,
            kwargs=connection_arguments(settings.DATABASES["default"]),
            configure=_configure,
            open=True,
        )
        with pool:
            return _run(rounds, client, pool, access, facts)


def _run(
    rounds: int,
    client: Client,
    pool: ConnectionPool[psycopg.Connection[Any]],
    access: Access,
    facts: list[dict[str, Any]],
) -> int:
    over_http: list[float] = []
    bare: list[float] = []
    nothing: list[float] = []
    for number in range(rounds + WARM):
        fact = facts[number * 7 % COUNT]
        question = f"What is the {fact['predicate']} of {fact['subject']}?"
        body = dumps({"partition": PARTITION, "query": question, "session": "talk"})
        took = (
            timed(partial(client.post, "/api/v1/recall", body)),
            timed(_transaction(pool, access, question)),
            timed(partial(client.get, "/api/v1/whoami")),
        )
        if number >= WARM:
            for times, one in zip((over_http, bare, nothing), took, strict=True):
                times.append(one)
    print(f"Recall of 10 from {COUNT:,} facts, {rounds} rounds, medians (quartiles)\n")
    print(f"through HTTP                   {spread(over_http)}")
    print(f"the transaction, bare psycopg  {spread(bare)}")
    print(f"an endpoint that does nothing  {spread(nothing)}\n")
    both = statistics.median(bare) + statistics.median(nothing)
    return bars(
        [("HTTP / (bare + nothing)", statistics.median(over_http) / both, "<=", 1.5)],
    )


def _transaction(
    pool: ConnectionPool[psycopg.Connection[Any]], access: Access, question: str
) -> Callable[[], None]:
    """Return the bare transaction of one question, with everything ready that can be."""
    now = datetime.now(UTC)
    request = RecallRequest(partition=PARTITION, query=question, session="talk")
    vectors, _ = embeddings.query_vectors(access.workspace_id, question)
    shape, parameters = _statement(request, vectors, now)
    partition_id = access.partition_id(PARTITION)
    statement = build(shape)
    parameters |= {"workspace": access.workspace_id, "partition": partition_id}
    scope = SETTINGS + ", set_config(%s, %s, true)" * len(PLANNER)
    values = [str(access.workspace_id), str(partition_id), "partition"]
    for pair in PLANNER.items():
        values += pair
    log = {
        "id": uuid7(now),
        "at": now,
        "workspace": access.workspace_id,
        "partition": partition_id,
        "session": None,
        "actor": str(access.actor),
        "query": question,
        "parameters": Jsonb({"top_k": 10}),
        "micros": 0,
    }

    def run() -> None:
        with pool.connection() as connection, connection.cursor() as cur:
            cur.execute(scope, values)
            rows = execute(cur, statement, parameters).fetchall()
            counted = range(1, len(rows) + 1)
            cur.execute(
                LOG,
                {
                    **log,
                    "count": len(rows),
                    "records": [row[0] for row in rows],
                    "ranks": list(counted),
                    "scores": [row[5] for row in rows],
                    "currents": [True for _ in rows],
                },
                prepare=True,
            )

    return run


def _configure(connection: psycopg.Connection[Any]) -> None:
    register_vector(connection)
    connection.commit()


def _items(facts: list[dict[str, Any]], partition: str) -> list[WriteItem]:
    found = [read_item({**fact, "partition": partition}) for fact in facts]
    return [one for one in found if isinstance(one, WriteItem)]


if __name__ == "__main__":
    sys.exit(main())
