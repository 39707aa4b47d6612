"""Celery tasks of the trail: take ids, claim a run, make one call. May run twice at once."""

from __future__ import annotations

from uuid import UUID

from celery import shared_task

from audits import jobs, seals
from records.jobs.runs import perform, perform_everywhere


@shared_task(name=jobs.SEALING.task)
def seal(workspace_id: str | None = None) -> None:
    """Seal the finished events of one workspace, or of all."""
    one = UUID(workspace_id) if workspace_id else None
    perform_everywhere(jobs.SEALING, seals.seal_events, workspace_id=one)


@shared_task(name=jobs.SEALING_INSTALLATION.task)
def seal_installation() -> None:
    """Seal the finished events that belong to no workspace; only maintenance sees them."""
    perform(jobs.SEALING_INSTALLATION, None, seals.seal_events, using="maintenance")
