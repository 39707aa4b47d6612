"""Batch writes of 1,000 facts through HTTP, against the fastest bare way to put the same rows.

    .venv/bin/python -m bench.writes [--rounds N]

Bare: the finished records (with embeddings), claims and events of the same facts, as Python
values, by binary COPY into temporary tables and INSERT ... SELECT into the same tables, as the
same role, one transaction. It checks, canonicalises, locks and decides nothing. Within one run,
rounds of the kinds alternate, each into partitions of its own, which exist already.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from datetime import UTC, datetime
from functools import partial
from time import perf_counter
from typing import Any
from uuid import UUID

from psycopg.types.json import Jsonb

from bench import instance
from bench.instance import Client, bars, dumps, real_facts, spread, timed
from records import embeddings, write
from records.access import Access, Actor, ActorKind
from records.domain import canonical
from records.domain.ids import uuid7
from records.items import WriteItem, Written
from records.keys import make_key
from records.queries import cursor
from records.schemas.items import read_item
from records.scope import workspace_scope
from records.warm import warm
from records.workspaces import make_workspace

COUNT = 1_000  # and one more, which makes the partition
TABLES = ("memory_record", "claim", "event")
GENERATED = {"event": ("id", "at", "transaction")}


def main() -> int:
    """Run the benchmark and print its figures; the exit code says whether the bars are met."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=15)
    rounds = parser.parse_args().rounds
    with instance.database(), instance.web() as port:
        return _run(port, rounds)


def _run(port: int, rounds: int) -> int:
    access = make_workspace("bench", actor=Actor(ActorKind.COMMAND, "bench"))
    client = Client(port, make_key(access=access))
    warm()  # as the server does: this process is clocked, too
    *facts, first = real_facts(COUNT + 1)
    bare, inner = Bare(access, facts), Inner(access, facts)
    for number in range(3):
        client.post("/api/v1/memories/batch", _body(facts, f"warm-{number}"))
        inner.run(f"warm-inner-{number}")
        bare.run(bare.rows(f"warm-bare-{number}"))
    inner.forget()
    instance.vacuum()
    over_http, by_hand = [], []
    for number in range(rounds):
        for name in (f"http-{number}", f"inner-{number}"):
            write.write_facts(_items([first], name), access=access)
        body = _body(facts, f"http-{number}")
        over_http.append(timed(partial(client.post, "/api/v1/memories/batch", body)))
        rows = bare.rows(f"bare-{number}")
        by_hand.append(timed(partial(bare.run, rows)))
        inner.run(f"inner-{number}")
    print(f"Batches of {COUNT:,} new facts, {rounds} rounds, medians (quartiles)\n")
    print(f"bare COPY and INSERT ... SELECT  {spread(by_hand)}")
    print(f"through HTTP                     {spread(over_http)}")
    print(f"database part of the write path  {spread(inner.database)}")
    print(f"gate       {statistics.median(inner.gate) / COUNT * 1e6:8.1f} µs a fact")
    print(f"embedding  {statistics.median(inner.embedding) / COUNT * 1e6:8.1f} µs a fact\n")
    base = statistics.median(by_hand)
    return bars(
        [
            ("overall, bare / HTTP", base / statistics.median(over_http), ">=", 0.12),
            ("database part, bare / ours", base / statistics.median(inner.database), ">=", 0.5),
        ]
    )


class Inner:
    """The write path in this process, with the gate's and the embedding's time apart."""

    def __init__(self, access: Access, facts: list[dict[str, Any]]) -> None:
        self.access, self.facts = access, facts
        self.database: list[float] = []
        self.gate: list[float] = []
        self.embedding: list[float] = []
        self._spent = dict.fromkeys(("gate", "statements", "embedding"), 0.0)

        # The gate: names, context and verdict, without the statements that read the context.
        for name in ("_secret_names", "_judge"):
            setattr(write, name, self._clocked("gate", getattr(write, name)))
        for name in ("_recent", "_corroboration"):
            setattr(write, name, self._clocked("statements", getattr(write, name)))
        embeddings.embed = self._clocked("embedding", embeddings.embed)

    def run(self, partition: str) -> None:
        """Write the facts once and note where the time went."""
        items = _items(self.facts, partition)
        self._spent = dict.fromkeys(self._spent, 0.0)
        outcomes: list[Any] = []
        whole = timed(lambda: outcomes.extend(write.write_facts(items, access=self.access)))
        assert all(isinstance(one, Written) and one.decision == "added" for one in outcomes)
        gate = self._spent["gate"] - self._spent["statements"]
        self.gate.append(gate)
        self.embedding.append(self._spent["embedding"])
        self.database.append(whole - gate - self._spent["embedding"])

    def forget(self) -> None:
        """Forget the warm-up."""
        for one in (self.database, self.gate, self.embedding):
            one.clear()

    def _clocked(self, name: str, work: Any) -> Any:

        def clocked(*args: Any, **named: Any) -> Any:
            began = perf_counter()
            try:
                return work(*args, **named)
            finally:
                self._spent[name] += perf_counter() - began

        return clocked


