"""Members and invitations of a workspace: who comes in, as what, and who leaves.

Owns the acts and their events. A workspace is never left without an
administrator. Each act opens its own scope; who may do it is the view's to ask.
"""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import dataclass, fields
from datetime import datetime, timedelta
from uuid import UUID

from django.db import connection, transaction
from django.utils import timezone

from audits import approvals
from audits.access import actor_of
from audits.domain.roles import Role, permissions_of
from audits.models import Approval, Invitation, Membership, User
from audits.second import ask_or_do_alone
from records import events
from records.access import Access
from records.events import Happening
from records.items import BadRequest, Conflict, FieldError, NotFound
from records.scope import workspace_scope
from records.workspaces import find_workspace, make_workspace

INVITATION_LASTS = timedelta(days=7)
ADMINISTRATOR = "role_administrator"  # the kind of question whether somebody may be one


@dataclass(frozen=True, slots=True)
class Invited:
    """An invitation as whoever holds its link sees it."""

    id: UUID
    workspace_id: UUID
    workspace: str
    invited: str
    role: str
    created_by: str
    expires_at: datetime
    accepted_at: datetime | None
    revoked_at: datetime | None

    def fault(self, now: datetime) -> str:
        """Say why the link opens nothing any more; empty when it does."""
        if self.revoked_at is not None:
            return "was taken back"
        if self.accepted_at is not None:
            return "has been used"
        return "has expired" if self.expires_at <= now else ""


def add_member(user: User, role: Role, *, access: Access) -> None:
    """Make a person a member in this role; a member already gets the role."""
    with workspace_scope(access.workspace_id):
        _join(user, role, access)


def change_role(user_id: UUID, role: Role, *, reason: str, access: Access) -> None:
    """Give a member another role. Conflict: nobody would be left to administer."""
    with workspace_scope(access.workspace_id):
        administrators = _lock_administrators(access)
        member = _member(user_id, access)
        if member.role == role:
            raise Conflict(f"is {role} already")
        _keep_one(administrators, user_id)
        before, member.role = member.role, str(role)
        member.changed_by = access.actor.name
        member.save(update_fields=["role", "changed_by"])
        _tell("member.changed", user_id, access, reason=reason, role=str(role), before=before)


def make_administrator(user_id: UUID, *, reason: str, access: Access, asked_by: UUID) -> Approval:
    """Ask a second person whether a member may become an administrator.

    The member cannot be that person. Where nobody else could answer it is done
    at once, and said aloud. Conflict: is one already, or it has been asked.
    """
    with workspace_scope(access.workspace_id):
        member = _member(user_id, access)
        if member.role == Role.ADMINISTRATOR:
            raise Conflict(f"is {Role.ADMINISTRATOR} already")
        name = User.objects.values_list("username", flat=True).get(id=user_id)
        return ask_or_do_alone(
            ADMINISTRATOR,
            target_kind="person",
            target_id=user_id,
            summary=f"Make {name} an administrator"[:500],
            payload={"authors": [str(user_id)]},
            reason=reason,
            access=access,
            user_id=asked_by,
        )


def _perform(approval: Approval, access: Access) -> None:
    assert approval.target_id is not None
    change_role(approval.target_id, Role.ADMINISTRATOR, reason=approval.reason, access=access)


def remove_member(user_id: UUID, *, reason: str, access: Access) -> None:
    """Take a person out of the workspace, at once. Conflict: the last administrator."""
    with workspace_scope(access.workspace_id):
        administrators = _lock_administrators(access)
        member = _member(user_id, access)
        _keep_one(administrators, user_id)
        member.removed_at = timezone.now()
        member.changed_by = access.actor.name
        member.save(update_fields=["removed_at", "changed_by"])
        _tell("member.removed", user_id, access, reason=reason, before=member.role)


def invite(invited: str, role: Role, *, access: Access) -> str:
    """Make an invitation and return its token, which nobody sees again."""
    token = secrets.token_urlsafe(32)
    now = timezone.now()
    with workspace_scope(access.workspace_id):
        row = Invitation.objects.create(
            workspace_id=access.workspace_id,
            digest=_digest(token),
            invited=invited,
            role=str(role),
            created_by=access.actor.name,
            expires_at=now + INVITATION_LASTS,
        )
        _tell("invitation.made", row.id, access, kind="invitation", role=str(role))
    return token


