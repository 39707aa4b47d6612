"""What takes two people beside bulk acts: administrators, high-risk facts, looser settings."""

from __future__ import annotations

from typing import Any

import pytest

from audits.domain.roles import Role
from audits.models import Approval, Membership
from records.domain.risk import Risk
from records.models import Event, MemoryRecord, Workspace
from records.scope import workspace_scope

from .conftest import Person, make_person, text, words
from .queue_facts import hold, ids_on, open_fields


def role_of(person: Person) -> str:
    with workspace_scope(person.access.workspace_id):
        return Membership.objects.get(user=person.user, removed_at=None).role


def settings_of(person: Person) -> dict[str, Any]:
    with workspace_scope(person.access.workspace_id):
        return dict(Workspace.objects.get(id=person.access.workspace_id).settings)


def count_events(person: Person, action: str) -> int:
    with workspace_scope(person.access.workspace_id):
        return Event.objects.filter(workspace_id=person.access.workspace_id, action=action).count()


def path_of(answer: Any, person: Person) -> str:
    assert answer.status_code == 302, words(answer)
    return str(answer.headers["Location"]).split(person.url(), 1)[1]


def change(person: Person, **settings: Any) -> Any:
    form = {"bulk": 1000, "undo_days": 30, "log_days": 400, "reason": "as agreed", **settings}
    return person.post("four-eyes/change", form)


def test_new_administrator_takes_two_and_is_not_one_of_them(admin: Person) -> None:
    member = make_person(admin.access, Role.APPROVER)
    second = make_person(admin.access, Role.ADMINISTRATOR)
    asked = path_of(
        admin.post(f"people/{member.user.id}/role", {"role": "administrator", "reason": "on call"}),
        admin,
    )
    assert role_of(member) == Role.APPROVER
    for nobody in (admin, member):
        answer = nobody.post(f"{asked}/decide", {"answer": "approve", "reason": "mine"})
        assert answer.status_code == 403
    assert second.post(f"{asked}/decide", {"answer": "approve"}).status_code == 302
    assert role_of(member) == Role.ADMINISTRATOR


def test_lone_administrator_makes_another_alone_and_it_is_said_aloud(admin: Person) -> None:
    member = make_person(admin.access, Role.VIEWER)
    answer = admin.post(
        f"people/{member.user.id}/role", {"role": "administrator", "reason": "I am alone"}
    )
    assert answer.status_code == 302
    assert role_of(member) == Role.ADMINISTRATOR
    assert count_events(admin, "approval.alone") == 1


def test_who_has_just_taken_a_colleagues_right_does_not_agree_alone(admin: Person) -> None:
    other = make_person(admin.access, Role.APPROVER)
    demote = {"role": "viewer", "reason": "on leave"}
    assert admin.post(f"people/{other.user.id}/role", demote).status_code == 302
    asked = path_of(change(admin, bulk=5000), admin)
    page = words(admin.get(asked))
    assert "So you may not agree alone" in page
    answer = admin.post(f"{asked}/decide", {"answer": "approve", "reason": "nobody is here"})
    assert answer.status_code == 403
    assert settings_of(admin).get("four_eyes", {}).get("bulk", 1000) == 1000
    back = {"role": "approver", "reason": "is back"}
    assert admin.post(f"people/{other.user.id}/role", back).status_code == 302
    assert other.post(f"{asked}/decide", {"answer": "approve"}).status_code == 302
    assert settings_of(admin)["four_eyes"]["bulk"] == 5000


def test_nobody_is_invited_as_an_administrator(admin: Person) -> None:
    answer = admin.post("people/invite", {"invited": "Rosa", "role": "administrator"})
    assert answer.status_code == 422


def high_risk(person: Person) -> MemoryRecord:
    held = hold(person.access, risk=Risk.HIGH)
    with workspace_scope(person.access.workspace_id):
        return MemoryRecord.objects.get(id=held)


def decide(person: Person, record: MemoryRecord, act: str = "approve:false_alarm") -> Any:
    form = open_fields(person, record.id)
    return person.post(f"queue/{record.id}/decide", {**form, "act": act})


def status_of(person: Person, record: MemoryRecord) -> str:
    with workspace_scope(person.access.workspace_id):
        return MemoryRecord.objects.get(id=record.id).status


@pytest.fixture
def strict(admin: Person) -> Person:
    """An administrator whose workspace lets high-risk facts in only by two."""
    assert change(admin, high_risk="on").status_code == 302
    assert settings_of(admin)["four_eyes"]["high_risk"] is True
    return admin