class Bare:
    """The same rows without the write path: read back once, then put again under new ids."""

    def __init__(self, access: Access, facts: list[dict[str, Any]]) -> None:

        self.access = access
        write.write_facts(_items(facts, "model"), access=access)
        self.columns: dict[str, list[tuple[str, str]]] = {}
        self.model = {table: self._read(table) for table in TABLES}
        self.partition_id = access.partition_id("model")
        self._sessions = self._select(
            "SELECT id, external_id FROM session WHERE partition_id = %s", [self.partition_id]
        )

    def rows(self, partition: str) -> dict[str, list[list[Any]]]:
        """Return the rows for another partition, which is made with its sessions; not timed."""
        access, partition_id = self.access, self.access.partition_id(partition)
        fresh: dict[Any, UUID] = {self.partition_id: partition_id}
        with workspace_scope(access.workspace_id):
            cur = cursor()
            cur.execute(
                "INSERT INTO partition (id, workspace_id, name) VALUES (%s, %s, %s)",
                [partition_id, access.workspace_id, partition],
            )
            for old, name in self._sessions:
                fresh[old] = canonical.session_id(access.workspace_id, partition_id, name)
                cur.execute(
                    """INSERT INTO session (id, workspace_id, partition_id, external_id)
                       VALUES (%s, %s, %s, %s)""",
                    [fresh[old], access.workspace_id, partition_id, name],
                )
        now = datetime.now(UTC)
        names = [name for name, _ in self.columns["memory_record"]]
        record, slot = names.index("id"), names.index("slot_id")
        for row in self.model["memory_record"]:
            fresh[row[record]] = uuid7(now)
            fresh.setdefault(row[slot], uuid7(now))
        return {
            table: [
                [fresh.get(cell, cell) if type(cell) is UUID else cell for cell in row]
                for row in self.model[table]
            ]
            for table in TABLES
        }

    def run(self, rows: dict[str, list[list[Any]]]) -> None:
        """Put the rows: one transaction, and its commit."""
        with workspace_scope(self.access.workspace_id):
            cur = cursor()
            for table in TABLES:
                columns = self.columns[table]
                names = ", ".join(name for name, _ in columns)
                cur.execute(
                    f"""CREATE TEMPORARY TABLE IF NOT EXISTS bare_{table}
                        ({", ".join(f"{name} {kind}" for name, kind in columns)})
                        ON COMMIT DELETE ROWS"""
                )
                with cur.copy(f"COPY bare_{table} ({names}) FROM STDIN (FORMAT BINARY)") as copy:
                    copy.set_types([kind for _, kind in columns])
                    for row in rows[table]:
                        copy.write_row(row)
                cur.execute(f"INSERT INTO {table} ({names}) SELECT {names} FROM bare_{table}")

    def _read(self, table: str) -> list[tuple[Any, ...]]:

        left_out = GENERATED.get(table, ())
        columns = self._select(
            """SELECT attname, format_type(atttypid, NULL) FROM pg_attribute
               WHERE attrelid = %s::regclass AND attnum > 0 AND NOT attisdropped
                 AND attgenerated = '' ORDER BY attnum""",
            [table],
        )
        self.columns[table] = [one for one in columns if one[0] not in left_out]
        names = ", ".join(name for name, _ in self.columns[table])
        rows = self._select(
            f"SELECT {names} FROM {table} WHERE partition_id = %s",
            [self.access.partition_id("model")],
        )
        return [
            tuple(
                Jsonb(cell) if kind == "jsonb" else cell
                for cell, (_, kind) in zip(row, self.columns[table], strict=True)
            )
            for row in rows
        ]

    def _select(self, statement: str, parameters: list[Any]) -> list[tuple[Any, ...]]:

        with workspace_scope(self.access.workspace_id):
            cur = cursor()
            cur.execute(statement, parameters)
            return list(cur.fetchall())


def _items(facts: list[dict[str, Any]], partition: str) -> list[WriteItem]:
    found = [read_item({**fact, "partition": partition}) for fact in facts]
    return [one for one in found if isinstance(one, WriteItem)]


def _body(facts: list[dict[str, Any]], partition: str) -> bytes:
    return dumps({"items": [{**fact, "partition": partition} for fact in facts]})


if __name__ == "__main__":
    sys.exit(main())
