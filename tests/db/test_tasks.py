"""Tasks, their names, and which of them run when."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from celery import Celery
from django.db import transaction

from memconsole.celery import app
from memconsole.schedule import MAINTENANCE_TASKS, SCHEDULE
from records import tasks
from records.access import Access
from records.jobs import catalogue, due, runs
from records.jobs.catalogue import Job
from records.models import Event, JobRun
from records.scope import workspace_scope

from .test_job_runs import grow_old, idle

NOW = datetime.now(UTC)


@pytest.fixture
def celery() -> Celery:
    app.loader.import_default_modules()
    return app


def test_every_task_that_is_queued_is_registered(celery: Celery) -> None:
    queued = {entry["task"] for entry in SCHEDULE.values()} | set(MAINTENANCE_TASKS)
    queued |= {job.task for job in catalogue.jobs()}
    assert queued <= set(celery.tasks)


def test_every_task_of_ours_belongs_to_a_job(celery: Celery) -> None:
    ours = {name for name in celery.tasks if name.startswith(("records.", "audits."))}
    assert ours == {job.task for job in catalogue.jobs()}


def test_each_job_is_queued_by_the_beat_or_by_its_last_run() -> None:
    by_beat = set(SCHEDULE)
    by_run = {job.name for job in catalogue.jobs() if due.is_seldom(job)}
    assert not by_beat & by_run
    assert by_beat | by_run == {job.name for job in catalogue.jobs() if job.every}


def test_maintenance_and_long_jobs_go_to_queues_of_their_own(celery: Celery) -> None:
    for job in catalogue.jobs():
        queue = celery.amqp.router.route({}, job.task)["queue"].name
        expected = "long" if job.long else "default"
        assert queue == ("maintenance" if job.maintenance else expected)


def test_seldom_job_is_queued_once_when_due_and_not_before(
    access: Access, stranger: Access
) -> None:
    queued: list[tuple[str, UUID | None]] = []

    def queue(job: Job, workspace_id: UUID | None) -> None:
        queued.append((job.name, workspace_id))

    due.queue_due(access.workspace_id, NOW, queue=queue)
    first = set(queued)
    assert ("rescan", access.workspace_id) in first
    assert ("partitions", access.workspace_id) not in first  # the installation's own
    assert due.queue_due(access.workspace_id, NOW, queue=queue) == 0  # they wait already
    for name, workspace_id in first:
        job = catalogue.find(name)
        assert job is not None
        runs.perform(job, workspace_id, idle)
    assert due.queue_due(access.workspace_id, NOW, queue=queue) == 0
    due.queue_due(access.workspace_id, NOW + timedelta(hours=25), queue=queue)
    assert queued.count(("rescan", access.workspace_id)) == 2
    assert not any(workspace_id == stranger.workspace_id for _, workspace_id in queued)


def test_message_that_comes_twice_does_the_work_once(access: Access) -> None:
    with workspace_scope(access.workspace_id):
        runs.enqueue(catalogue.RESCAN, access.workspace_id, requested_by="schedule")
    for _ in range(2):
        tasks.rescan(workspace_id=str(access.workspace_id))
    with workspace_scope(access.workspace_id):
        (row,) = JobRun.objects.filter(job="rescan", workspace_id=access.workspace_id)
        assert (row.state, row.attempt) == ("done", 2)


def test_person_starts_a_job_and_that_is_an_event(
    access: Access, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[dict[str, Any]] = []

    def send(*, kwargs: dict[str, Any]) -> None:
        sent.append(kwargs)

    monkeypatch.setattr(tasks.rescan, "apply_async", send)
    with workspace_scope(access.workspace_id):
        run_id = tasks.start(catalogue.RESCAN, access=access)
        assert sent == []  # nobody may see the task before the run
    assert sent == [{"workspace_id": str(access.workspace_id)}]
    with workspace_scope(access.workspace_id):
        (event,) = Event.objects.filter(action="job.started")
        assert (event.target_id, event.details) == (run_id, {"job": "rescan"})
        assert tasks.start(catalogue.RESCAN, access=access) is None


def test_watch_queues_lost_runs_by_their_task(
    access: Access, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = runs.claim(catalogue.RESCAN, access.workspace_id)
    assert run is not None
    grow_old(run.id)
    monkeypatch.setattr(runs, "workspaces", lambda: [access.workspace_id])
    sent: list[str] = []
    for job in catalogue.jobs():
        monkeypatch.setattr(
            app.tasks[job.task], "apply_async", lambda kwargs, n=job.name: sent.append(n)
        )
    tasks.recover()
    assert "rescan" in sent
    with transaction.atomic():
        assert JobRun.objects.filter(job="recover", state="done").exists()
