"""The charts' counts: exact whether folded or not, folded once, in days of the workspace's zone."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4
from zoneinfo import ZoneInfo

import pytest
from django.db import connection, connections, transaction
from django.utils import timezone

from audits import jobs, measures, rollups
from audits.domain.figures import SPANS, steps_of
from audits.models import Rollup, RollupProgress
from audits.queries.rollups import Series, load_series, wait_for_writers
from audits.seals import seal_now
from records import curate, events
from records.access import Access
from records.domain.facts import HoldReason
from records.events import Happening
from records.jobs.runs import perform
from records.queries import cursor
from records.scope import workspace_scope
from tests import factories
from tests.db.trail import own_keys, superuser

from .test_write import NOW, fact, put

__all__ = ["own_keys"]
DAY = steps_of(SPANS["24h"], ZoneInfo("UTC"), datetime.now(UTC) + timedelta(minutes=30))
ALL = ("write", "flow", "hit", "recall", "served", "level")


def run(access: Access) -> None:
    seal_now(access.workspace_id)
    perform(jobs.ROLLUPS, access.workspace_id, rollups.keep_counts)


def read(access: Access, kinds: Sequence[str] = ALL, **more: Any) -> Series:
    with workspace_scope(access.workspace_id):
        return load_series(kinds, more.pop("steps", DAY), workspace_id=access.workspace_id, **more)


def totals(access: Access) -> dict[tuple[str, str], int]:
    return {key: sum(n) for key, n in read(access).numbers.items() if key[0] != "level"}


def rows(access: Access) -> list[tuple[str, datetime, str, int]]:
    with workspace_scope(access.workspace_id):
        return list(
            Rollup.objects.filter(workspace_id=access.workspace_id)
            .exclude(kind="level")
            .order_by("kind", "at", "label")
            .values_list("kind", "at", "label", "number")
        )


def nodes(plan: dict[str, Any]) -> list[dict[str, Any]]:
    return [plan, *(node for one in plan.get("Plans", []) for node in nodes(one))]


def add_recall(access: Access, at: datetime, micros: int = 900, served: int = 2) -> UUID:
    """Insert one line of the log, in the transaction at hand or one of its own."""
    found = uuid4()
    partition = factories.make_partition(access, "ada")
    with workspace_scope(access.workspace_id), connection.cursor() as cur:
        cur.execute(
            """INSERT INTO recall (id, at, workspace_id, partition_id, session_id, actor, query,
                   parameters, served_count, micros)
               VALUES (%s, %s, %s, %s, NULL, 'test', 'q', '{}', %s, %s)""",
            [found, at, access.workspace_id, partition, served, micros],
        )
    return found


def busy(access: Access) -> None:
    """Write, restate, hold, decide."""
    one = put(access, fact(value="Acme"), NOW)
    put(access, fact(value="Acme", session="s2"), NOW)
    other = put(access, fact(predicate="city", value="Hull"), NOW)
    assert one.id
    assert other.id
    curate.hold([one.id, other.id], HoldReason.MANUAL, access=access)
    curate.approve(one.id, access=access)
    curate.reject([other.id], "wrong", access=access)


def test_counts_are_the_same_before_and_after_folding(access: Access, stranger: Access) -> None:
    busy(access)
    before = totals(access)
    assert before["write", "added"] == 2
    assert before["write", "reinforced"] == 1
    assert before["flow", "held"] == 2
    assert before["flow", "decided"] == 2
    assert ("write", "rejected") not in before  # a person's rejection is no write
    run(access)
    assert rows(access)
    assert totals(access) == before
    busy_again = put(access, fact(predicate="likes", value="tea"), NOW)
    assert busy_again.id
    assert totals(access)["write", "added"] == 3
    assert totals(stranger) == {}
    run(stranger)
    assert rows(stranger) == []


def test_second_run_changes_nothing(access: Access) -> None:
    busy(access)
    add_recall(access, timezone.now() - timedelta(hours=2))
    run(access)
    perform(jobs.MEASURES, access.workspace_id, measures.measure)
    run(access)
    before = rows(access)
    assert ("recall", "0") in {(kind, label) for kind, _, label, _ in before}
    run(access)
    assert rows(access) == before


def test_two_runs_at_once_count_once(access: Access) -> None:
    busy(access)
    add_recall(access, timezone.now() - timedelta(hours=2))
    before = totals(access)
    seal_now(access.workspace_id)
    errors: list[Exception] = []
    ready = threading.Barrier(2)

    def fold() -> None:
        try:
            ready.wait()
            with workspace_scope(access.workspace_id):
                while rollups.fold_events(access.workspace_id):
                    pass
            with workspace_scope(access.workspace_id):
                wait_for_writers(access.workspace_id)
            with workspace_scope(access.workspace_id):
                rollups.fold_log(access.workspace_id)
        except Exception as error:  # noqa: BLE001 (told to the test below)
            errors.append(error)
        finally:
            connections.close_all()

    threads = [threading.Thread(target=fold) for _ in range(2)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert errors == []
    assert totals(access) == before
    assert sum(number for kind, _, _, number in rows(access) if kind == "write") == 3


def test_writer_that_commits_late_is_counted(access: Access) -> None:
    """An event and a recall of a transaction that outlives the fold are not lost."""
    put(access, fact(value="Acme"), NOW)
    factories.make_partition(access, "ada")
    begun, go_on = threading.Event(), threading.Event()

    def write_slowly() -> None:
        try:
            with transaction.atomic():
                add_recall(access, timezone.now() - timedelta(hours=2))
                with workspace_scope(access.workspace_id):
                    events.append([Happening("record.added", "record")], access=access)
                begun.set()
                go_on.wait(30)
        finally:
            connections.close_all()

    writer = threading.Thread(target=write_slowly)
    writer.start()
    assert begun.wait(30)
    put(access, fact(predicate="city", value="Hull"), NOW)
    run(access)
    run(access)
    assert totals(access)["write", "added"] == 2
    go_on.set()
    writer.join()
    assert totals(access)["write", "added"] == 3
    assert totals(access)["recall", "0"] == 1
    run(access)
    run(access)
    assert totals(access)["write", "added"] == 3
    assert totals(access)["recall", "0"] == 1
    with workspace_scope(access.workspace_id):
        progress = RollupProgress.objects.get(workspace_id=access.workspace_id)
    assert progress.log_through is not None
    assert sum(n for kind, _, _, n in rows(access) if kind == "recall") == 1


def test_recalls_are_counted_by_latency_folded_or_not(access: Access) -> None:
    now = timezone.now()
    for micros in (400, 999, 1_000, 80_000, 9_000_000):
        add_recall(access, now - timedelta(hours=3), micros)
    add_recall(access, now, 400)
    before = totals(access)
    assert before["recall", "0"] == 3
    assert before["recall", "1"] == 1
    assert before["recall", "11"] == 1
    assert before["recall", "19"] == 1
    assert before["served", "facts"] == 12
    run(access)
    assert totals(access) == before


def test_days_are_those_of_the_zone_with_its_half_hours(access: Access) -> None:
    """On 5 April 2026 Lord Howe puts its clocks back by 30 minutes: a day of 24.5 hours."""
    zone = ZoneInfo("Australia/Lord_Howe")
    steps = steps_of(SPANS["7d"], zone, datetime(2026, 4, 7, 3, tzinfo=UTC))
    long = steps.names.index("Sun 05 Apr")
    start, end = steps.pairs[long]
    assert end - start == timedelta(hours=24, minutes=30)
    for at in (start - timedelta(seconds=1), start, end - timedelta(seconds=1), end):
        add_recall(access, at)
    live = read(access, ["recall"], steps=steps).of("recall", "0")
    assert live[long - 1 : long + 2] == [1, 2, 1]
    run(access)
    folded = read(access, ["recall"], steps=steps).of("recall", "0")
    assert folded == live
    assert len(rows(access)) == 2 * 4  # each in a bucket of its own: none straddles a midnight


def test_page_reads_counts_in_one_statement_and_not_the_history(access: Access) -> None:
    busy(access)
    run(access)
    with superuser() as hand:
        hand.execute(
            """INSERT INTO rollup (workspace_id, kind, at, label, number)
               SELECT %s, 'write', date_bin('15 minutes', now(), '2000-01-01 00:00:00+00'::timestamptz)
                   - n * interval '15 minutes', label, 5
               FROM generate_series(10, 30000) n, unnest(ARRAY['added', 'late']) AS label
               ON CONFLICT DO NOTHING""",
            [access.workspace_id],
        )
        hand.execute("ANALYZE rollup")
    steps = steps_of(SPANS["24h"], ZoneInfo("UTC"), timezone.now())
    with workspace_scope(access.workspace_id):
        cur = cursor()
        plan = cur.execute(
            """EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) SELECT sum(number) FROM rollup
               WHERE workspace_id = %s AND kind = 'write' AND at >= %s AND at < %s""",
            [access.workspace_id, steps.bounds[0], steps.bounds[-1]],
        ).fetchone()
    assert plan is not None
    scans = [node for node in nodes(plan[0][0]["Plan"]) if node.get("Index Name")]
    assert [node["Index Name"] for node in scans] == ["rollup_pkey"]
    assert scans[0]["Actual Rows"] < 300


def test_tail_is_bounded_and_says_so(access: Access) -> None:
    for number in range(4):
        put(access, fact(predicate="likes", value=f"tea {number}"), NOW)
    assert read(access, tail=3).is_cut
    run(access)
    found = read(access, tail=3)
    assert not found.is_cut
    assert found.counted_at
    assert sum(found.of("write", "added")) == 4


def test_rules_beyond_the_cap_are_counted_together(
    access: Access, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rollups, "LABELS_CAP", 2)
    with workspace_scope(access.workspace_id):
        for rule in ("b.two", "a.one", "c.three", "d.four", "a.one"):
            details = {"rules": [rule], "ruleset": "1"}
            events.append([Happening("record.added", "record", details=details)], access=access)
    run(access)
    counts = {label: sum(n) for (kind, label), n in read(access).numbers.items() if kind == "hit"}
    assert sum(counts.values()) == 5
    assert counts["other"] >= 2
    assert len(counts) == 3
