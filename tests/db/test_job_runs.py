"""Runs of jobs: one at a time, exact progress, and no second life for a lost worker."""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from django.db import IntegrityError, connections, transaction

from records.access import Access
from records.jobs import overview, runs
from records.jobs.catalogue import Job
from records.jobs.recover import recover_in
from records.jobs.runs import LostRunError, Run
from records.models import JobRun
from records.scope import workspace_scope

NOW = datetime(2026, 6, 1, tzinfo=UTC)
JOB = Job("validity", "A job", "records.validity", timedelta(minutes=1))
QUIET = Job("sealing", "Its result is its history", "audits.seal", None, history=False)


def idle(run: Run, now: datetime) -> None:
    """Do nothing."""


def counting(run: Run, now: datetime) -> None:
    with run.step():
        run.count(seen=1)


def rows(access: Access, job: Job = JOB) -> list[JobRun]:
    with workspace_scope(access.workspace_id):
        found = JobRun.objects.filter(workspace=access.workspace_id, job=job.name)
        return list(found.order_by("started_at"))


def grow_old(run_id: UUID) -> None:
    """Let a run's heartbeat lie further back than a live worker's can."""
    with connections["maintenance"].cursor() as cursor:
        cursor.execute(
            "UPDATE job_run SET heartbeat_at = heartbeat_at - interval '10 minutes' WHERE id = %s",
            [run_id],
        )


def test_run_records_what_it_changed_and_how_long_it_took(access: Access) -> None:
    run = runs.perform(JOB, access.workspace_id, counting, now=NOW)
    assert run is not None
    (row,) = rows(access)
    assert (row.state, row.changed, row.error) == ("done", {"seen": 1}, "")
    assert row.finished_at is not None
    assert row.started_at <= row.finished_at


def test_second_worker_gets_nothing_while_the_first_is_at_it(
    access: Access, stranger: Access
) -> None:
    assert runs.claim(JOB, access.workspace_id) is not None
    assert runs.claim(JOB, access.workspace_id) is None
    assert runs.claim(JOB, stranger.workspace_id) is not None


def test_database_itself_refuses_a_second_open_run(access: Access) -> None:
    first = runs.claim(JOB, access.workspace_id)
    assert first is not None
    with pytest.raises(IntegrityError), workspace_scope(access.workspace_id):
        JobRun.objects.create(
            id=UUID(int=first.id.int ^ 1), workspace_id=access.workspace_id, job=JOB.name
        )


def test_many_claimers_at_once_begin_one_run(access: Access) -> None:
    claimed: list[Run | None] = []
    gate = threading.Barrier(8)

    def claim() -> None:
        gate.wait()
        claimed.append(runs.claim(JOB, access.workspace_id))
        connections.close_all()

    in_threads(claim, 8)
    assert len([one for one in claimed if one]) == 1


def test_lost_run_goes_on_where_its_last_step_ended(access: Access) -> None:
    first = runs.claim(JOB, access.workspace_id)
    assert first is not None
    with first.step():
        first.cursor["after"] = 7
        first.count(seen=7)
    grow_old(first.id)
    second = runs.claim(JOB, access.workspace_id)
    assert second is not None
    assert (second.id, second.attempt, second.cursor, second.changed) == (
        *(first.id, 2),
        *({"after": 7}, {"seen": 7}),
    )


def test_worker_that_was_only_slow_can_do_no_harm_after_it_was_replaced(access: Access) -> None:
    slow = runs.claim(JOB, access.workspace_id)
    assert slow is not None
    grow_old(slow.id)
    assert runs.claim(JOB, access.workspace_id) is not None
    with pytest.raises(LostRunError), slow.step():
        pytest.fail("the step of a lost run must not begin")


def test_step_that_fails_leaves_neither_work_nor_progress(access: Access) -> None:
    def break_off(run: Run, now: datetime) -> None:
        with run.step():
            run.cursor["after"] = 1
        with run.step():
            run.cursor["after"] = 2
            raise ValueError("Ada's salary is 5")

    with pytest.raises(ValueError, match="salary"):
        runs.perform(JOB, access.workspace_id, break_off)
    (row,) = rows(access)
    # An error's text may quote memories: only its kind is kept.
    assert (row.state, row.error, row.cursor) == ("failed", "ValueError", {"after": 1})


def test_failed_run_does_not_keep_the_job_from_running_again(access: Access) -> None:
    def fail(run: Run, now: datetime) -> None:
        raise ValueError("once")

    with pytest.raises(ValueError, match="once"):
        runs.perform(JOB, access.workspace_id, fail)
    assert runs.perform(JOB, access.workspace_id, counting) is not None
    assert [row.state for row in rows(access)] == ["failed", "done"]


