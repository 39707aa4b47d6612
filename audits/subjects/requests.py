"""Making a request, and letting its erasure run: preview, typed count, second person.

Owns the rows of ``subject_request`` until an erasure runs. What a request is
about is frozen when it is made: a partition, or records named one by one. The
running is ``audits.operations``' (kind ``erase``), the end ``finishing.py``'s.
Opens its own scopes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from audits import operations
from audits.domain.scope import Scope
from audits.models import Operation, SubjectRequest
from audits.queries.subjects import FOUND_CAP, count_kept
from audits.quotes import count_quotes
from records import events
from records.access import Access
from records.domain import canonical
from records.domain.ids import uuid7
from records.erasing import words_of
from records.events import Happening
from records.fences import fence_key, keyed_fingerprint
from records.items import BadRequest, Conflict, FieldError, NotFound
from records.queries import cursor
from records.scope import workspace_scope

KINDS = ("access", "erasure")
NOBODY = UUID(int=0)  # the id of nothing
QUOTES_LOOKED_AT = 2_000  # records whose words a preview looks for in people's notes


@dataclass(frozen=True, slots=True)
class Wanted:
    """Whom a request is about: one partition, or a subject by the records a person chose."""

    kind: str
    partition_id: UUID | None = None
    partition: str = ""
    subject: str = ""
    record_ids: tuple[UUID, ...] = ()


def make_request(
    wanted: Wanted, *, access: Access, user_id: UUID, now: datetime | None = None
) -> SubjectRequest:
    """Make a request with its preview; an erasure's operation is previewed with it.

    BadRequest: nobody is named, or too many records. Nothing is changed yet.
    """
    now = now or datetime.now(UTC)
    _check(wanted)
    with workspace_scope(access.workspace_id), cursor() as cur:
        request = SubjectRequest(
            id=uuid7(now),
            workspace_id=access.workspace_id,
            kind=wanted.kind,
            partition_id=wanted.partition_id if not wanted.subject else None,
            partition_name=wanted.partition,
            subject=wanted.subject,
            subject_digest=digest_of(wanted, access.workspace_id),
            requested_by=access.actor.name,
            requested_by_id=user_id,
            created_at=now,
        )
        request.counts = _counts(cur, request, wanted.record_ids, access)
        request.save(force_insert=True)
        tell("subject.previewed", request, access)
    if request.kind == "erasure":
        _preview(request, wanted.record_ids, access, user_id)
    return request


def preview_again(request_id: UUID, *, access: Access, user_id: UUID) -> SubjectRequest:
    """Preview an erasure anew: the store has moved on, or the old preview is gone."""
    with workspace_scope(access.workspace_id), cursor() as cur:
        request = _load(request_id, access)
        if request.kind != "erasure" or request.state not in (
            "preview",
            "refused",
            "expired",
            "failed",
        ):
            raise Conflict(f"the request is {request.state}")
        chosen = chosen_of(request)
        request.state = "preview"
        request.counts = _counts(cur, request, chosen, access)
        request.save(update_fields=["state", "counts"])
    _preview(request, chosen, access, user_id)
    return request


def erase(
    request_id: UUID,
    *,
    reason: str,
    typed_count: int | None,
    access: Access,
    user_id: UUID,
) -> SubjectRequest:
    """Let an erasure run: a second person is asked, unless there is none.

    Conflict: it runs already, or its preview is gone. Refused: the reason or
    the count is missing or wrong.
    """
    with workspace_scope(access.workspace_id):
        request = _load(request_id, access)
        if request.kind != "erasure" or request.state != "preview":
            raise Conflict(f"the request is {request.state}")
        operation = Operation.objects.filter(
            id=request.operation_id or NOBODY, workspace_id=access.workspace_id
        ).first()
        if operation is None:
            raise Conflict("its preview is older than a day; make a new one")
    submitted = operations.submit(
        operation.id,
        digest=operation.digest,
        reason=reason,
        typed_count=typed_count,
        access=access,
        user_id=user_id,
    )
    with workspace_scope(access.workspace_id):
        request.reason = reason
        request.state = "waiting" if submitted.state == "waiting" else "running"
        request.approval_id = submitted.approval_id
        request.save(update_fields=["reason", "state", "approval_id"])
        tell("subject.erasure_asked", request, access)
    return request


def chosen_of(request: SubjectRequest) -> tuple[UUID, ...]:
    """Return the records that a request by subject is about."""
    return tuple(UUID(one) for one in request.counts.get("chosen", ()))


def digest_of(wanted: Wanted, workspace_id: UUID) -> str:
    """Return the keyed digest that tells, after the erasure, whom a request was about."""
    name = wanted.subject or wanted.partition
    kind = "subject" if wanted.subject else "partition"
    text = canonical.identifier(name) if wanted.subject else name
    return keyed_fingerprint(fence_key(workspace_id), f"{kind}:{text}")


def words_of_request(counts: Mapping[str, Any]) -> list[tuple[str, int]]:
    """Return what is kept beside records, in words, for a page."""
    beside = counts.get("beside", {})
    titles = {
        "claims": "claims with their evidence",
        "sessions": "sessions that said so",
        "recalls": "questions asked",
        "serves": "serves",
        "feedback": "words of feedback",
        "notes": "notes and decisions of reviewers",
        "events": "events of the trail",
    }
    return [(title, int(beside.get(name, 0))) for name, title in titles.items()]


def _check(wanted: Wanted) -> None:
    if wanted.kind not in KINDS:
        raise BadRequest(FieldError("kind", f"must be one of {', '.join(KINDS)}"))
    if not wanted.subject and wanted.partition_id is None:
        raise BadRequest(FieldError("partition", "names nobody; give a partition or a subject"))
    if wanted.subject and not wanted.record_ids:
        raise BadRequest(FieldError("subject", "choose at least one record", "required"))
    if len(wanted.record_ids) > FOUND_CAP:
        raise BadRequest(
            FieldError("subject", f"names more than {FOUND_CAP:,} records", "range", FOUND_CAP)
        )


def _counts(
    cur: Any, request: SubjectRequest, record_ids: Sequence[UUID], access: Access
) -> dict[str, Any]:
    """Count what the request is about, and where people have quoted it."""
    about: dict[str, Any] = (
        {"partition_id": request.partition_id}
        if request.partition_id is not None
        else {"record_ids": record_ids}
    )
    counts = count_kept(workspace_id=access.workspace_id, **about)
    ids = list(record_ids)
    if request.partition_id is not None:
        cur.execute(
            """SELECT id FROM memory_record WHERE partition_id = %s AND workspace_id = %s
               AND status <> 'erased' ORDER BY status, id LIMIT %s""",
            [request.partition_id, access.workspace_id, QUOTES_LOOKED_AT],
        )
        ids = [row[0] for row in cur]
    else:
        counts["chosen"] = [str(one) for one in record_ids]
    going = words_of(cur, ids[:QUOTES_LOOKED_AT])
    counts["quotes"] = count_quotes(cur, going, access.workspace_id)
    return counts


def _preview(
    request: SubjectRequest, record_ids: Sequence[UUID], access: Access, user_id: UUID
) -> None:
    """Freeze what the erasure would destroy."""
    scope = (
        Scope(partition_id=request.partition_id)
        if request.partition_id is not None
        else Scope(record_ids=tuple(record_ids))
    )
    operation = operations.preview("erase", scope, access=access, user_id=user_id)
    with workspace_scope(access.workspace_id):
        request.operation_id = operation.id
        request.save(update_fields=["operation_id"])


def _load(request_id: UUID, access: Access) -> SubjectRequest:
    found = (
        SubjectRequest.objects.select_for_update()
        .filter(id=request_id, workspace_id=access.workspace_id)
        .first()
    )
    if found is None:
        raise NotFound("request")
    return found


def tell(action: str, request: SubjectRequest, access: Access, **details: Any) -> None:
    """Write the event of a request, which names nobody."""
    events.append(
        [
            Happening(
                action,
                "subject_request",
                target_id=request.id,
                partition_id=request.partition_id,
                reason=request.reason,
                details={
                    "kind": request.kind,
                    "about": request.subject_digest,
                    "records": request.counts.get("records", 0),
                    **details,
                },
            )
        ],
        access=access,
    )