def revoke_invitation(invitation_id: UUID, *, access: Access) -> None:
    """Take an invitation back; NotFound when it is unknown, used or taken back already."""
    with workspace_scope(access.workspace_id):
        changed = Invitation.objects.filter(
            id=invitation_id,
            workspace_id=access.workspace_id,
            accepted_at=None,
            revoked_at=None,
        ).update(revoked_at=timezone.now())
        if not changed:
            raise NotFound("invitation")
        _tell("invitation.revoked", invitation_id, access, kind="invitation")


def find_invitation(token: str) -> Invited | None:
    """Return the invitation of this token, whatever has become of it."""
    with connection.cursor() as cursor:
        columns = ", ".join(field.name for field in fields(Invited))
        cursor.execute(
            f"SELECT {columns} FROM memconsole_find_invitation(%s)",
            [_digest(token)],
        )
        row = cursor.fetchone()
    return Invited(*row) if row else None


def accept(invited: Invited, user: User, *, request_id: str) -> None:
    """Make a person the member they were invited to be. Conflict: the link is spent.

    A member who may do all of that already stays what they are: nobody loses a
    right by an invitation, least of all the only administrator.
    """
    access = Access(
        workspace_id=invited.workspace_id,
        actor=actor_of(user),
        workspace=invited.workspace,
        request_id=request_id,
    )
    now = timezone.now()
    with workspace_scope(invited.workspace_id):
        changed = Invitation.objects.filter(
            id=invited.id, accepted_at=None, revoked_at=None, expires_at__gt=now
        ).update(accepted_at=now, accepted_by=user.get_username())
        if not changed:
            raise Conflict("the invitation is spent")
        role = Role(invited.role)
        member = Membership.objects.filter(
            workspace_id=invited.workspace_id, user=user, removed_at=None
        ).first()
        if member is None or not permissions_of(Role(member.role)) >= permissions_of(role):
            _join(user, role, access, by=invited.created_by)


def open_account(invited: Invited, username: str, password: str, *, request_id: str) -> User:
    """Make the account of an invited person, and the person a member; both or neither."""
    with transaction.atomic():
        if User.objects.filter(username__iexact=username).exists():
            raise BadRequest(FieldError("username", "is taken", "taken"))
        user = User.objects.create_user(username, password=password)
        accept(invited, user, request_id=request_id)
    return user


def open_workspace(name: str, user: User, *, request_id: str) -> Access:
    """Make a workspace with its starter policies; whoever made it administers it.

    BadRequest when the name cannot be one; Conflict when it is taken.
    """
    if find_workspace(name.strip()) is not None:
        raise Conflict("there is a workspace of this name")
    access = make_workspace(name, actor=actor_of(user), request_id=request_id)
    add_member(user, Role.ADMINISTRATOR, access=access)
    return access


def _join(user: User, role: Role, access: Access, *, by: str = "") -> None:
    by = by or access.actor.name
    member, is_new = Membership.objects.get_or_create(
        workspace_id=access.workspace_id,
        user=user,
        defaults={"role": str(role), "created_by": access.actor.name, "changed_by": by},
    )
    if not is_new and (member.removed_at is not None or member.role != role):
        member.role, member.removed_at, member.changed_by = str(role), None, by
        member.save(update_fields=["role", "removed_at", "changed_by"])
    elif not is_new:
        return
    _tell("member.joined", user.id, access, role=str(role))


def _member(user_id: UUID, access: Access) -> Membership:
    member = (
        Membership.objects.select_for_update()
        .filter(workspace_id=access.workspace_id, user_id=user_id, removed_at=None)
        .first()
    )
    if member is None:
        raise NotFound("member")
    return member


def _lock_administrators(access: Access) -> set[UUID]:
    """Return who administers the workspace; locked in order, or two could leave at once."""
    rows = (
        Membership.objects.select_for_update()
        .filter(workspace_id=access.workspace_id, role=Role.ADMINISTRATOR, removed_at=None)
        .order_by("id")
    )
    return {row.user_id for row in rows}


def _keep_one(administrators: set[UUID], leaving: UUID) -> None:
    if administrators == {leaving}:
        raise Conflict("is the only administrator: make somebody else one first")


def _tell(
    action: str,
    target_id: UUID,
    access: Access,
    *,
    kind: str = "person",
    reason: str = "",
    **details: str,
) -> None:
    events.append(
        [Happening(action, kind, target_id=target_id, reason=reason, details=details)],
        access=access,
    )


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()


approvals.register(ADMINISTRATOR, "New administrator", _perform)
