"""Evicting while writers and recalls run at full speed: nothing lost, nothing served after the commit."""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from django.db import connections

from audits import operations
from audits.domain.scope import Scope
from audits.operations import running
from audits.operations.running import perform_waiting
from records.access import Access
from records.items import Written
from records.models import Claim, Fence, MemoryRecord
from records.retrieve import RecallRequest, recall
from records.scope import workspace_scope
from records.write import write_facts

from .operating import again, poison, preview, session, statuses, submit
from .test_write import fact

COUNT = 60
WRITERS = 3


class Crowd:
    """Threads that do their work over and over until they are told to stop."""

    def __init__(self) -> None:
        self.stop = threading.Event()
        self.errors: list[BaseException] = []
        self.rounds = [0]
        self._threads: list[threading.Thread] = []

    def add(self, work: Callable[[int], None]) -> None:
        """Start a thread of this work."""
        self._threads.append(threading.Thread(target=self._run, args=(work,)))
        self._threads[-1].start()

    def end(self) -> None:
        """Let everybody finish; raise what went wrong."""
        self.stop.set()
        for thread in self._threads:
            thread.join()
        if self.errors:
            raise self.errors[0]

    def _run(self, work: Callable[[int], None]) -> None:
        number = 0
        try:
            while not self.stop.is_set():
                work(number)
                number += 1
                self.rounds[0] += 1
        except BaseException as error:  # noqa: BLE001 - told by the thread that waits
            self.errors.append(error)
        finally:
            connections.close_all()


def wait_until(crowd: Crowd, rounds: int) -> None:
    """Wait until the threads have done that many rounds together, or one has failed."""
    while crowd.rounds[0] < rounds and not crowd.errors:
        crowd.stop.wait(0.01)


def test_eviction_under_full_load_loses_nothing_and_serves_nothing_after_its_commit(
    access: Access, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running, "BATCH", 10)
    ids = set(poison(access, COUNT))
    shown = preview(access, Scope(session_ids=(session(access, "bad"),)))
    written: list[UUID] = []
    served_late: list[UUID] = []
    finished: list[datetime] = []
    crowd = Crowd()

    def write(number: int) -> None:
        # Good facts of their own, and the same claims as the poison's, at the same slots.
        name = f"w{threading.get_ident()}"
        now = datetime.now(UTC)
        items = [
            fact(predicate="likes", value=f"good {name} {number} {n}", session=name)
            for n in range(4)
        ]
        items.append(fact(predicate="likes", value=f"poison {number % COUNT}", session="bad"))
        for result in write_facts(items, access=access, now=now)[:4]:
            assert isinstance(result, Written)
            assert (result.decision, result.status) == ("added", "active")
            assert result.id is not None
            written.append(result.id)

    def ask(number: int) -> None:
        done_before = bool(finished)
        answer = recall(
            RecallRequest(partition="ada", query=f"poison {number % COUNT}", top_k=20),
            access=access,
        )
        if done_before:
            served_late.extend(item.id for item in answer.items if item.id in ids)

    for _ in range(WRITERS):
        crowd.add(write)
    for _ in range(2):
        crowd.add(ask)
    wait_until(crowd, 10)
    submit(access, shown)
    perform_waiting(access.workspace_id)
    finished.append(datetime.now(UTC))
    wait_until(crowd, crowd.rounds[0] + 30)
    crowd.end()

    done = again(access, shown)
    assert (done.state, done.changed, done.failed, done.skipped) == ("done", COUNT, 0, 0)
    assert set(statuses(access, sorted(ids))) == {"evicted"}
    assert served_late == []
    assert set(statuses(access, written)) == {"active"}
    with workspace_scope(access.workspace_id):
        assert Claim.objects.filter(record_id__in=written, state="live").count() == len(written)
        live = MemoryRecord.objects.filter(workspace_id=access.workspace_id, status="active")
        assert {one.id for one in live} == set(written)
        tried = Fence.objects.filter(record_id__in=ids, attempts__gt=0)
        assert tried.exists()
        assert operations.fences_of(done)["attempts"] == sum(one.attempts for one in tried)
    assert done.receipt["residue_total"] == 0


def test_two_workers_at_once_run_an_operation_once(
    access: Access, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running, "BATCH", 5)
    ids = poison(access, 30)
    shown = preview(access, Scope(session_ids=(session(access, "bad"),)))
    submit(access, shown)
    together(lambda: perform_waiting(access.workspace_id), 3)
    perform_waiting(access.workspace_id)
    done = again(access, shown)
    assert (done.state, done.changed) == ("done", 30)
    assert set(statuses(access, ids)) == {"evicted"}


def test_two_submissions_at_once_are_one(access: Access) -> None:
    poison(access, 3)
    shown = preview(access, Scope(session_ids=(session(access, "bad"),)))
    answers: list[str] = []

    def attempt() -> None:
        try:
            submit(access, shown)
            answers.append("queued")
        except operations.Refused:
            raise
        except Exception as error:  # noqa: BLE001 - which one is what the test asks
            answers.append(type(error).__name__)

    together(attempt, 4)
    assert sorted(answers) == ["Conflict"] * 3 + ["queued"]


def test_writer_between_the_preview_and_the_run_stops_it_or_is_left_alone(access: Access) -> None:
    """Whatever the moment, no fact of a session is taken out that the preview did not show."""
    poison(access, 5)
    shown = preview(access, Scope(session_ids=(session(access, "bad"),)))
    made: list[Any] = []

    def write() -> None:
        items = [fact(predicate="owns", value=f"late {n}", session="bad") for n in range(5)]
        made.extend(write_facts(items, access=access, now=datetime.now(UTC) + timedelta(0)))

    submit(access, shown)
    together(write, 1, beside=lambda: perform_waiting(access.workspace_id))
    assert set(statuses(access, [one.id for one in made])) == {"active"}
    assert again(access, shown).state in ("done", "drifted")


def together(
    work: Callable[[], None], count: int, *, beside: Callable[[], None] | None = None
) -> None:
    """Run the work in that many threads at once, each on a connection of its own."""
    barrier = threading.Barrier(count + (beside is not None))
    errors: list[BaseException] = []

    def run(one: Callable[[], None]) -> None:
        try:
            barrier.wait()
            one()
        except BaseException as error:  # noqa: BLE001 - told below
            errors.append(error)
        finally:
            connections.close_all()

    every = [work] * count + ([beside] if beside else [])
    threads = [threading.Thread(target=run, args=(one,)) for one in every]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]
