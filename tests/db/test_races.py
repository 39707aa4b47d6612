"""Writers at the same moment, on real connections: the database keeps the promises."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from threading import Barrier

from django.db import connections

from records import curate
from records.access import Access
from records.domain.canonical import session_id
from records.items import WriteItem, Written
from records.models import Event, MemoryRecord, Tally
from records.scope import workspace_scope
from records.write import write_facts

from .test_write import NOW, fact, put

WRITERS = 32


def at_once(act: Callable[[int], list[Written]], writers: int = WRITERS) -> list[Written]:
    """Run ``act`` in so many threads that all start together, each on its own connection."""
    gate = Barrier(writers)

    def one(place: int) -> list[Written]:
        try:
            gate.wait()
            return act(place)
        finally:
            connections.close_all()

    with ThreadPoolExecutor(writers) as pool:
        return [result for found in pool.map(one, range(writers)) for result in found]


def write(access: Access, items: list[WriteItem]) -> list[Written]:
    results = write_facts(items, access=access, now=NOW)
    assert all(isinstance(r, Written) for r in results)
    return [r for r in results if isinstance(r, Written)]


def test_identical_writes_at_once_are_one_record(access: Access) -> None:
    results = at_once(lambda i: write(access, [fact(session=f"s{i}")]))
    assert Counter(r.decision for r in results) == {"added": 1, "reinforced": WRITERS - 1}
    with workspace_scope(access.workspace_id):
        (record,) = MemoryRecord.objects.filter(workspace_id=access.workspace_id)
        tally = Tally.objects.get(record_id=record.id)
    assert (tally.seen_count, tally.sessions, record.corroboration) == (WRITERS, WRITERS, 8)
    assert sorted(r.seen_count for r in results) == list(range(1, WRITERS + 1))


def test_contradictory_writes_at_once_leave_one_live_record_and_a_chain(access: Access) -> None:
    at_once(lambda i: write(access, [fact(value=f"Company {i}", session=f"s{i}")]))
    with workspace_scope(access.workspace_id):
        rows = {r.id: r for r in MemoryRecord.objects.filter(workspace_id=access.workspace_id)}
    (live,) = [r for r in rows.values() if r.status == "active"]
    assert len(rows) == WRITERS
    # Every record leads to the live one: a single chain without a loop.
    pointed = Counter(r.superseded_by for r in rows.values() if r.superseded_by)
    assert set(pointed.values()) == {1}
    assert len(pointed) == WRITERS - 1
    length, at = 1, live.id
    before = {r.superseded_by: r.id for r in rows.values()}
    while at in before:
        length, at = length + 1, before[at]
    assert length == WRITERS


def test_batches_that_overlap_in_opposite_orders_do_not_deadlock(access: Access) -> None:
    items = [fact(predicate="allergy", value=f"thing {i}") for i in range(60)]
    items += [fact(subject=f"P{i}", value=f"Company {i}") for i in range(60)]

    def act(place: int) -> list[Written]:
        mine = items if place % 2 else items[::-1]
        return write(access, [fact_of(item, f"s{place}") for item in mine])

    results = at_once(act, 8)
    assert Counter(r.decision for r in results) == {"added": 120, "reinforced": 7 * 120}


def fact_of(item: WriteItem, session: str) -> WriteItem:
    from dataclasses import replace

    return replace(item, session=session)


def test_one_address_written_at_once_holds_one_live_fact(access: Access) -> None:
    def act(place: int) -> list[Written]:
        item = fact(
            predicate="allergy", value=f"thing {place}", source="clinic", source_key="ada/1"
        )
        return write(access, [item])

    at_once(act, 16)
    with workspace_scope(access.workspace_id):
        live = MemoryRecord.objects.filter(workspace_id=access.workspace_id, status="active")
        assert live.count() == 1


def test_evicting_while_others_write_loses_nothing(access: Access) -> None:
    bad = [
        put(access, fact(predicate="allergy", value=f"bad {i}", session="bad")) for i in range(20)
    ]
    session = session_id(access.workspace_id, access.partition_id("ada"), "bad")

    def act(place: int) -> list[Written]:
        if place == 0:
            curate.evict([b.id for b in bad], "poison", access=access, session_id=session)
            return []
        items = [
            fact(predicate="allergy", value=f"good {place} {i}", session=f"s{place}")
            for i in range(20)
        ]
        return write(access, [*items, fact(predicate="allergy", value="bad 3", session="bad")])

    at_once(act, 8)
    with workspace_scope(access.workspace_id):
        live = MemoryRecord.objects.filter(workspace_id=access.workspace_id, status="active")
        assert live.filter(value__startswith="good").count() == 7 * 20
        assert live.filter(value__startswith="bad").count() == 0
        evicted = Event.objects.filter(workspace_id=access.workspace_id, action="record.evicted")
        assert evicted.count() == 20


def test_two_workspaces_interleaved_never_cross(access: Access, stranger: Access) -> None:
    def act(place: int) -> list[Written]:
        mine = access if place % 2 else stranger
        name = "mine" if place % 2 else "theirs"
        found: list[Written] = []
        for i in range(60):
            found += write(mine, [fact(predicate="allergy", value=f"{name} {place} {i}")])
        return found

    at_once(act, 8)
    for one, name in ((access, "mine"), (stranger, "theirs")):
        with workspace_scope(one.workspace_id):
            values = [r.value for r in MemoryRecord.objects.all()]
        assert len(values) == 240
        assert all(v.startswith(name) for v in values)


def test_approving_and_contradicting_at_once_leaves_one_live(access: Access) -> None:
    put(access, fact(value="Acme", confidence=0.9))
    held = put(access, fact(value="Helio", confidence=0.6))

    def act(place: int) -> list[Written]:
        if place == 0:
            curate.approve(held.id, access=access, now=NOW + timedelta(seconds=1))
            return []
        return write(access, [fact(value=f"Company {place}", confidence=0.9)])

    at_once(act, 8)
    with workspace_scope(access.workspace_id):
        live = MemoryRecord.objects.filter(workspace_id=access.workspace_id, status="active")
        assert live.count() == 1
