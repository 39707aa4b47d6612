"""Clients that write until they are heard, and what must be true of the store they wrote to.

Each request carries an ``Idempotency-Key`` and is sent again until it is
answered: whatever was killed meanwhile, its facts count exactly once.
"""

from __future__ import annotations

import http.client
import json
import random
import threading
import time
import urllib.error
import urllib.request
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import psycopg

PARTITIONS = ("ada", "ben")
NOT_YET = (http.client.HTTPException, urllib.error.URLError, OSError)
HEARD_WITHIN = 90.0  # seconds for one request, however often the server dies meanwhile


@dataclass
class Clients:
    """Threads that write facts with one key, and what they were told of them."""

    url: str
    key: str
    writes: int  # facts that must be acknowledged before the clients stop
    seed: int = 1
    acknowledged: list[tuple[dict[str, Any], dict[str, Any]]] = field(default_factory=list)
    errors: list[BaseException] = field(default_factory=list)
    retries: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _threads: list[threading.Thread] = field(default_factory=list)

    def start(self, count: int = 4) -> None:
        for number in range(count):
            thread = threading.Thread(target=self._run, args=(number,), daemon=True)
            self._threads.append(thread)
            thread.start()

    def wait_for(self, acknowledged: int) -> None:
        """Return when so many facts are acknowledged, or the clients have ended."""
        while len(self.acknowledged) < acknowledged and any(t.is_alive() for t in self._threads):
            time.sleep(0.01)

    def join(self) -> None:
        for thread in self._threads:
            thread.join()
        if self.errors:
            raise self.errors[0]

    def _run(self, number: int) -> None:
        chance = random.Random(f"{self.seed}/{number}")
        try:
            for step in range(10_000):
                if len(self.acknowledged) >= self.writes:
                    return
                items = list(_facts(chance, number, step))
                answers = self._send(f"{self.seed}-{number}-{step}", items)
                with self._lock:
                    self.acknowledged += zip(items, answers, strict=True)
        except BaseException as error:  # noqa: BLE001 - told by the thread that joins
            self.errors.append(error)

    def _send(self, name: str, items: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Send one request until it is answered."""
        single = len(items) == 1
        path = "memories" if single else "memories/batch"
        body = json.dumps(items[0] if single else {"items": items}).encode()
        deadline = time.monotonic() + HEARD_WITHIN
        while True:
            request = urllib.request.Request(
                f"{self.url}/api/v1/{path}",
                data=body,
                headers={
                    "Authorization": f"Bearer {self.key}",
                    "Content-Type": "application/json",
                    "Idempotency-Key": name,
                },
            )
            try:
                with urllib.request.urlopen(request, timeout=15) as response:
                    answer = json.load(response)
                return [answer] if single else list(answer["results"])
            except urllib.error.HTTPError as error:
                # 409: the killed request is still there; everything else under 500 is a fault.
                if error.code < 500 and error.code != 409:
                    raise AssertionError(f"{error.code}: {error.read()!r}") from error
            except (*NOT_YET, ValueError):
                pass
            self.retries += 1
            assert time.monotonic() < deadline, f"{name} was never heard"
            time.sleep(0.2)


def _facts(chance: random.Random, number: int, step: int) -> Iterator[dict[str, Any]]:
    """Return one request: new facts, contradictions in shared slots, and shared repeats."""
    for place in range(chance.choice((1, 1, 1, 12))):
        common = {"partition": chance.choice(PARTITIONS), "session": f"s{number}"}
        kind = chance.random()
        if kind < 0.5:
            subject, predicate, value = f"T{number}", "allergy", f"thing {number} {step} {place}"
        elif kind < 0.8:
            subject, predicate = f"P{chance.randrange(5)}", "employer"
            value = f"Company {chance.randrange(40)}"
        else:
            subject, predicate, value = "All", "allergy", f"common {chance.randrange(3)}"
        fact = {**common, "subject": subject, "predicate": predicate, "value": value}
        if chance.random() < 0.2:
            fact |= {"source": "feed", "source_key": f"{number}/{chance.randrange(30)}"}
        yield fact


NEVER = {
    "a record without a claim": """
        SELECT r.id FROM memory_record r
        WHERE NOT EXISTS (SELECT 1 FROM claim c WHERE c.record_id = r.id)""",
    "a record without its events": """
        SELECT r.id FROM memory_record r WHERE NOT EXISTS (
            SELECT 1 FROM event e WHERE e.target_id = r.id AND e.workspace_id = r.workspace_id
              AND e.action LIKE 'record.%')""",
    "an event about a record that is not there": """
        SELECT e.id FROM event e WHERE e.target_kind = 'record'
          AND NOT EXISTS (SELECT 1 FROM memory_record r WHERE r.id = e.target_id)""",
    "a superseded record whose replacement told nobody": """
        SELECT r.id FROM memory_record r WHERE r.status = 'superseded' AND NOT EXISTS (
            SELECT 1 FROM event e WHERE e.target_id = r.id
              AND e.action IN ('record.superseded', 'record.late'))""",
    "a superseded record without its successor": """
        SELECT r.id FROM memory_record r LEFT JOIN memory_record n ON n.id = r.superseded_by
        WHERE r.status = 'superseded' AND n.id IS NULL""",
    "a live record that was not believed, or a past one that still is": """
        SELECT r.id FROM memory_record r
        WHERE (r.status = 'active') <> (r.believed @> now())""",
    "two live records in a one-valued slot": """
        SELECT slot_id FROM memory_record WHERE status = 'active' AND cardinality = 'one'
        GROUP BY slot_id HAVING count(*) > 1""",
    "two live rows of one fact": """
        SELECT fingerprint FROM memory_record WHERE status IN ('active', 'quarantined')
        GROUP BY partition_id, fingerprint HAVING count(*) > 1""",
    "a slot of which nothing is live": """
        SELECT slot_id FROM memory_record GROUP BY slot_id
        HAVING bool_and(status = 'superseded')""",
    "a tally that is not the sum of its claims": """
        SELECT r.id FROM memory_record r LEFT JOIN tally t ON t.record_id = r.id,
               LATERAL (SELECT sum(c.count) AS said, max(c.last_at) AS last_at FROM claim c
                        WHERE c.record_id = r.id AND c.state = 'live') c
        WHERE coalesce(t.seen_count, 1) <> greatest(c.said, 1)
           OR t.last_seen <> c.last_at""",
    "a record, claim or session outside its partition's rows": """
        SELECT c.record_id FROM claim c JOIN memory_record r ON r.id = c.record_id
        WHERE (c.workspace_id, c.partition_id) <> (r.workspace_id, r.partition_id)""",
    "an address that does not hold what names it": """
        SELECT a.id FROM address a LEFT JOIN memory_record r ON r.id = a.record_id
        WHERE a.record_id IS NOT NULL AND r.id IS NULL""",
    "a kept request without its answer": """
        SELECT id FROM idempotency_key WHERE status IS NULL""",
    "session totals that do not add up": """
        SELECT session_id FROM session_totals WHERE writes <> added + reinforced + updated
            + contested + echoed + late + fenced + quarantined + rejected""",
}


def check_whole(connection: psycopg.Connection[Any]) -> None:
    """Assert that nothing in the store is half-written."""
    for fault, statement in NEVER.items():
        found = connection.execute(statement).fetchall()  # type: ignore[arg-type]
        assert not found, f"{fault}: {found[:5]}"


def check_counted_once(connection: psycopg.Connection[Any], clients: Clients) -> None:
    """Assert that every acknowledged write is there, and that each counted exactly once."""
    answers = [answer for _, answer in clients.acknowledged]
    ids = {answer["id"] for answer in answers if answer["id"]}
    there = connection.execute(
        "SELECT id::text, fingerprint FROM memory_record WHERE id = ANY(%s::uuid[])", [list(ids)]
    ).fetchall()
    assert {row[0] for row in there} == ids
    prints = dict(there)
    assert all(prints[a["id"]] == a["fingerprint"] for a in answers if a["id"])

    claimed = connection.execute(
        """SELECT c.record_id::text, s.external_id, sum(c.count + c.echoes) FROM claim c
           JOIN session s ON s.id = c.session_id GROUP BY 1, 2"""
    ).fetchall()
    expected = Counter(
        (answer["id"], fact["session"]) for fact, answer in clients.acknowledged if answer["id"]
    )
    assert {(row[0], row[1]): row[2] for row in claimed} == dict(expected)

    decisions = Counter(answer["decision"] for answer in answers)
    assert "invalid" not in decisions
    totals = connection.execute(
        f"SELECT {', '.join(f'coalesce(sum({d}), 0)' for d in decisions)} FROM session_totals"  # type: ignore[arg-type]
    ).fetchone()
    assert totals is not None
    assert dict(zip(decisions, totals, strict=True)) == dict(decisions)
    told = connection.execute(
        """SELECT substr(action, 8), sum(count) FROM event
           WHERE actor_kind = 'key' AND action = ANY(%s) GROUP BY 1""",
        [[f"record.{decision}" for decision in decisions]],
    ).fetchall()
    assert {row[0]: row[1] for row in told} == dict(decisions)
