"""Runs of operations: killed, cancelled, tried again, two at once, with one bad record among many."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from django.db import IntegrityError

from audits import operations
from audits.domain.scope import Scope
from audits.jobs import OPERATIONS, PREVIEWS
from audits.models import Operation, OperationTarget
from audits.operations import acting, probing, running
from audits.operations.previewing import KEPT, tidy_previews
from audits.operations.running import perform_waiting, run_operations
from records.access import Access
from records.items import Conflict
from records.jobs import runs
from records.jobs.recover import recover_in
from records.jobs.runs import perform
from records.models import Event, JobRun, Serve
from records.scope import workspace_scope

from .operating import (
    again,
    evict,
    outcomes,
    poison,
    preview,
    run,
    session,
    statuses,
    submit,
    undo,
)
from .test_job_runs import grow_old
from .test_write import fact, put

SIZE = 3


@pytest.fixture(autouse=True)
def _small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "BATCH", SIZE)


def shown(access: Access, count: int = 8, name: str = "bad") -> tuple[Operation, list[UUID]]:
    ids = poison(access, count, name)
    return preview(access, Scope(session_ids=(session(access, name),))), ids


class Killed(BaseException):
    """A worker that dies where no handler runs."""


def kill_at(monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    """Let the worker die in the middle of its batch of that number, after the work is done."""
    real, seen = acting.act, [0]

    def act(*args: Any, **named: Any) -> Any:
        batch = real(*args, **named)
        seen[0] += 1
        if seen[0] == number:
            raise Killed
        return batch

    monkeypatch.setattr(running, "act", act)


def test_killed_workers_operation_goes_on_where_it_stopped(
    access: Access, monkeypatch: pytest.MonkeyPatch
) -> None:
    found, ids = shown(access)
    submit(access, found)
    with monkeypatch.context() as patch:
        kill_at(patch, 2)
        with pytest.raises(Killed):
            perform_waiting(access.workspace_id)
    half = again(access, found)
    assert (half.state, half.changed) == ("running", SIZE)
    assert sorted(statuses(access, ids)) == ["active"] * 5 + ["evicted"] * 3
    perform_waiting(access.workspace_id)  # its run is still claimed: nothing happens
    assert again(access, found).changed == SIZE
    grow_old(_run_id(access))
    queued: list[str] = []
    assert recover_in(access.workspace_id, queue=lambda job, _: queued.append(job.name)) == 1
    assert queued == ["operations"]
    perform_waiting(access.workspace_id)
    done = again(access, found)
    assert (done.state, done.changed, done.failed) == ("done", 8, 0)
    with workspace_scope(access.workspace_id):
        told = Event.objects.filter(
            action="record.evicted", details__operation=str(found.id)
        ).values_list("target_id", flat=True)
        assert sorted(told) == sorted(ids)


def test_slow_worker_that_was_replaced_can_do_no_more(
    access: Access, monkeypatch: pytest.MonkeyPatch
) -> None:
    found, ids = shown(access)
    submit(access, found)
    slow = runs.claim(OPERATIONS, access.workspace_id)
    assert slow is not None
    grow_old(slow.id)
    recover_in(access.workspace_id, queue=lambda job, _: None)
    perform_waiting(access.workspace_id)
    assert again(access, found).state == "done"
    with pytest.raises(runs.LostRunError):
        running._begin(slow, found.id)
    assert statuses(access, ids) == ["evicted"] * 8


def test_cancelling_between_batches_leaves_a_receipt_that_is_true(
    access: Access, monkeypatch: pytest.MonkeyPatch
) -> None:
    found, ids = shown(access)
    submit(access, found)
    real, seen = acting.act, [0]

    def act(operation: Operation, *args: Any, **named: Any) -> Any:
        seen[0] += 1
        if seen[0] == 2:
            operations.cancel(operation.id, access=access)
        return real(operation, *args, **named)

    with monkeypatch.context() as patch:
        patch.setattr(running, "act", act)
        perform_waiting(access.workspace_id)
    half = again(access, found)
    assert (half.state, half.changed, half.cancelled_by) == ("cancelled", 6, access.actor.name)
    assert half.receipt["outcomes"] == [["evicted", "", 6]]
    assert half.receipt["residue"]["by_id"] == 0
    assert sorted(statuses(access, ids)) == ["active"] * 2 + ["evicted"] * 6
    back = undo(access, half)
    assert (back.state, back.changed) == ("done", 6)
    assert statuses(access, ids) == ["active"] * 8


def test_cancelled_operation_can_be_taken_up_again(
    access: Access, monkeypatch: pytest.MonkeyPatch
) -> None:
    found, ids = shown(access)
    submit(access, found)
    with monkeypatch.context() as patch:
        kill_at(patch, 2)
        with pytest.raises(Killed):
            perform_waiting(access.workspace_id)
    operations.cancel(found.id, access=access)
    grow_old(_run_id(access))
    perform_waiting(access.workspace_id)
    half = again(access, found)
    assert (half.state, half.changed) == ("cancelled", SIZE)
    operations.retry(found.id, access=access, user_id=None)
    perform_waiting(access.workspace_id)
    done = again(access, found)
    assert (done.state, done.changed) == ("done", 8)
    assert statuses(access, ids) == ["evicted"] * 8
    with pytest.raises(Conflict):
        operations.retry(found.id, access=access, user_id=None)


def test_one_bad_record_does_not_take_its_neighbours_down(
    access: Access, monkeypatch: pytest.MonkeyPatch
) -> None:
    found, ids = shown(access)
    bad = ids[4]
    real = acting.act

    def act(operation: Operation, targets: Any, **named: Any) -> Any:
        batch = real(operation, targets, **named)
        if any(one == bad for one, _ in targets):
            raise IntegrityError("the database says no to a value of a record")
        return batch

    with monkeypatch.context() as patch:
        patch.setattr(running, "act", act)
        done = run(access, found)
    assert (done.state, done.changed, done.failed) == ("done", 7, 1)
    assert outcomes(access, done)[bad] == ("failed", "IntegrityError")
    assert statuses(access, [bad]) == ["active"]
    assert done.receipt["residue_total"] == 0
    operations.retry(done.id, access=access, user_id=None)
    perform_waiting(access.workspace_id)
    again_done = again(access, done)
    assert (again_done.changed, again_done.failed) == (8, 0)
    assert statuses(access, ids) == ["evicted"] * 8


def test_several_operations_of_a_workspace_are_taken_in_turn(access: Access) -> None:
    first, _ = shown(access, 4, "one")
    second = preview(access, Scope(record_ids=tuple(poison_of_two(access))))
    submit(access, first)
    submit(access, second)
    run_one = perform(OPERATIONS, access.workspace_id, run_operations)
    assert run_one is not None
    assert run_one.changed["operations"] == 2
    ended = [again(access, one) for one in (first, second)]
    assert [one.state for one in ended] == ["done", "done"]
    assert ended[0].started_at < ended[1].started_at


def poison_of_two(access: Access) -> list[UUID]:
    made = [put(access, fact(predicate="owns", value=f"x{n}", session="two")) for n in range(2)]
    return [one.id for one in made if one.id is not None]


def test_message_that_comes_twice_runs_an_operation_once(access: Access) -> None:
    found, _ = shown(access)
    done = run(access, found)
    perform_waiting(access.workspace_id)
    perform_waiting(access.workspace_id)
    assert again(access, found).finished_at == done.finished_at
    with pytest.raises(Conflict):
        submit(access, found)
    with pytest.raises(Conflict):
        operations.cancel(found.id, access=access)


def test_queued_run_with_nothing_left_to_do_ends(access: Access) -> None:
    with workspace_scope(access.workspace_id):
        assert runs.enqueue(OPERATIONS, access.workspace_id, requested_by="test")
    perform_waiting(access.workspace_id)
    with workspace_scope(access.workspace_id):
        assert runs.enqueue(OPERATIONS, access.workspace_id, requested_by="test")


def test_operation_that_cannot_go_on_says_so_and_lets_the_next_run(
    access: Access, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken, _ = shown(access, 4, "one")
    fine = preview(access, Scope(record_ids=tuple(poison_of_two(access))))
    submit(access, broken)
    submit(access, fine)
    real = running.drift

    def drift(operation: Operation, **named: Any) -> Any:
        if operation.id == broken.id:
            raise RuntimeError("text that must not be kept")
        return real(operation, **named)

    monkeypatch.setattr(running, "drift", drift)
    perform_waiting(access.workspace_id)
    told = again(access, broken)
    assert (told.state, told.error, told.changed) == ("failed", "RuntimeError", 0)
    assert again(access, fine).state == "done"
    monkeypatch.setattr(running, "drift", real)
    operations.retry(broken.id, access=access, user_id=None)
    perform_waiting(access.workspace_id)
    assert again(access, broken).state == "done"


def test_previews_that_nobody_ran_are_tidied_and_history_is_kept(access: Access) -> None:
    poison(access, 2)
    done = evict(access, Scope(session_ids=(session(access, "bad"),)))
    poison(access, 2, "other")
    stale = preview(access, Scope(session_ids=(session(access, "other"),)))
    later = datetime.now(UTC) + KEPT + timedelta(minutes=1)
    perform(PREVIEWS, access.workspace_id, tidy_previews, now=datetime.now(UTC))
    with workspace_scope(access.workspace_id):
        assert Operation.objects.filter(id=stale.id).exists()
    perform(PREVIEWS, access.workspace_id, tidy_previews, now=later)
    with workspace_scope(access.workspace_id):
        assert not Operation.objects.filter(id=stale.id).exists()
        assert not OperationTarget.objects.filter(operation_id=stale.id).exists()
        assert OperationTarget.objects.filter(operation_id=done.id).count() == 2


def test_others_are_told_of_a_bulk_act(access: Access, stranger: Access) -> None:
    found, _ = shown(access)
    done = run(access, found)
    since = done.started_at - timedelta(minutes=1)
    with workspace_scope(access.workspace_id):
        (told,) = operations.recent_bulk_acts(access.workspace_id, since=since)
        assert (told["id"], told["changed"]) == (done.id, 8)
        page = operations.list_operations(
            operations.OperationFilter(session_id=session(access, "bad"), kind="evict"),
            cursor=None,
            workspace_id=access.workspace_id,
        )
        assert [row["id"] for row in page.items] == [done.id]
    with workspace_scope(stranger.workspace_id):
        assert operations.recent_bulk_acts(access.workspace_id, since=since) == []


def _run_id(access: Access) -> UUID:
    with workspace_scope(access.workspace_id):
        found: UUID = JobRun.objects.values_list("id", flat=True).get(
            workspace_id=access.workspace_id, job="operations"
        )
    return found


def test_fact_that_nobody_could_ask_for_is_not_counted_as_probed(access: Access) -> None:
    poison(access, 1)
    blank = probing.Probe(UUID(int=1), "ada", "", "", "\u200b", "\u200b")
    asked = probing.Probe(UUID(int=1), "ada", "Ada", "likes", "poison 0", "Ada likes poison 0")
    door = probing.Door(access)
    assert door.ask(blank, blank.content) is None
    assert door.ask(asked, asked.content)
    with workspace_scope(access.workspace_id):
        assert not Serve.objects.filter(workspace_id=access.workspace_id).exists()
