"""What tests of bulk operations share: facts of sessions, people, an operation run at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID, uuid4

from audits import operations, people
from audits.domain.roles import Role
from audits.domain.scope import Scope
from audits.models import Operation, OperationTarget, User
from audits.operations.running import perform_waiting
from records.access import Access, Actor, ActorKind
from records.domain.canonical import session_id
from records.models import Event, MemoryRecord
from records.scope import workspace_scope

from .test_write import NOW, fact, put


def session(access: Access, name: str, partition: str = "ada") -> UUID:
    return session_id(access.workspace_id, access.partition_id(partition), name)


def poison(access: Access, count: int = 3, name: str = "bad", **more: Any) -> list[UUID]:
    """Write that many facts of one session, of predicates that hold many values."""
    found = []
    for number in range(count):
        written = put(
            access, fact(predicate="likes", value=f"poison {number}", session=name, **more), NOW
        )
        assert written.id is not None
        found.append(written.id)
    return found


def make_person(access: Access, role: Role = Role.RESPONDER) -> tuple[User, Access]:
    """Make a member, with the access that their requests have."""
    user = User.objects.create_user(f"p-{uuid4().hex[:10]}", password="x")
    people.add_member(user, role, access=access)
    mine = Access(
        access.workspace_id,
        Actor(ActorKind.USER, user.username, str(role)),
        workspace=access.workspace,
        request_id=uuid4().hex[:12],
    )
    return user, mine


def preview(access: Access, scope: Scope, kind: str = "evict", **more: Any) -> Operation:
    return operations.preview(kind, scope, access=access, user_id=None, **more)


def submit(access: Access, operation: Operation, **more: Any) -> Operation:
    more.setdefault("reason", "poison")
    more.setdefault("user_id", None)
    return operations.submit(
        operation.id, digest=more.pop("digest", operation.digest), access=access, **more
    )


def run(access: Access, operation: Operation, **more: Any) -> Operation:
    """Submit a preview and run what waits; return the operation as it ended."""
    submit(access, operation, **more)
    perform_waiting(access.workspace_id)
    return again(access, operation)


def evict(access: Access, scope: Scope, **more: Any) -> Operation:
    return run(access, preview(access, scope, **more))


def undo(access: Access, operation: Operation, **more: Any) -> Operation:
    back = operations.preview_undo(operation.id, access=access, user_id=None)
    return run(access, back, **more)


def again(access: Access, operation: Operation) -> Operation:
    with workspace_scope(access.workspace_id):
        return operations.load(operation.id, workspace_id=access.workspace_id)


def groups(operation: Operation) -> dict[str, int]:
    return {name: count for name, count in operation.groups.items() if count}


def statuses(access: Access, ids: Sequence[UUID | None]) -> list[str]:
    with workspace_scope(access.workspace_id):
        found = dict(MemoryRecord.objects.filter(id__in=ids).values_list("id", "status"))
    return [found[one] for one in ids if one is not None]


def outcomes(access: Access, operation: Operation) -> dict[UUID, tuple[str, str]]:
    with workspace_scope(access.workspace_id):
        rows = OperationTarget.objects.filter(operation_id=operation.id)
        return {one.record_id: (one.outcome, one.why) for one in rows}


def actions(access: Access, operation: Operation) -> list[str]:
    with workspace_scope(access.workspace_id):
        told = Event.objects.filter(target_id=operation.id).order_by("id")
        return [one.action for one in told]
