"""Celery tasks of the trail: take ids, claim a run, make one call. May run twice at once.

As in ``records/tasks.py``: without an argument a task begins runs, with one it
does the run that waits.
"""

from __future__ import annotations

from uuid import UUID

from celery import shared_task

from audits import (
    anchors,
    checks,
    duplicates,
    gate_hits,
    jobs,
    leases,
    measures,
    rollups,
    seals,
    suspicion,
)
from audits.approvals import expire_approvals
from audits.first_audit import run_audit
from audits.freshness import measure_habits
from audits.notices import delivering
from audits.operations.previewing import tidy_previews
from audits.operations.running import perform_waiting
from audits.sampling import carry_out
from audits.subjects.finishing import finish_requests
from records.jobs.runs import perform, perform_everywhere


@shared_task(name=jobs.SEALING.task)
def seal(workspace_id: str | None = None) -> None:
    """Seal the finished events of one workspace, or of all."""
    perform_everywhere(jobs.SEALING, seals.seal_events, workspace_id=_id(workspace_id))


@shared_task(name=jobs.SEALING_INSTALLATION.task)
def seal_installation(*, waiting: bool = False) -> None:
    """Seal the finished events that belong to no workspace; only maintenance sees them."""
    perform(
        jobs.SEALING_INSTALLATION, None, seals.seal_events, using="maintenance", begin=not waiting
    )


@shared_task(name=jobs.ANCHORING.task)
def anchor(workspace_id: str | None = None) -> None:
    """Note where one workspace's chain stands, or all of them."""
    perform_everywhere(jobs.ANCHORING, anchors.anchor_head, workspace_id=_id(workspace_id))


@shared_task(name=jobs.SUBJECTS.task)
def finish_subject_requests(workspace_id: str | None = None) -> None:
    """See the erasures of one workspace, or of all, to their end."""
    perform_everywhere(jobs.SUBJECTS, finish_requests, workspace_id=_id(workspace_id))


@shared_task(name=jobs.VERIFICATION.task)
def verify(workspace_id: str | None = None) -> None:
    """Verify the trail of one workspace, or of all."""
    perform_everywhere(jobs.VERIFICATION, checks.check_trail, workspace_id=_id(workspace_id))


@shared_task(name=jobs.LEASES.task)
def free_leases(workspace_id: str | None = None) -> None:
    """Tidy the leases of the review queue that have run out."""
    perform_everywhere(jobs.LEASES, leases.free, workspace_id=_id(workspace_id))


@shared_task(name=jobs.GATE_HITS.task)
def fold_gate_hits(workspace_id: str | None = None) -> None:
    """Count the hits of the gate's rules in one workspace, or in all."""
    perform_everywhere(jobs.GATE_HITS, gate_hits.fold_hits, workspace_id=_id(workspace_id))


@shared_task(name=jobs.SUSPICION.task)
def score_sessions(workspace_id: str | None = None) -> None:
    """Score the sessions that changed in one workspace, or in all."""
    perform_everywhere(jobs.SUSPICION, suspicion.score_sessions, workspace_id=_id(workspace_id))


@shared_task(name=jobs.OPERATIONS.task)
def run_operations(workspace_id: str | None = None) -> None:
    """Run the bulk operations that wait in one workspace, or in all."""
    perform_waiting(_id(workspace_id))


@shared_task(name=jobs.APPROVALS.task)
def end_approvals(workspace_id: str | None = None) -> None:
    """End the questions of one workspace, or of all, that are past their time."""
    perform_everywhere(jobs.APPROVALS, expire_approvals, workspace_id=_id(workspace_id))


@shared_task(name=jobs.PREVIEWS.task)
def forget_previews(workspace_id: str | None = None) -> None:
    """Tidy away the previews of one workspace, or of all, that nobody ran."""
    perform_everywhere(jobs.PREVIEWS, tidy_previews, workspace_id=_id(workspace_id))


@shared_task(name=jobs.VERDICTS.task)
def carry_out_verdicts(workspace_id: str | None = None) -> None:
    """Carry out the verdicts on sampled facts in one workspace, or in all."""
    perform_everywhere(jobs.VERDICTS, carry_out, workspace_id=_id(workspace_id))


@shared_task(name=jobs.FIRST_AUDIT.task)
def first_audit(workspace_id: str | None = None) -> None:
    """Audit one workspace, or all."""
    perform_everywhere(jobs.FIRST_AUDIT, run_audit, workspace_id=_id(workspace_id))


@shared_task(name=jobs.HABITS.task)
def measure_predicate_habits(workspace_id: str | None = None) -> None:
    """Measure how often facts are seen again, in one workspace or in all."""
    perform_everywhere(jobs.HABITS, measure_habits, workspace_id=_id(workspace_id))


@shared_task(name=jobs.DUPLICATES.task)
def find_duplicates(workspace_id: str | None = None) -> None:
    """Look for facts that may say the same in one workspace, or in all."""
    perform_everywhere(jobs.DUPLICATES, duplicates.find_duplicates, workspace_id=_id(workspace_id))


@shared_task(name=jobs.MEASURES.task)
def measure(workspace_id: str | None = None) -> None:
    """Measure the memory of one workspace, or of all."""
    perform_everywhere(jobs.MEASURES, measures.measure, workspace_id=_id(workspace_id))


@shared_task(name=jobs.ROLLUPS.task)
def keep_counts(workspace_id: str | None = None) -> None:
    """Count for the charts what is new in one workspace, or in all."""
    perform_everywhere(jobs.ROLLUPS, rollups.keep_counts, workspace_id=_id(workspace_id))


@shared_task(name=jobs.NOTICES.task)
def send_notices(workspace_id: str | None = None) -> None:
    """Raise and send the notices of one workspace, or of all."""
    perform_everywhere(jobs.NOTICES, delivering.work, workspace_id=_id(workspace_id))


@shared_task(name=jobs.ANCHORING_INSTALLATION.task)
def anchor_installation(*, waiting: bool = False) -> None:
    """Note where the chain of events of no workspace stands."""
    perform(
        jobs.ANCHORING_INSTALLATION,
        None,
        anchors.anchor_head,
        using="maintenance",
        begin=not waiting,
    )


@shared_task(name=jobs.VERIFICATION_INSTALLATION.task)
def verify_installation(*, waiting: bool = False) -> None:
    """Verify the chain of events of no workspace."""
    perform(
        jobs.VERIFICATION_INSTALLATION,
        None,
        checks.check_trail,
        using="maintenance",
        begin=not waiting,
    )


def _id(text: str | None) -> UUID | None:
    return UUID(text) if text else None
