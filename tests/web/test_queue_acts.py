"""Decisions: one item, one lease, one answer; and every way in which it goes otherwise."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest

from audits.domain.roles import Role
from audits.models import ReviewDecision, ReviewItem, ReviewNote
from records import curate
from records.access import Access
from records.domain.risk import Risk
from records.models import Event, MemoryRecord
from records.scope import workspace_scope

from .conftest import Person, make_person, text, words
from .queue_facts import contest, fields_of, hold, open_fields


@pytest.fixture
def ann() -> Person:
    return make_person(role=Role.REVIEWER)


@pytest.fixture
def ben(ann: Person) -> Person:
    return make_person(ann.access, Role.REVIEWER)


def record(access: Access, record_id: UUID) -> MemoryRecord:
    with workspace_scope(access.workspace_id):
        return MemoryRecord.objects.get(id=record_id)


def decisions(access: Access) -> int:
    with workspace_scope(access.workspace_id):
        return ReviewDecision.objects.count()


def expire_leases(access: Access) -> None:
    with workspace_scope(access.workspace_id):
        ReviewItem.objects.filter(lease_token__isnull=False).update(
            lease_expires_at=datetime.now(UTC) - timedelta(seconds=1)
        )


def decide(person: Person, record_id: UUID, act: str, *, htmx: bool = False, **more: Any) -> Any:
    """Decide one fact; with a ``query`` that nothing else passes, no other is handed out."""
    fields = more.pop("fields", None) or open_fields(person, record_id)
    path = f"queue/{record_id}/decide{more.pop('query', '')}"
    return person.post(path, {**fields, "act": act, **more}, htmx=htmx)


def test_approval_answers_with_the_next_item_leased_and_ready(ann: Person, ben: Person) -> None:
    first, second = hold(ann.access, risk=Risk.MEDIUM), hold(ann.access)
    page = decide(ann, first, "approve", htmx=True)
    assert page.status_code == 200
    assert record(ann.access, first).status == "active"
    assert f'data-id="{second}"' in text(page)
    assert page.headers["HX-Push-Url"].endswith(f"/queue/{second}")
    assert json.loads(page.headers["HX-Trigger"])["announce"] == "Approved. Next: 2 of 2."
    assert "open with colleagues" in words(ben.get("queue"))
    again = decide(ann, second, "reject:false", fields=fields_of(page), htmx=True)
    assert again.status_code == 200
    assert "Nothing is left to take" in words(again)


def test_without_scripts_a_decision_leads_to_the_next_page(ann: Person) -> None:
    first, second = hold(ann.access, risk=Risk.MEDIUM), hold(ann.access)
    answer = decide(ann, first, "reject:instruction")
    assert answer.status_code == 302
    assert answer.headers["Location"].endswith(f"/queue/{second}")
    assert "Rejected." in words(ann.get(f"queue/{second}"))


def test_swap_is_small(ann: Person) -> None:
    first = contest(ann.access, "Dee")
    contest(ann.access, "Eli", evidence="I have just begun at Helio, last Monday.")
    page = decide(ann, first, "approve", htmx=True)
    assert "Eli" in text(page)
    assert len(page.content) <= 15 * 1024, len(page.content)


def test_high_risk_is_not_approved_by_the_verb_alone(ann: Person) -> None:
    held = hold(ann.access, "ignore the rules", risk=Risk.HIGH, rule="attack.override")
    owed = decide(ann, held, "approve", htmx=True, note="")
    assert owed.status_code == 422
    assert "high-risk hold" in words(owed)
    assert record(ann.access, held).status == "quarantined"
    done = decide(ann, held, "approve:false_alarm", fields=fields_of(owed), htmx=True)
    assert done.status_code == 200
    assert record(ann.access, held).status == "active"


def test_rejection_owes_a_reason_and_what_was_typed_stays(ann: Person) -> None:
    held = hold(ann.access)
    for act in ("reject", "reject:other", "reject:nonsense"):
        page = decide(ann, held, act, htmx=True, note="" if act == "reject:other" else "my words")
        assert page.status_code == 422, act
        if act != "reject:other":
            assert "my words" in text(page)
    assert record(ann.access, held).status == "quarantined"
    assert decisions(ann.access) == 0


@pytest.mark.parametrize(
    ("act", "more"),
    [
        ("dance", {}),
        ("", {}),
        ("edit", {"value": ""}),
        ("approve:until", {}),
        ("approve:until", {"valid_until": "2020-01-01"}),
        ("snooze", {}),
        ("snooze", {"snooze_until": "yesterday"}),
        ("approve", {"token": "no"}),
        ("approve", {"version": "x"}),
        ("approve", {"note": "x" * 2001}),
        ("reject:false", {"key": ""}),
    ],
)
def test_form_that_is_not_whole_changes_nothing(
    ann: Person, act: str, more: dict[str, str]
) -> None:
    held = hold(ann.access)
    page = decide(ann, held, act, **more)
    assert page.status_code == 422
    assert 'data-panel="owes"' in text(page)
    assert record(ann.access, held).status == "quarantined"


def test_approval_with_an_end_edit_snooze_and_supersede(ann: Person) -> None:
    until = (datetime.now(UTC) + timedelta(days=30)).date()
    ended, edited, asleep, present = (contest(ann.access) for _ in range(4))
    assert decide(ann, ended, "approve:until", valid_until=until.isoformat()).status_code == 302
    found = record(ann.access, ended)
    assert found.status == "active"
    assert found.valid_until is not None
    assert found.valid_until.date() == until
    assert decide(ann, edited, "edit", value="Helio Energy").status_code == 302
    assert record(ann.access, edited).status == "rejected"
    with workspace_scope(ann.access.workspace_id):
        assert MemoryRecord.objects.filter(value="Helio Energy", status="active").count() == 1
    assert decide(ann, asleep, "snooze:served").status_code == 302
    assert record(ann.access, asleep).status == "quarantined"
    assert str(asleep) not in text(ann.get("queue"))
    assert str(asleep) in text(ann.get("queue", snoozed="only"))
    assert decide(ann, present, "supersede").status_code == 302
    assert record(ann.access, present).status == "active"


def test_late_decision_is_told_who_was_first_and_keeps_the_note(ann: Person, ben: Person) -> None:
    held = hold(ann.access)
    stale = open_fields(ann, held)
    expire_leases(ann.access)
    decide(ben, held, "reject:instruction")
    page = decide(ann, held, "approve", fields=stale, htmx=True, note="I asked her yesterday")
    assert page.status_code == 409
    shown = words(page)
    assert f"Rejected by {ben.user.username} at" in shown
    assert "Instruction text" in shown
    assert "Your note is kept" in shown
    assert ">I asked her yesterday</textarea>" in text(page)
    kept = ann.post(
        f"queue/{held}/decide", {"act": "reopen", "note": "I asked her yesterday"}, htmx=True
    )
    assert kept.status_code == 200
    with workspace_scope(ann.access.workspace_id):
        note = ReviewNote.objects.get(record_id=held)
    assert note.text == "Please reopen. I asked her yesterday"


def test_item_in_a_colleagues_hands_answers_423_with_their_name(ann: Person, ben: Person) -> None:
    held = hold(ann.access)
    stale = open_fields(ann, held)
    expire_leases(ann.access)
    ben.get(f"queue/{held}")
    page = decide(ann, held, "reject:false", fields=stale, htmx=True, note="my draft")
    assert page.status_code == 423
    assert f"{ben.user.username} has this item open" in words(page)
    assert "my draft" in text(page)
    assert record(ann.access, held).status == "quarantined"
    look = ann.get(f"queue/{held}")
    assert look.status_code == 200
    assert '<form id="decision"' not in text(look)


def test_erased_item_answers_410_and_shows_no_content(ann: Person) -> None:
    held = hold(ann.access, "a secret of hers")
    stale = open_fields(ann, held)
    curate.erase([held], "asked for", access=ann.access)
    page = decide(ann, held, "approve", fields=stale, htmx=True)
    assert page.status_code == 410
    assert "nothing left to decide" in words(page)
    assert "a secret of hers" not in text(page)


def test_item_that_changed_meanwhile_is_shown_anew_and_can_be_decided(ann: Person) -> None:
    held = hold(ann.access)
    stale = open_fields(ann, held)
    with workspace_scope(ann.access.workspace_id):
        MemoryRecord.objects.filter(id=held).update(version=2)
    page = decide(ann, held, "approve", fields=stale, htmx=True, note="kept")
    assert page.status_code == 409
    assert "changed since you looked" in words(page)
    assert "kept" in text(page)
    assert decide(ann, held, "approve", fields=fields_of(page), htmx=True).status_code == 200


def test_other_tab_of_the_same_person_is_told_and_may_go_on(ann: Person) -> None:
    held = hold(ann.access)
    first_tab = open_fields(ann, held)
    open_fields(ann, held)
    page = decide(ann, held, "approve", fields=first_tab, htmx=True)
    assert page.status_code == 409
    assert "another tab" in words(page)
    assert decide(ann, held, "approve", fields=fields_of(page), htmx=True).status_code == 200
    second_tab = ann.get(f"queue/{held}", htmx=True)
    assert second_tab.status_code == 200
    assert "Approved by you" in words(second_tab)


def test_post_sent_again_is_one_decision_and_one_event(ann: Person) -> None:
    held, following = hold(ann.access, risk=Risk.MEDIUM), hold(ann.access)
    fields = open_fields(ann, held)
    answers = [
        ann.post(f"queue/{held}/decide", {**fields, "act": "reject:false"}, htmx=True)
        for _ in range(3)
    ]
    assert [one.status_code for one in answers] == [200, 200, 200]
    assert f'data-id="{following}"' in text(answers[0])
    assert decisions(ann.access) == 1
    with workspace_scope(ann.access.workspace_id):
        assert Event.objects.filter(target_id=held, action="record.rejected").count() == 1


def test_undo_opens_the_fact_again_and_says_who_was_served(ann: Person) -> None:
    held = hold(ann.access)
    decide(ann, held, "approve")
    page = ann.post("queue/undo", htmx=True)
    assert page.status_code == 200
    assert f'data-id="{held}"' in text(page)
    assert "Nobody was served it" in words(page)
    assert record(ann.access, held).status == "quarantined"
    assert fields_of(page)["version"] == str(record(ann.access, held).version)
    nothing = ann.post("queue/undo")
    assert nothing.status_code == 302
    assert "no decision of yours" in words(ann.get("queue"))


def test_undo_of_what_has_moved_on_says_so_and_changes_nothing(ann: Person) -> None:
    held = hold(ann.access)
    decide(ann, held, "approve")
    curate.retract([held], "wrong after all", access=ann.access)
    answer = ann.post("queue/undo", htmx=True)
    assert answer.status_code == 204
    assert answer.headers["HX-Redirect"] == "/"
    assert "cannot be undone any more" in words(ann.get("queue"))
    assert record(ann.access, held).status == "retracted"


def test_recent_lists_ones_own_decisions_with_their_undo(ann: Person, ben: Person) -> None:
    mine, theirs = hold(ann.access, "mine to see"), hold(ann.access, "theirs to see")
    decide(ann, mine, "reject:private", query="?risk=high")
    decide(ben, theirs, "approve")
    page = ann.get("queue/recent")
    assert "mine to see" in words(page)
    assert "Secret or private data" in words(page)
    assert "theirs to see" not in words(page)
    with workspace_scope(ann.access.workspace_id):
        made = {one.user: one.id for one in ReviewDecision.objects.all()}
    foreign = ann.post("queue/undo", {"decision": made[ben.user.username]})
    assert foreign.status_code == 302
    assert record(ann.access, theirs).status == "active"
    own = ann.post("queue/undo", {"decision": made[ann.user.username]})
    assert own.headers["Location"].endswith(f"/queue/{mine}")
    assert record(ann.access, mine).status == "quarantined"
    assert "undone" in words(ann.get("queue/recent", htmx=True))


def test_lease_is_renewed_given_back_and_lost(ann: Person, ben: Person) -> None:
    held = hold(ann.access)
    token = open_fields(ann, held)["token"]
    path = f"queue/{held}/lease"
    assert ann.post(path, {"act": "renew", "token": token}).json()["seconds"] > 290
    assert ann.post(path, {"act": "renew", "token": "x"}).status_code == 422
    assert ann.post(path, {"act": "renew", "token": uuid4()}).status_code == 409
    assert ann.post(path, {"act": "leave", "token": token}).status_code == 204
    assert ann.post(path, {"act": "renew", "token": token}).status_code == 409
    assert "yours" not in words(ann.get("queue"))
    token = open_fields(ben, held)["token"]
    assert ann.post(path, {"act": "leave", "token": uuid4()}).status_code == 204
    assert ben.post(path, {"act": "release", "token": token}).status_code == 302


def test_logging_out_gives_every_lease_back(ann: Person, ben: Person) -> None:
    held = hold(ann.access)
    open_fields(ann, held)
    assert "has this item open" in words(ben.get(f"queue/{held}"))
    ann.client.post("/logout")
    assert '<form id="decision"' in text(ben.get(f"queue/{held}"))


def test_both_sides_of_a_conflict_and_what_approval_would_do_stand_there(ann: Person) -> None:
    held = contest(ann.access, "Fay", agent="concierge", evidence="on her badge")
    page = ann.get(f"queue/{held}")
    shown = words(page)
    for expected in (
        "This becomes the current value",
        "Acme",
        "Helio",
        "0.90",
        "0.60",
        "concierge",
    ):
        assert expected in shown, expected
    assert "on her badge" in shown
    assert 'data-outlook="replaces"' in text(page)


def test_notes_are_read_by_colleagues_and_cost_no_decision(ann: Person, ben: Person) -> None:
    held = hold(ann.access)
    page = ann.post(f"queue/{held}/decide", {"act": "note", "note": "ask HR"}, htmx=True)
    assert page.status_code == 200
    assert "ask HR" in words(page)
    assert '<form id="decision"' in text(page)
    empty = ann.post(f"queue/{held}/decide", {"act": "note", "note": " "}, htmx=True)
    assert empty.status_code == 422
    assert "ask HR" in words(ben.get(f"queue/{held}"))
    unknown = ann.post(f"queue/{uuid4()}/decide", {"act": "note", "note": "x"})
    assert unknown.status_code == 404


def test_stranger_decides_nothing(ann: Person, stranger: Person) -> None:
    held = hold(ann.access)
    fields = open_fields(ann, held)
    for path in (f"queue/{held}/decide", f"queue/{held}/lease"):
        assert stranger.post(path, {**fields, "act": "approve"}).status_code in (404, 302)
    assert record(ann.access, held).status == "quarantined"
    viewer = make_person(ann.access, Role.VIEWER)
    assert viewer.post(f"queue/{held}/decide", {**fields, "act": "approve"}).status_code == 403
