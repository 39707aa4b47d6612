"""The second person: who may answer, once and in time, whatever the code or a direct hand tries."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

import pytest
from django.db import Error, transaction

from audits import approvals, operations, people
from audits.approvals import FourEyesError
from audits.domain.roles import Permission, Role, may
from audits.domain.scope import Scope
from audits.models import Approval, Membership, Operation
from audits.operations import Refused
from audits.operations.running import perform_waiting
from records import denials, holds
from records.access import Access
from records.items import BadRequest, Conflict, NotFound
from records.jobs.runs import perform
from records.models import Event, Workspace
from records.scope import workspace_scope

from .operating import actions, again, make_person, poison, preview, run, session, statuses
from .test_operations_races import together
from .test_write import fact, put


@pytest.fixture(autouse=True)
def _strict(access: Access) -> None:
    """Two facts are enough for a second person here; refusals are told each time."""
    denials._seen.clear()
    with workspace_scope(access.workspace_id):
        Workspace.objects.filter(id=access.workspace_id).update(settings={"four_eyes": {"bulk": 1}})


def wait(access: Access, *, count: int = 3) -> tuple[Operation, UUID, Access, list[UUID]]:
    """Let a responder submit an eviction that takes a second person."""
    user, mine = make_person(access)
    ids = poison(access, count)
    shown = operations.preview(
        "evict", Scope(session_ids=(session(access, "bad"),)), access=mine, user_id=user.id
    )
    waiting = operations.submit(
        shown.id, digest=shown.digest, reason="poison", access=mine, user_id=user.id
    )
    assert waiting.state == "waiting"
    return waiting, user.id, mine, ids


def decide(operation: Operation, user_id: UUID, access: Access, **more: object) -> Approval:
    assert operation.approval_id is not None
    more.setdefault("is_yes", True)
    more.setdefault("reason", "")
    return approvals.decide(operation.approval_id, access=access, user_id=user_id, **more)  # type: ignore[arg-type]


def approval(access: Access, operation: Operation) -> Approval:
    assert operation.approval_id is not None
    with workspace_scope(access.workspace_id):
        return approvals.load(operation.approval_id, workspace_id=access.workspace_id)


def told(access: Access, approval_id: UUID | None) -> list[str]:
    with workspace_scope(access.workspace_id):
        return [e.action for e in Event.objects.filter(target_id=approval_id).order_by("id")]


def test_large_operation_waits_and_runs_when_another_agrees(access: Access) -> None:
    waiting, _, _, ids = wait(access)
    boss, theirs = make_person(access, Role.APPROVER)
    perform_waiting(access.workspace_id)
    assert statuses(access, ids) == ["active"] * 3
    asked = approval(access, waiting)
    assert asked.expires_at - asked.requested_at == timedelta(hours=72)
    with workspace_scope(access.workspace_id):
        assert approvals.is_eligible(asked, boss.id, Role.APPROVER)
        assert not operations.drift(waiting, workspace_id=access.workspace_id)
    decide(waiting, boss.id, theirs)
    perform_waiting(access.workspace_id)
    assert again(access, waiting).state == "done"
    assert statuses(access, ids) == ["evicted"] * 3
    assert told(access, waiting.approval_id) == ["approval.requested", "approval.granted"]
    with pytest.raises(Conflict):
        decide(waiting, boss.id, theirs)


def test_who_asks_cannot_agree_while_another_could(access: Access) -> None:
    make_person(access, Role.APPROVER)
    waiting, me, mine, ids = wait(access)
    people.change_role(me, Role.APPROVER, reason="promoted", access=access)
    for is_yes in (True, False):
        with pytest.raises(FourEyesError):
            decide(waiting, me, mine, is_yes=is_yes, reason="mine")
    assert approval(access, waiting).state == "waiting"
    perform_waiting(access.workspace_id)
    assert statuses(access, ids) == ["active"] * 3
    with workspace_scope(access.workspace_id):
        denied = Event.objects.filter(
            workspace_id=access.workspace_id, action="approval.denied", outcome="denied"
        )
        assert denied.count() >= 1


@pytest.mark.parametrize("role", [r for r in Role if not may(r, Permission.APPROVE_OPERATIONS)])
def test_role_without_the_permission_cannot_agree(access: Access, role: Role) -> None:
    waiting, _, _, _ = wait(access)
    user, theirs = make_person(access, role)
    with pytest.raises(FourEyesError):
        decide(waiting, user.id, theirs)


def test_stranger_and_former_member_cannot_agree(access: Access, stranger: Access) -> None:
    waiting, _, _, _ = wait(access)
    other, theirs = make_person(stranger, Role.ADMINISTRATOR)
    with pytest.raises(NotFound):
        decide(waiting, other.id, theirs)
    with pytest.raises(FourEyesError):
        decide(waiting, other.id, access)
    make_person(access, Role.ADMINISTRATOR)
    gone, mine = make_person(access, Role.APPROVER)
    people.remove_member(gone.id, reason="left", access=access)
    with pytest.raises(FourEyesError):
        decide(waiting, gone.id, mine)


def test_only_eligible_person_may_agree_alone_with_a_reason_said_aloud(access: Access) -> None:
    waiting, me, mine, ids = wait(access)
    people.change_role(me, Role.ADMINISTRATOR, reason="only one", access=access)
    with pytest.raises(BadRequest):
        decide(waiting, me, mine, reason=" ")
    answered = decide(waiting, me, mine, reason="nobody else is here")
    assert (answered.state, answered.is_alone) == ("approved", True)
    assert told(access, waiting.approval_id) == [
        "approval.requested",
        "approval.granted",
        "approval.alone",
    ]
    perform_waiting(access.workspace_id)
    assert statuses(access, ids) == ["evicted"] * 3


def test_author_cannot_agree_to_their_own_work(access: Access) -> None:
    author, theirs = make_person(access, Role.APPROVER)
    boss, other = make_person(access, Role.APPROVER)
    asker, mine = make_person(access)
    kind = f"test-{uuid4().hex[:8]}"
    done: list[str] = []
    approvals.register(kind, "Test", lambda one, by: done.append(one.state))
    asked = approvals.ask(
        kind,
        target_kind="gate_ruleset",
        target_id=uuid4(),
        summary="disable a rule",
        payload={"authors": [str(author.id)]},
        reason="noisy",
        access=mine,
        user_id=asker.id,
    )
    with pytest.raises(FourEyesError):
        approvals.decide(asked.id, is_yes=True, reason="", access=theirs, user_id=author.id)
    with pytest.raises(Conflict):
        approvals.ask(
            kind,
            target_kind="gate_ruleset",
            target_id=asked.target_id,
            summary="again",
            payload={},
            reason="",
            access=mine,
            user_id=asker.id,
        )
    approvals.decide(asked.id, is_yes=True, reason="", access=other, user_id=boss.id)
    assert done == ["approved"]


def test_refusal_needs_a_reason_and_ends_the_operation(access: Access) -> None:
    waiting, _, _, ids = wait(access)
    boss, theirs = make_person(access, Role.APPROVER)
    with pytest.raises(BadRequest):
        decide(waiting, boss.id, theirs, is_yes=False)
    decide(waiting, boss.id, theirs, is_yes=False, reason="too wide")
    perform_waiting(access.workspace_id)
    assert again(access, waiting).state == "refused"
    assert statuses(access, ids) == ["active"] * 3


def test_question_expires_after_its_time(access: Access) -> None:
    from audits.jobs import APPROVALS

    user, mine = make_person(access)
    boss, theirs = make_person(access, Role.APPROVER)
    poison(access, 3)
    before = datetime.now(UTC) - timedelta(hours=73)
    shown = operations.preview(
        "evict", Scope(session_ids=(session(access, "bad"),)), access=mine, user_id=user.id
    )
    late = operations.submit(
        shown.id, digest=shown.digest, reason="x", access=mine, user_id=user.id, now=before
    )
    with pytest.raises(Conflict):
        decide(late, boss.id, theirs)
    perform(APPROVALS, access.workspace_id, approvals.expire_approvals)
    assert approval(access, late).state == "expired"
    assert again(access, late).state == "expired"
    assert told(access, late.approval_id) == ["approval.requested", "approval.expired"]


def test_cancelling_what_waits_withdraws_the_question(access: Access) -> None:
    waiting, _, mine, _ = wait(access)
    assert operations.cancel(waiting.id, access=mine).state == "cancelled"
    assert approval(access, waiting).state == "withdrawn"
    assert actions(access, waiting)[-1] == "operation.cancelled"
    boss, theirs = make_person(access, Role.APPROVER)
    with pytest.raises(Conflict):
        decide(waiting, boss.id, theirs)


def test_database_refuses_what_no_second_person_said(access: Access) -> None:
    waiting, me, _, _ = wait(access)
    boss, theirs = make_person(access, Role.APPROVER)
    asked = approval(access, waiting)
    now = datetime.now(UTC)
    mine_alone = {
        "state": "approved",
        "decided_by": "me",
        "decided_by_id": me,
        "decided_at": now,
        "decided_reason": "mine",
    }
    faults: list[dict[str, object]] = [
        mine_alone,
        mine_alone | {"is_alone": True},
        {"requested_by_id": boss.id},
        {"expires_at": now + timedelta(days=365)},
        {"payload": {}},
        {"state": "approved"},
    ]
    for fault in faults:
        with pytest.raises(Error), workspace_scope(access.workspace_id), transaction.atomic():
            Approval.objects.filter(id=asked.id).update(**fault)
    answered = Approval(
        id=uuid4(),
        workspace_id=access.workspace_id,
        kind="operation",
        summary="x",
        state="approved",
        requested_by="a",
        requested_by_id=me,
        expires_at=now + timedelta(days=1),
        decided_by="b",
        decided_by_id=boss.id,
    )
    with pytest.raises(Error), workspace_scope(access.workspace_id), transaction.atomic():
        answered.save(force_insert=True)
    decide(waiting, boss.id, theirs)
    with pytest.raises(Error), workspace_scope(access.workspace_id), transaction.atomic():
        Approval.objects.filter(id=asked.id).update(decided_reason="other")


def test_operation_does_not_run_on_a_state_alone(access: Access) -> None:
    waiting, _, _, ids = wait(access)
    with (
        pytest.raises(Error, match="nobody has agreed"),
        workspace_scope(access.workspace_id),
        transaction.atomic(),
    ):
        Operation.objects.filter(id=waiting.id).update(state="queued")
    perform_waiting(access.workspace_id)
    assert again(access, waiting).state == "waiting"
    assert statuses(access, ids) == ["active"] * 3


def test_database_and_code_name_the_same_roles() -> None:
    from pathlib import Path

    import audits

    for name in ("approvals.sql", "agreeing.sql"):
        text = (Path(audits.__file__).parent / "sql" / name).read_text()
        named = {role for role in Role if f"'{role}'" in text}
        assert named == {role for role in Role if may(role, Permission.APPROVE_OPERATIONS)}


def test_erasing_takes_a_second_person_the_count_and_leaves_what_is_held(access: Access) -> None:
    user, mine = make_person(access)
    boss, theirs = make_person(access, Role.APPROVER)
    ids = poison(access, 3)
    holds.place("record", ids[0], "court", access=access)
    scope = Scope(session_ids=(session(access, "bad"),))
    shown = operations.preview("erase", scope, access=mine, user_id=user.id)
    assert (shown.groups["erase"], shown.groups["hold"], shown.total) == (2, 1, 3)
    for count in (None, 3):
        with pytest.raises(Refused) as refused:
            operations.submit(
                shown.id,
                digest=shown.digest,
                reason="request",
                typed_count=count,
                access=mine,
                user_id=user.id,
            )
        assert refused.value.errors[0].field == "typed_count"
    waiting = operations.submit(
        shown.id, digest=shown.digest, reason="r", typed_count=2, access=mine, user_id=user.id
    )
    assert waiting.state == "waiting"
    decide(waiting, boss.id, theirs)
    perform_waiting(access.workspace_id)
    done = again(access, waiting)
    assert (done.state, done.changed, done.undo_until) == ("done", 2, None)
    assert statuses(access, ids) == ["active", "erased", "erased"]
    assert done.receipt["residue"]["by_text"] == [2, 0]
    with pytest.raises(Conflict):
        operations.preview_undo(done.id, access=mine, user_id=user.id)


def test_hold_that_is_placed_after_the_preview_stops_the_erasure(access: Access) -> None:
    user, mine = make_person(access)
    boss, theirs = make_person(access, Role.APPROVER)
    ids = poison(access, 2)
    shown = operations.preview("erase", Scope(record_ids=tuple(ids)), access=mine, user_id=user.id)
    waiting = operations.submit(
        shown.id, digest=shown.digest, reason="r", typed_count=2, access=mine, user_id=user.id
    )
    holds.place("record", ids[0], "court", access=access)
    decide(waiting, boss.id, theirs)
    perform_waiting(access.workspace_id)
    assert again(access, waiting).state == "drifted"
    assert statuses(access, ids) == ["active"] * 2


def test_list_of_approvals_filters_and_keeps_to_its_workspace(
    access: Access, stranger: Access
) -> None:
    waiting, me, _, _ = wait(access)
    with workspace_scope(access.workspace_id):
        for wanted, count in (
            (approvals.ApprovalFilter(), 1),
            (approvals.ApprovalFilter(state="approved"), 0),
            (approvals.ApprovalFilter(kind="operation", target_id=waiting.id), 1),
            (approvals.ApprovalFilter(not_requested_by_id=me), 0),
        ):
            page = approvals.list_approvals(wanted, cursor=None, workspace_id=access.workspace_id)
            assert len(page.items) == count
        assert approvals.count_waiting(access.workspace_id) == 1
        assert approvals.count_waiting(access.workspace_id, not_by=me) == 0
    with workspace_scope(stranger.workspace_id):
        assert approvals.count_waiting(access.workspace_id) == 0
        assert Membership.objects.filter(workspace_id=access.workspace_id).count() == 0


def test_small_operation_needs_nobody(access: Access) -> None:
    one = put(access, fact(value="Evil", session="bad"))
    done = run(access, preview(access, Scope(record_ids=(one.id,))))  # type: ignore[arg-type]
    assert (done.state, done.approval_id) == ("done", None)


def test_two_approvers_at_once_give_one_answer(access: Access) -> None:
    waiting, _, _, ids = wait(access)
    people_here = [make_person(access, Role.APPROVER) for _ in range(3)]
    answers: list[str] = []

    def attempt(number: int) -> None:
        user, theirs = people_here[number]
        try:
            answers.append(decide(waiting, user.id, theirs).state)
        except Conflict:
            answers.append("conflict")

    numbers = iter(range(3))
    together(lambda: attempt(next(numbers)), 3)
    assert sorted(answers) == ["approved", "conflict", "conflict"]
    perform_waiting(access.workspace_id)
    assert statuses(access, ids) == ["evicted"] * 3
    assert told(access, waiting.approval_id).count("approval.granted") == 1
