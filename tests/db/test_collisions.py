"""Writers in each other's way, and what a batch costs: bounded attempts, constant statements."""

from __future__ import annotations

import threading
import time
from dataclasses import replace
from datetime import timedelta
from typing import Any

import psycopg
import pytest
from django.conf import settings
from django.db import connections, transaction

from memconsole.database import connection_arguments
from records import scope
from records.access import Access
from records.items import WriteItem, Written
from records.models import Claim, Event, MemoryRecord
from records.scope import retried, workspace_scope
from records.write import write_facts

from .test_write import NOW, fact, put, record


def slots(access: Access) -> list[str]:
    with workspace_scope(access.workspace_id):
        rows = MemoryRecord.objects.order_by("slot_id").values_list("slot_id", flat=True)
        return [str(one) for one in rows]


def lock(connection: psycopg.Connection[Any], slot: str) -> None:
    connection.execute("SELECT 1 FROM slot WHERE id = %s FOR UPDATE", [slot])


def test_deadlock_with_another_transaction_costs_an_attempt_and_no_fact(access: Access) -> None:
    items = [fact(subject=name, value="Acme") for name in ("Ada", "Ben")]
    write_facts(items, access=access, now=NOW)
    first, last = slots(access)
    results: list[Any] = []

    def write() -> None:
        try:
            again = [replace(item, value="Helio") for item in items]
            results.extend(write_facts(again, access=access, now=NOW + timedelta(days=1)))
        except BaseException as error:  # noqa: BLE001 - looked at below
            results.append(error)
        finally:
            connections.close_all()

    arguments = connection_arguments(settings.DATABASES["owner"])
    arguments.pop("options", None)
    with psycopg.connect(**arguments) as other:
        lock(other, last)
        writer = threading.Thread(target=write)
        writer.start()
        while not other.execute("SELECT 1 FROM pg_locks WHERE NOT granted").fetchone():
            time.sleep(0.01)
        # The writer holds the first slot and waits for the last: now the circle closes, and
        # the one that has waited longer is undone.
        lock(other, first)
        other.commit()
    writer.join()
    assert [r.decision if isinstance(r, Written) else r for r in results] == ["updated"] * 2
    with workspace_scope(access.workspace_id):
        assert MemoryRecord.objects.count() == 4
        assert Event.objects.filter(action="record.updated").count() == 2
        assert Claim.objects.count() == 4


def test_attempts_are_bounded_and_made_by_the_outermost_act_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(scope, "PAUSE_SECONDS", 0.001)
    tried: list[str] = []

    @retried
    def act(state: str) -> None:
        tried.append(state)
        raise psycopg.errors.lookup(state)

    for state in ("40P01", "40001", "55P03"):
        tried.clear()
        with pytest.raises(psycopg.errors.lookup(state)):
            act(state)
        assert len(tried) == scope.ATTEMPTS
    for state in ("23505", "57P01", "22003"):
        tried.clear()
        with pytest.raises(psycopg.errors.lookup(state)):
            act(state)
        assert len(tried) == 1
    tried.clear()
    with pytest.raises(psycopg.errors.DeadlockDetected), transaction.atomic():
        act("40P01")
    assert len(tried) == 1


class Sent:
    """Statements that any psycopg cursor has executed or copied."""

    count = 0


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> type[Sent]:
    real_execute, real_copy = psycopg.Cursor.execute, psycopg.Cursor.copy

    def execute(self: Any, *args: Any, **named: Any) -> Any:
        Sent.count += 1
        return real_execute(self, *args, **named)

    def copy(self: Any, *args: Any, **named: Any) -> Any:
        Sent.count += 1
        return real_copy(self, *args, **named)

    monkeypatch.setattr(psycopg.Cursor, "execute", execute)
    monkeypatch.setattr(psycopg.Cursor, "copy", copy)
    return Sent


def varied(count: int, *, word: str, day: int = 0) -> list[WriteItem]:
    """Facts of every kind: one-valued, many-valued, derived, with changed sentences, late."""
    seen = NOW + timedelta(days=day)
    found = []
    for i in range(count):
        one = fact(subject=f"P{i}", session=f"s{i % 7}", observed_at=seen)
        kind = i % 5
        if kind == 0:
            one = replace(one, value=f"{word} {i}")
        elif kind == 1:
            one = replace(one, predicate="allergy", value=f"thing {i}", content=f"{word} {i}")
        elif kind == 2:
            one = replace(one, predicate="allergy", value=f"thing {i}", source="f", content=word,
                          source_key=f"{i}")  # fmt: skip
        elif kind == 3:
            one = replace(one, predicate="address", value=f"{i} {word} Road, Leeds")
        else:
            one = replace(one, value=f"{word} {i}", observed_at=seen - timedelta(days=90))
        found.append(one)
    return found


def test_a_batch_of_a_thousand_sends_as_many_statements_as_one_of_two_hundred(
    counted: type[Sent], access: Access, stranger: Access
) -> None:
    sent: dict[int, list[int]] = {}
    for count, owner in ((200, access), (1_000, stranger)):
        put(owner, fact())  # what a workspace needs once is there
        sent[count] = []
        for day, word in ((0, "Elm"), (0, "Elm"), (100, "Quay"), (-50, "Hill")):
            before = counted.count
            results = write_facts(
                varied(count, word=word, day=min(day, 0)),
                access=owner,
                now=NOW + timedelta(days=max(day, 0)),
            )
            assert all(isinstance(r, Written) for r in results)
            sent[count].append(counted.count - before)
    assert sent[200] == sent[1_000]
    assert max(sent[200]) < 45


def test_sentences_that_a_source_refreshes_in_one_batch_are_each_its_own(access: Access) -> None:
    items = [
        fact(subject=f"P{i}", predicate="allergy", value="kiwi", source="f", source_key=str(i),
             content=f"first {i}")
        for i in range(50)
    ]  # fmt: skip
    first = write_facts(items, access=access, now=NOW)
    again = [replace(item, content=f"second {i}") for i, item in enumerate(items)]
    write_facts(again, access=access, now=NOW + timedelta(days=1))
    for i, one in enumerate(first):
        assert isinstance(one, Written)
        row = record(access, one)
        assert (row.content, row.version, row.embedding is None) == (f"second {i}", 2, False)


@pytest.mark.parametrize("table", ["event", "claim", "session_totals", "memory_record"])
def test_write_that_the_database_breaks_off_leaves_nothing(
    access: Access, table: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whichever statement fails, the whole request is undone; the next one works."""
    real = psycopg.Cursor.execute

    def breaking(self: Any, query: Any, *args: Any, **named: Any) -> Any:
        if f"INSERT INTO {table} " in str(query):
            return real(self, "SELECT 1 / 0")
        return real(self, query, *args, **named)

    put(access, fact(subject="Zoe"))
    with monkeypatch.context() as broken:
        broken.setattr(psycopg.Cursor, "execute", breaking)
        with pytest.raises(Exception, match="division by zero"):
            write_facts([fact(), fact(value="Helio", session="new")], access=access, now=NOW)
    with workspace_scope(access.workspace_id):
        assert MemoryRecord.objects.count() == Claim.objects.count() == 1
        assert Event.objects.filter(action__startswith="record.").count() == 1
    assert put(access, fact(session="new")).decision == "added"
