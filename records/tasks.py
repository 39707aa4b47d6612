"""Celery tasks on memories: take ids, claim a run, make one call. May run twice at once.

Without an argument (from the beat) a task begins a run in every workspace; with
one (from people, recovery, ``due``) it does the run that waits there. What they
do is in ``records/jobs``.
"""

from __future__ import annotations

from functools import partial
from uuid import UUID

from celery import current_app, shared_task
from django.db import transaction

from records import events
from records.access import Access
from records.events import Happening
from records.gate_replay import replay_store
from records.jobs import catalogue, runs
from records.jobs.catalogue import Job
from records.jobs.decay import update_age
from records.jobs.erasures import destroy_due
from records.jobs.freshness import update_freshness
from records.jobs.partitions import keep_partitions
from records.jobs.recast import bring_over
from records.jobs.recover import watch
from records.jobs.requests import forget_requests
from records.jobs.rescan import rescan as rescan_records
from records.jobs.validity import update_validity
from records.reembed import reembed as embed_again
from records.scans import perform_scans

SCANNERS = 2  # processes of the queue for long work; one more message would only wait


def queue(job: Job, workspace_id: UUID | None) -> None:
    """Queue a job's task for the run that waits in a workspace, or in the installation.

    By its name: the process that queues need not know the task, a page of the
    console does not.
    """
    arguments = {"workspace_id": str(workspace_id)} if workspace_id else {"waiting": True}
    task = current_app.tasks.get(job.task) or current_app.signature(job.task)
    task.apply_async(kwargs=arguments)


def start(job: Job, *, access: Access) -> UUID | None:
    """Let a person start a job now; return the run, ``None`` when one is open already.

    Call inside the workspace's scope: the task is queued when that commits.
    """
    run_id = runs.enqueue(job, access.workspace_id, requested_by=str(access.actor))
    if run_id is not None:
        happening = Happening("job.started", "job_run", run_id, details={"job": job.name})
        events.append([happening], access=access)
        transaction.on_commit(partial(queue, job, access.workspace_id))
    return run_id


@shared_task(name=catalogue.VALIDITY.task)
def validity(workspace_id: str | None = None) -> None:
    """Bring standings to what the clock says of validity."""
    runs.perform_everywhere(catalogue.VALIDITY, update_validity, workspace_id=_id(workspace_id))


@shared_task(name=catalogue.DECAY.task)
def decay(workspace_id: str | None = None) -> None:
    """Bring standings to what the clock says of age."""
    runs.perform_everywhere(catalogue.DECAY, update_age, workspace_id=_id(workspace_id))


@shared_task(name=catalogue.RESCAN.task)
def rescan(workspace_id: str | None = None) -> None:
    """Judge every live record of a workspace again, or of all."""
    runs.perform_everywhere(catalogue.RESCAN, rescan_records, workspace_id=_id(workspace_id))


@shared_task(name=catalogue.SCANS.task)
def scans(workspace_id: str | None = None) -> None:
    """Work on the scans of one workspace, or of all; any number of workers at once."""
    perform_scans(_id(workspace_id))


def wake_scanners(workspace_id: UUID, *, job: Job = catalogue.SCANS) -> None:
    """Queue as many workers for a workspace's scans as the niced queue has, on commit."""
    for _ in range(SCANNERS):
        transaction.on_commit(partial(queue, job, workspace_id))


@shared_task(name=catalogue.FRESHNESS.task)
def freshness(workspace_id: str | None = None) -> None:
    """Flag sources that are overdue."""
    runs.perform_everywhere(catalogue.FRESHNESS, update_freshness, workspace_id=_id(workspace_id))


@shared_task(name=catalogue.REQUESTS.task)
def requests(workspace_id: str | None = None) -> None:
    """Forget the answers kept for repeated requests."""
    runs.perform_everywhere(catalogue.REQUESTS, forget_requests, workspace_id=_id(workspace_id))


@shared_task(name=catalogue.REEMBED.task)
def reembed(workspace_id: str | None = None) -> None:
    """Give records a vector of the model in use."""
    runs.perform_everywhere(catalogue.REEMBED, embed_again, workspace_id=_id(workspace_id))


@shared_task(name=catalogue.RECAST.task)
def recast(workspace_id: str | None = None) -> None:
    """Bring stored facts over to policies that were changed."""
    runs.perform_everywhere(catalogue.RECAST, bring_over, workspace_id=_id(workspace_id))


@shared_task(name=catalogue.GATE_REPLAY.task)
def gate_replay(workspace_id: str | None = None) -> None:
    """Compare a draft of the gate's rules with the active ones on the live store."""
    runs.perform_everywhere(catalogue.GATE_REPLAY, replay_store, workspace_id=_id(workspace_id))


@shared_task(name=catalogue.PARTITIONS.task)
def partitions(*, waiting: bool = False) -> None:
    """Make and drop the logs' monthly tables; only maintenance may."""
    runs.perform(
        catalogue.PARTITIONS, None, keep_partitions, using="maintenance", begin=not waiting
    )


@shared_task(name=catalogue.ERASURES.task)
def erasures(*, waiting: bool = False) -> None:
    """Destroy the texts in logs that erasures left; only maintenance may."""
    runs.perform(catalogue.ERASURES, None, destroy_due, using="maintenance", begin=not waiting)


@shared_task(name=catalogue.RECOVER.task)
def recover(*, waiting: bool = False) -> None:
    """Queue the runs whose worker is gone, and the seldom jobs that are due."""
    runs.perform(catalogue.RECOVER, None, partial(watch, queue=queue), begin=not waiting)


def _id(text: str | None) -> UUID | None:
    return UUID(text) if text else None