def test_one_failing_workspace_does_not_keep_the_others_waiting(
    access: Access, stranger: Access, monkeypatch: pytest.MonkeyPatch
) -> None:
    served = []
    order = [access.workspace_id, stranger.workspace_id]
    monkeypatch.setattr(runs, "workspaces", lambda: order)

    def work(run: Run, now: datetime) -> None:
        if run.workspace_id == access.workspace_id:
            raise ValueError("first")
        served.append(run.workspace_id)

    with pytest.raises(ValueError, match="first"):
        runs.perform_everywhere(JOB, work)
    assert served == [stranger.workspace_id]


def test_run_that_changed_nothing_leaves_its_row_to_the_next(access: Access) -> None:
    for _ in range(3):
        runs.perform(JOB, access.workspace_id, idle)
    assert len(rows(access)) == 1
    runs.perform(JOB, access.workspace_id, counting)
    runs.perform(JOB, access.workspace_id, counting)
    assert len(rows(access)) == 2


def test_job_without_history_uses_one_row(access: Access) -> None:
    for _ in range(3):
        runs.perform(QUIET, access.workspace_id, counting)
    (row,) = rows(access, QUIET)
    assert (row.changed, row.attempt) == ({"seen": 1}, 3)


def test_recovery_queues_stale_and_forgotten_runs_again_and_leaves_live_ones(
    access: Access, stranger: Access
) -> None:
    dead = runs.claim(JOB, access.workspace_id)
    runs.claim(JOB, stranger.workspace_id)
    assert dead is not None
    queued: list[tuple[str, UUID | None]] = []
    queue: Callable[[Job, UUID | None], None] = lambda job, ws: queued.append((job.name, ws))  # noqa: E731
    assert recover_in(access.workspace_id, queue=queue) == 0
    grow_old(dead.id)
    assert recover_in(access.workspace_id, queue=queue) == 1
    assert recover_in(access.workspace_id, queue=queue) == 0
    grow_old(dead.id)  # the broker lost what was queued: nobody came
    assert recover_in(access.workspace_id, queue=queue) == 1
    assert recover_in(stranger.workspace_id, queue=queue) == 0
    assert queued == [(JOB.name, access.workspace_id)] * 2
    again = runs.claim(JOB, access.workspace_id)
    assert again is not None
    assert again.id == dead.id


def test_run_that_loses_every_worker_is_given_up(access: Access) -> None:
    run = runs.claim(JOB, access.workspace_id)
    assert run is not None
    for _ in range(30):
        grow_old(run.id)
        if recover_in(access.workspace_id, queue=lambda *_: None) == 0:
            break
        runs.claim(JOB, access.workspace_id)
    (row,) = rows(access)
    assert row.state == "lost"


def test_recovery_skips_a_run_whose_step_is_on(access: Access) -> None:
    run = runs.claim(JOB, access.workspace_id)
    assert run is not None
    grow_old(run.id)
    found: list[int] = []

    def recover() -> None:
        found.append(recover_in(access.workspace_id, queue=lambda *_: None))
        connections.close_all()

    with run.step():
        in_threads(recover, 1)
    assert found == [0]


def test_overview_shows_each_jobs_last_run_and_nobody_elses(
    access: Access, stranger: Access
) -> None:
    runs.perform(JOB, access.workspace_id, counting)
    now = datetime.now(UTC)
    mine = {one.name: one for one in overview(access.workspace_id, now=now)}
    assert (mine["validity"].state, mine["validity"].changed) == ("done", {"seen": 1})
    assert mine["validity"].started_at is not None
    assert mine["validity"].next_due is not None
    assert mine["validity"].next_due > now
    assert mine["decay"].state == "never"
    theirs = {one.name: one for one in overview(stranger.workspace_id, now=now)}
    assert theirs["validity"].state == "never"


def test_person_can_start_a_job_once(access: Access) -> None:
    with workspace_scope(access.workspace_id):
        run_id = runs.enqueue(JOB, access.workspace_id, requested_by="user:ada")
        assert run_id is not None
        assert runs.enqueue(JOB, access.workspace_id, requested_by="user:bob") is None
    run = runs.claim(JOB, access.workspace_id)
    assert run is not None
    assert (run.id, run.requested_by) == (run_id, "user:ada")


def in_threads(target: Any, count: int) -> None:
    threads = [threading.Thread(target=target) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert not any(thread.is_alive() for thread in threads)


def test_installation_runs_need_no_workspace() -> None:
    job = Job("partitions", "Whole", "records.partitions", None, installation=True)
    run = runs.perform(job, None, counting)
    assert run is not None
    with transaction.atomic():
        assert JobRun.objects.get(id=run.id).workspace_id is None
