"""The first audit: what is wrong with a memory, counted once over the whole store.

Owns making an audit and keeping it; the statements are
``queries/first_audit.py``'s, the words ``domain/first_audit.py``'s.
"""

from __future__ import annotations

import time
from datetime import datetime
from uuid import UUID

from audits import suspicion
from audits.domain.first_audit import ODD
from audits.models import FirstAudit
from audits.queries import first_audit as queries
from audits.queries.rows import fetch
from records import events
from records.access import Access, Actor, ActorKind
from records.domain.ids import uuid7
from records.events import Happening
from records.jobs.runs import Run

ACTIVE = """SELECT count(*) AS active FROM memory_record
WHERE workspace_id = %(workspace)s AND status = 'active'"""


def measure(workspace_id: UUID, now: datetime) -> tuple[dict[str, int], list[UUID]]:
    """Count everything; return the numbers and the slots with contradictions. Inside a scope."""
    suspicion.score_everything(workspace_id, now)
    settled, is_open, slots = queries.find_contradictions(workspace_id)
    numbers: dict[str, int] = {
        **queries.count_collapsed(workspace_id),
        **fetch(ACTIVE, {"workspace": workspace_id})[0],
        "contradictions_settled": settled,
        "contradictions_open": is_open,
        **queries.count_expired(workspace_id),
        **queries.count_held(workspace_id),
        "unknown_predicates": len(queries.list_unknown(workspace_id)),
        **queries.count_sessions(workspace_id, odd=ODD),
    }
    return numbers, slots


def make_audit(access: Access, now: datetime) -> FirstAudit:
    """Audit a workspace and keep the numbers; the audit is on record. Inside a scope."""
    began = time.monotonic()
    numbers, slots = measure(access.workspace_id, now)
    audit = FirstAudit.objects.create(
        id=uuid7(now),
        workspace_id=access.workspace_id,
        made_at=now,
        made_by=access.actor.name,
        millis=round(1000 * (time.monotonic() - began)),
        numbers=numbers,
        slots=slots,
    )
    happening = Happening("first_audit.made", "first_audit", audit.id, details=dict(numbers))
    events.append([happening], access=access)
    return audit


def run_audit(run: Run, now: datetime) -> None:
    """Do the job: one audit in one step."""
    assert run.workspace_id is not None
    actor = Actor(ActorKind.JOB, "first_audit")
    with run.step():
        audit = make_audit(Access(run.workspace_id, actor), now)
        run.count(facts=audit.numbers["facts"])


def last_audit(workspace_id: UUID) -> FirstAudit | None:
    """Return the newest audit. Inside a scope."""
    return FirstAudit.objects.filter(workspace_id=workspace_id).order_by("-id").first()