def test_high_risk_fact_is_let_in_by_a_second_person(strict: Person) -> None:
    reviewer = make_person(strict.access, Role.APPROVER)
    record = high_risk(strict)
    told = decide(reviewer, record)
    assert told.status_code == 302
    assert status_of(strict, record) == "quarantined"
    with workspace_scope(strict.access.workspace_id):
        approval = Approval.objects.get(kind="high_risk_approval")
    mine = reviewer.post(f"approvals/{approval.id}/decide", {"answer": "approve"})
    assert mine.status_code == 403
    assert status_of(strict, record) == "quarantined"
    assert strict.post(f"approvals/{approval.id}/decide", {"answer": "approve"}).status_code == 302
    assert status_of(strict, record) == "active"


def test_refused_high_risk_fact_is_back_in_the_queue(strict: Person) -> None:
    reviewer = make_person(strict.access, Role.APPROVER)
    record = high_risk(strict)
    decide(reviewer, record)
    asleep = reviewer.get("queue")
    assert record.id not in ids_on(asleep)
    with workspace_scope(strict.access.workspace_id):
        approval = Approval.objects.get(kind="high_risk_approval")
    strict.post(f"approvals/{approval.id}/decide", {"answer": "refuse", "reason": "it is one"})
    assert status_of(strict, record) == "quarantined"
    assert record.id in ids_on(reviewer.get("queue"))


def test_undo_of_the_request_withdraws_it(strict: Person) -> None:
    reviewer = make_person(strict.access, Role.APPROVER)
    record = high_risk(strict)
    decide(reviewer, record)
    assert reviewer.post("queue/undo").status_code == 302
    with workspace_scope(strict.access.workspace_id):
        approval = Approval.objects.get(kind="high_risk_approval")
    assert approval.state == "withdrawn"
    assert record.id in ids_on(reviewer.get("queue"))


def test_no_way_round_the_second_person(strict: Person) -> None:
    reviewer = make_person(strict.access, Role.APPROVER)
    record = high_risk(strict)
    direct = reviewer.post(
        f"records/{record.id}/approve", {"version": record.version, "reason": "quick"}
    )
    assert direct.status_code == 409
    assert "needs a second person" in words(direct)
    edited = decide(reviewer, record, "edit")
    assert edited.status_code == 422
    assert status_of(strict, record) == "quarantined"


def test_without_the_setting_one_person_and_a_reason_let_it_in(admin: Person) -> None:
    record = high_risk(admin)
    decide(admin, record)
    assert status_of(admin, record) == "active"


def test_stricter_setting_counts_at_once_and_a_looser_one_takes_two(admin: Person) -> None:
    second = make_person(admin.access, Role.APPROVER)
    assert change(admin, bulk=10).status_code == 302
    assert settings_of(admin)["four_eyes"]["bulk"] == 10
    assert count_events(admin, "settings.changed") == 1
    for looser in ({"bulk": 500}, {"bulk": 10, "log_days": 30}, {"bulk": 10, "undo_days": 1}):
        asked = path_of(change(admin, **looser), admin)
        assert asked.startswith("approvals/")
        assert settings_of(admin)["four_eyes"]["bulk"] == 10
        assert change(admin, **looser).status_code == 409, "it is asked already"
        assert admin.post(f"{asked}/withdraw").status_code == 302
    asked = path_of(change(admin, bulk=500), admin)
    assert admin.post(f"{asked}/decide", {"answer": "approve"}).status_code == 403
    assert second.post(f"{asked}/decide", {"answer": "approve"}).status_code == 302
    assert settings_of(admin)["four_eyes"]["bulk"] == 500
    assert count_events(admin, "settings.changed") == 2


@pytest.mark.parametrize(
    "wrong", [{"bulk": -1}, {"bulk": "many"}, {"undo_days": 0}, {"log_days": 4000}, {"reason": ""}]
)
def test_setting_that_makes_no_sense_is_named(admin: Person, wrong: dict[str, Any]) -> None:
    before = settings_of(admin)
    assert change(admin, **wrong).status_code == 422
    assert settings_of(admin) == before


def test_only_administrators_change_the_settings(admin: Person) -> None:
    for role in Role:
        if role is Role.ADMINISTRATOR:
            continue
        person = make_person(admin.access, role)
        assert change(person, bulk=10).status_code == 403
        assert "four-eyes/change" not in text(person.get("four-eyes"))
