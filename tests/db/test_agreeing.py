"""Ways round the second person: own accounts, taken rights, and hands on the database."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.db import Error, transaction

from audits import approvals, operations, people
from audits.approvals import FourEyesError
from audits.domain.roles import Role
from audits.domain.scope import Scope
from audits.models import Approval, Invitation, Membership, Operation, OperationTarget, User
from audits.operations.running import perform_waiting
from records.access import Access, Actor, ActorKind
from records.domain.ids import uuid7
from records.models import Workspace
from records.scope import workspace_scope

from .operating import again, make_person, poison, session, statuses
from .test_approvals import approval, decide
from .test_write import fact, put


@pytest.fixture(autouse=True)
def _strict(access: Access) -> None:
    set_bulk(access, 1)


def set_bulk(access: Access, most: int) -> None:
    with workspace_scope(access.workspace_id):
        Workspace.objects.filter(id=access.workspace_id).update(
            settings={"four_eyes": {"bulk": most}}
        )


def ask(
    access: Access, user: User, mine: Access, *, left: int = 0, kind: str = "evict"
) -> tuple[Operation, list[UUID]]:
    """Let a person ask for an eviction of three facts or more; some can be left out."""
    ids = poison(access, 3 + left)
    shown = operations.preview(
        kind, Scope(session_ids=(session(access, "bad"),)), access=mine, user_id=user.id
    )
    if left:
        shown = operations.tick(shown.id, untick=ids[:left], access=mine)
    asked = operations.submit(
        shown.id, digest=shown.digest, reason="poison", access=mine, user_id=user.id, typed_count=3
    )
    assert asked.state == "waiting"
    return asked, ids


def come_in(access: Access, role: Role, mine: Access) -> tuple[User, Access]:
    """Open an account by an invitation of somebody."""
    found = people.find_invitation(people.invite("me, too", role, access=mine))
    assert found is not None
    user = people.open_account(found, f"p-{uuid4().hex[:10]}", "x" * 20, request_id="r")
    actor = Actor(ActorKind.USER, user.username, str(role))
    return user, Access(access.workspace_id, actor, workspace=access.workspace)


def test_own_second_account_cannot_agree_while_somebody_else_could(access: Access) -> None:
    boss, mine = make_person(access, Role.ADMINISTRATOR)
    other, theirs = make_person(access, Role.APPROVER)
    waiting, ids = ask(access, boss, mine)
    second, by_second = come_in(access, Role.APPROVER, mine)
    with pytest.raises(FourEyesError):
        decide(waiting, second.id, by_second)
    promoted, by_promoted = make_person(access, Role.RESPONDER)
    people.change_role(promoted.id, Role.APPROVER, reason="helps", access=mine)
    with pytest.raises(FourEyesError):
        decide(waiting, promoted.id, by_promoted)
    assert decide(waiting, other.id, theirs).state == "approved"
    perform_waiting(access.workspace_id)
    assert statuses(access, ids) == ["evicted"] * 3


def test_first_colleague_may_agree_although_who_asks_invited_them(access: Access) -> None:
    boss, mine = make_person(access, Role.ADMINISTRATOR)
    waiting, _ = ask(access, boss, mine)
    second, by_second = come_in(access, Role.APPROVER, mine)
    with pytest.raises(FourEyesError):
        decide(waiting, boss.id, mine, reason="there is somebody now")
    assert decide(waiting, second.id, by_second).is_alone is False


@pytest.mark.parametrize("how", ["demoted", "removed", "twice"])
def test_nobody_agrees_alone_who_has_just_taken_the_right_from_others(
    access: Access, how: str
) -> None:
    boss, mine = make_person(access, Role.ADMINISTRATOR)
    other, _ = make_person(access, Role.APPROVER)
    if how == "removed":
        people.remove_member(other.id, reason="left", access=mine)
    else:
        people.change_role(other.id, Role.REVIEWER, reason="rest", access=mine)
    if how == "twice":
        people.change_role(other.id, Role.VIEWER, reason="rest", access=mine)
    waiting, ids = ask(access, boss, mine)
    with pytest.raises(FourEyesError):
        decide(waiting, boss.id, mine, reason="nobody else is here")
    second, by_second = come_in(access, Role.APPROVER, mine)
    with pytest.raises(FourEyesError):
        decide(waiting, second.id, by_second)
    perform_waiting(access.workspace_id)
    assert statuses(access, ids) == ["active"] * 3


def test_who_lost_the_right_by_somebody_else_bars_nobody(access: Access) -> None:
    boss, mine = make_person(access, Role.ADMINISTRATOR)
    other, _ = make_person(access, Role.APPROVER)
    people.remove_member(other.id, reason="left", access=access)
    waiting, _ = ask(access, boss, mine)
    assert decide(waiting, boss.id, mine, reason="nobody else is here").is_alone


def test_database_takes_no_word_of_somebody_who_may_not_agree(access: Access) -> None:
    make_person(access, Role.APPROVER)
    user, mine = make_person(access)
    waiting, _ = ask(access, user, mine)
    assert waiting.approval_id is not None
    viewer, _ = make_person(access, Role.VIEWER)
    gone, _ = make_person(access, Role.APPROVER)
    people.remove_member(gone.id, reason="left", access=access)
    for who in (viewer.id, gone.id, uuid4(), user.id):
        with (
            pytest.raises(Error, match=r"agree|second person"),
            workspace_scope(access.workspace_id),
            transaction.atomic(),
        ):
            Approval.objects.filter(id=waiting.approval_id).update(
                state="approved",
                decided_by="x",
                decided_by_id=who,
                decided_at=datetime.now(UTC),
                decided_reason="x",
                is_alone=who == user.id,
            )
    assert approval(access, waiting).state == "waiting"


def change(access: Access, operation: Operation, **values: Any) -> None:
    with workspace_scope(access.workspace_id):
        Operation.objects.filter(id=operation.id).update(**values)


@pytest.mark.parametrize(
    "values",
    [
        {"state": "queued"},
        {"state": "running"},
        {"state": "done"},
        {"state": "queued", "approval_id": None},
        {"approval_id": None},
        {"kind": "erase"},
        {"digest": "0" * 32},
        {"scope": {"predicate": "likes"}},
        {"options": {"shared": "evict", "with_held": True}},
        {"reason": "another"},
    ],
    ids=str,
)
def test_database_lets_nobody_change_or_queue_what_waits(
    access: Access, values: Mapping[str, Any]
) -> None:
    user, mine = make_person(access)
    make_person(access, Role.APPROVER)
    waiting, ids = ask(access, user, mine)
    with pytest.raises(Error, match="operation"):
        change(access, waiting, **values)
    perform_waiting(access.workspace_id)
    assert statuses(access, ids) == ["active"] * 3


def test_database_keeps_the_targets_that_were_shown(access: Access) -> None:
    user, mine = make_person(access)
    boss, theirs = make_person(access, Role.APPROVER)
    waiting, ids = ask(access, user, mine, left=1)
    more = put(access, fact(predicate="likes", value="else", session="other"))
    assert more.id is not None
    with workspace_scope(access.workspace_id):
        rows = OperationTarget.objects.filter(operation_id=waiting.id)
        for values in ({"is_ticked": True}, {"group": "gone"}, {"version": 9}):
            with pytest.raises(Error, match="as they were shown"), transaction.atomic():
                rows.update(**values)
        one = rows.first()
        assert one is not None
        with pytest.raises(Error, match="no more facts"), transaction.atomic():
            OperationTarget.objects.create(
                operation_id=waiting.id,
                record_id=more.id,
                workspace_id=access.workspace_id,
                partition_id=one.partition_id,
                version=1,
                group="evict",
            )
    decide(waiting, boss.id, theirs)
    perform_waiting(access.workspace_id)
    assert again(access, waiting).state == "done"
    assert statuses(access, ids) == ["active", "evicted", "evicted", "evicted"]


def test_no_operation_is_born_running(access: Access) -> None:
    for state in ("waiting", "queued", "running"):
        with (
            pytest.raises(Error, match="begins as a preview"),
            workspace_scope(access.workspace_id),
            transaction.atomic(),
        ):
            Operation.objects.create(
                id=uuid7(datetime.now(UTC)),
                workspace_id=access.workspace_id,
                kind="erase",
                state=state,
                requested_by="x",
            )


def test_rule_that_was_made_stricter_holds_for_what_is_queued(access: Access) -> None:
    set_bulk(access, 10)
    user, mine = make_person(access)
    ids = poison(access, 3)
    shown = operations.preview(
        "evict", Scope(session_ids=(session(access, "bad"),)), access=mine, user_id=user.id
    )
    queued = operations.submit(
        shown.id, digest=shown.digest, reason="poison", access=mine, user_id=user.id
    )
    assert queued.state == "queued"
    set_bulk(access, 1)
    perform_waiting(access.workspace_id)
    assert again(access, queued).state == "failed"
    assert statuses(access, ids) == ["active"] * 3


def test_invitation_takes_no_right_away(access: Access) -> None:
    boss, mine = make_person(access, Role.ADMINISTRATOR)
    viewer, _ = make_person(access, Role.VIEWER)
    for user, expected in ((boss, "administrator"), (viewer, "reviewer")):
        found = people.find_invitation(people.invite("x", Role.REVIEWER, access=mine))
        assert found is not None
        people.accept(found, user, request_id="r")
        with workspace_scope(access.workspace_id):
            member = Membership.objects.get(workspace_id=access.workspace_id, user=user)
            assert member.role == expected
            spent = Invitation.objects.get(id=found.id)
            assert spent.accepted_by == user.username


def test_foreign_workspace_sees_nobody_who_could_agree(access: Access, stranger: Access) -> None:
    user, mine = make_person(access)
    make_person(access, Role.APPROVER)
    waiting, _ = ask(access, user, mine)
    asked = approval(access, waiting)
    with workspace_scope(access.workspace_id):
        assert approvals.others_eligible(asked) == 1
    with workspace_scope(stranger.workspace_id):
        assert approvals.others_eligible(asked) == 0
