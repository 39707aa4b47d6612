"""The second person's word: asking for it, giving it, and what runs when it is given.

Owns the table ``approval``. Whoever asked, and whoever wrote what it is about,
cannot agree to it: checked here, and again by the database. Where nobody else
in the workspace could, that one person may, with a reason, and the trail says
so aloud. The act itself is registered by whoever owns it and runs in the
transaction of the answer. Opens its own scope.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from django.core.exceptions import PermissionDenied

from audits.domain.roles import Permission, Role, may
from audits.models import Approval, Membership, User
from audits.queries.rows import fetch
from records import denials, events
from records.access import Access
from records.cursors import Page, list_key, make_page, open_cursor
from records.domain.ids import uuid7
from records.events import Happening
from records.items import BadRequest, Conflict, FieldError, NotFound
from records.jobs.runs import Run
from records.jobs.standings import access_of
from records.scope import retried, workspace_scope

LASTS = timedelta(hours=72)
REASON_LIMIT = 1_000
PAGE = 50
COUNT_CAP = 100

FRESH = "got the right to agree from who asks, less than three days before: it takes somebody else"
OUSTED = (
    "took the right to agree from somebody less than three days before: it takes a second person"
)

Act = Callable[[Approval, Access], None]

LIST = """SELECT a.* FROM approval a
WHERE a.workspace_id = %(workspace)s AND {where} ORDER BY a.id DESC LIMIT %(limit)s"""


class FourEyesError(PermissionDenied):
    """Somebody who may not answer has tried to; the message says why not."""


@dataclass(frozen=True, slots=True)
class ApprovalKind:
    """One kind of question: its title, what runs on a yes, and what on a no or on no answer."""

    name: str
    title: str
    perform: Act
    refuse: Act | None = None


@dataclass(frozen=True, slots=True)
class ApprovalFilter:
    """Which approvals to list; what is None filters nothing."""

    state: str | None = None
    kind: str | None = None
    target_id: UUID | None = None
    requested_by_id: UUID | None = None
    not_requested_by_id: UUID | None = None  # what others ask: an inbox


_kinds: dict[str, ApprovalKind] = {}


def register(kind: str, title: str, perform: Act, refuse: Act | None = None) -> None:
    """Say what runs when a question of this kind is answered; once per kind.

    ``refuse`` runs when it is refused, expires or is withdrawn; the approval's
    state says which.
    """
    if kind in _kinds:
        raise ValueError(f"two kinds of approval are called {kind}")
    _kinds[kind] = ApprovalKind(kind, title, perform, refuse)


def kinds() -> dict[str, str]:
    """Return the kinds with their titles."""
    return {name: one.title for name, one in _kinds.items()}


@retried
def ask(
    kind: str,
    *,
    target_kind: str,
    target_id: UUID | None,
    summary: str,
    payload: dict[str, Any],
    reason: str,
    access: Access,
    user_id: UUID,
    now: datetime | None = None,
) -> Approval:
    """Ask a second person; the question expires after 72 hours.

    ``payload`` is what the act needs, never memory text; its ``authors`` (user
    ids) cannot agree either. Conflict: the same is asked already.
    """
    if kind not in _kinds:
        raise ValueError(f"no kind of approval is called {kind}")
    now = now or datetime.now(UTC)
    with workspace_scope(access.workspace_id):
        if target_id is not None and _waiting(access.workspace_id, kind, target_id):
            raise Conflict("a second person has been asked about this already")
        approval = Approval(
            id=uuid7(now),
            workspace_id=access.workspace_id,
            kind=kind,
            target_kind=target_kind,
            target_id=target_id,
            summary=summary,
            payload=payload,
            reason=reason,
            requested_by=access.actor.name,
            requested_by_id=user_id,
            requested_at=now,
            expires_at=now + LASTS,
        )
        approval.save(force_insert=True)
        _tell("approval.requested", approval, reason, access)
        return approval


def decide(
    approval_id: UUID,
    *,
    is_yes: bool,
    reason: str,
    access: Access,
    user_id: UUID,
    now: datetime | None = None,
) -> Approval:
    """Answer a question; on a yes the act runs in the same transaction.

    FourEyesError: this person may not answer; the attempt is on record.
    Conflict: it is answered or has expired, or the act cannot run any more.
    BadRequest: the reason is missing, which a no and a lone yes need.
    """
    try:
        return _decide(approval_id, is_yes, reason.strip(), access, user_id, now)
    except FourEyesError as error:
        denials.deny(
            "approval.denied",
            access=access,
            details={"approval": str(approval_id), "why": str(error)},
        )
        raise


@retried
def withdraw(approval_id: UUID, *, access: Access, now: datetime | None = None) -> Approval:
    """Take a question back. Conflict: it is answered."""
    now = now or datetime.now(UTC)
    with workspace_scope(access.workspace_id):
        approval = _lock(approval_id, access)
        _end(approval, "withdrawn", "approval.withdrawn", access, now)
        return approval


def why_not(approval: Approval, user_id: UUID, role: str) -> str | None:
    """Say why a person may not answer; None when they may. Inside a workspace scope."""
    if not may(Role(role), Permission.APPROVE_OPERATIONS):
        return f"needs the permission {Permission.APPROVE_OPERATIONS}"
    able, fresh, is_ousted = _agreeing(approval)
    if user_id in _barred(approval):
        if not able:
            return OUSTED if is_ousted else None
        asked = user_id == approval.requested_by_id
        return f"who {'asks' if asked else 'wrote it'} cannot agree: it takes a second person"
    return FRESH if user_id in fresh - able else None


def is_eligible(approval: Approval, user_id: UUID, role: str) -> bool:
    """Say whether a person may answer. Inside a workspace scope."""
    return why_not(approval, user_id, role) is None


def is_alone(approval: Approval, user_id: UUID) -> bool:
    """Say whether a person could answer only because nobody else can. Inside a scope."""
    if user_id not in _barred(approval):
        return False
    able, _, is_ousted = _agreeing(approval)
    return not able and not is_ousted


def others_eligible(approval: Approval) -> int:
    """Return how many members could answer who neither asked nor wrote it. Inside a scope."""
    return len(_agreeing(approval)[0])


def load(approval_id: UUID, *, workspace_id: UUID) -> Approval:
    """Return an approval; NotFound when this workspace has none of that id."""
    found = Approval.objects.filter(id=approval_id, workspace_id=workspace_id).first()
    if found is None:
        raise NotFound("approval")
    return found


def list_approvals(
    wanted: ApprovalFilter, *, cursor: str | None, workspace_id: UUID, limit: int = PAGE
) -> Page:
    """Return a page of approvals, newest first. BadRequest: the cursor is not one of this list."""
    key = list_key("console.approvals", workspace_id, asdict(wanted))
    place = open_cursor(cursor, key=key)
    values: dict[str, Any] = {"workspace": workspace_id, "limit": limit + 1}
    where = ["true"]
    for column in ("state", "kind", "target_id", "requested_by_id"):
        value = getattr(wanted, column)
        if value is not None:
            where.append(f"a.{column} = %({column})s")
            values[column] = value
    if wanted.not_requested_by_id is not None:
        where.append("a.requested_by_id <> %(others)s")
        values["others"] = wanted.not_requested_by_id
    if place is not None:
        where.append("a.id < %(after)s")
        values["after"] = UUID(place[0])
    rows = fetch(LIST.format(where=" AND ".join(where)), values)
    return make_page(rows, limit=limit, key=key, place=lambda row: [row["id"]])


def count_waiting(workspace_id: UUID, *, not_by: UUID | None = None) -> int:
    """Count the questions that wait, up to 100. Inside a workspace scope."""
    waiting = Approval.objects.filter(workspace_id=workspace_id, state="waiting")
    if not_by is not None:
        waiting = waiting.exclude(requested_by_id=not_by)
    return waiting[:COUNT_CAP].count()


def expire_approvals(run: Run, now: datetime) -> None:
    """End the questions that nobody has answered in time."""
    assert run.workspace_id is not None
    while True:
        with run.step():
            late = (
                Approval.objects.select_for_update(skip_locked=True)
                .filter(workspace_id=run.workspace_id, state="waiting", expires_at__lte=now)
                .order_by("requested_at")
                .first()
            )
            if late is None:
                return
            _end(late, "expired", "approval.expired", access_of(run), now)
            run.count(expired=1)


@retried
def _decide(
    approval_id: UUID,
    is_yes: bool,
    reason: str,
    access: Access,
    user_id: UUID,
    now: datetime | None,
) -> Approval:
    now = now or datetime.now(UTC)
    with workspace_scope(access.workspace_id):
        approval = _lock(approval_id, access)
        _check(approval, is_yes, reason, user_id, now)
        approval.state = "approved" if is_yes else "refused"
        approval.decided_by = access.actor.name
        approval.decided_by_id = user_id
        approval.decided_at = now
        approval.decided_reason = reason
        approval.is_alone = is_alone(approval, user_id)
        approval.save()
        _tell("approval.granted" if is_yes else "approval.refused", approval, reason, access)
        if approval.is_alone and is_yes:
            _tell("approval.alone", approval, reason, access)
        kind = _kinds[approval.kind]
        if is_yes:
            kind.perform(approval, access)
        elif kind.refuse is not None:
            kind.refuse(approval, access)
        return approval


def _check(approval: Approval, is_yes: bool, reason: str, user_id: UUID, now: datetime) -> None:
    role = _role_of(user_id, approval.workspace_id)
    if role is None:
        raise FourEyesError("is not a member of the workspace")
    if (fault := why_not(approval, user_id, role)) is not None:
        raise FourEyesError(fault)
    if approval.state != "waiting":
        raise Conflict(f"it is {approval.state} already")
    if approval.expires_at <= now:
        raise Conflict("it has expired; ask again")
    if approval.kind not in _kinds:
        raise Conflict(f"this version cannot do what {approval.kind} asks for")
    if not reason and (not is_yes or is_alone(approval, user_id)):
        raise BadRequest(FieldError("reason", "must be given", "missing"))
    if len(reason) > REASON_LIMIT:
        raise BadRequest(
            FieldError(
                "reason", f"may have at most {REASON_LIMIT:,} characters", "length", REASON_LIMIT
            )
        )


def _end(approval: Approval, state: str, action: str, access: Access, now: datetime) -> None:
    """End a question without an answer."""
    if approval.state != "waiting":
        raise Conflict(f"it is {approval.state} already")
    approval.state = state
    approval.decided_at = now
    approval.save(update_fields=["state", "decided_at"])
    _tell(action, approval, "", access)
    kind = _kinds.get(approval.kind)
    if kind is not None and kind.refuse is not None:
        kind.refuse(approval, access)


def _barred(approval: Approval) -> set[UUID]:
    """Return who cannot be the second person: who asked, and who wrote what it is about."""
    authors = approval.payload.get("authors", [])
    return {approval.requested_by_id, *(UUID(str(one)) for one in authors)}


def _agreeing(approval: Approval) -> tuple[set[UUID], set[UUID], bool]:
    """Return who could be the second person, who got that right of late, and whether one lost it.

    Both by who asked or wrote it. Those of late count where there is nobody
    else, and nobody had the right taken. The database decides by the same.
    """
    rows = fetch(
        "SELECT * FROM memconsole_agreeing(%(workspace)s, %(barred)s::uuid[], %(asked)s)",
        {
            "workspace": approval.workspace_id,
            "barred": list(_barred(approval)),
            "asked": approval.requested_at,
        },
    )
    there = [row for row in rows if not row["is_ousted"]]
    fresh = {row["person"] for row in there if row["is_fresh"]}
    able = {row["person"] for row in there} - fresh
    is_ousted = len(there) < len(rows)
    return (able if able or is_ousted else fresh), fresh, is_ousted


def _role_of(user_id: UUID, workspace_id: UUID) -> str | None:
    """Return what a person is here; who runs the installation is an administrator everywhere."""
    user = User.objects.filter(id=user_id, is_active=True).first()
    if user is None:
        return None
    if user.is_superuser:
        return Role.ADMINISTRATOR
    member = Membership.objects.filter(
        workspace_id=workspace_id, user_id=user_id, removed_at=None
    ).first()
    return member.role if member else None


def _waiting(workspace_id: UUID, kind: str, target_id: UUID) -> bool:
    return Approval.objects.filter(
        workspace_id=workspace_id, kind=kind, target_id=target_id, state="waiting"
    ).exists()


def _lock(approval_id: UUID, access: Access) -> Approval:
    found = (
        Approval.objects.select_for_update()
        .filter(id=approval_id, workspace_id=access.workspace_id)
        .first()
    )
    if found is None:
        raise NotFound("approval")
    return found


def _tell(action: str, approval: Approval, reason: str, access: Access) -> None:
    events.append(
        [
            Happening(
                action,
                "approval",
                target_id=approval.id,
                reason=reason,
                details={
                    "kind": approval.kind,
                    "target": str(approval.target_id or ""),
                    "requested_by": approval.requested_by,
                    **(
                        {"operation": str(approval.target_id)}
                        if approval.target_kind == "operation"
                        else {}
                    ),
                },
            )
        ],
        access=access,
    )
