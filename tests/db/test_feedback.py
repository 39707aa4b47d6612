"""Feedback strengthens within bounds, sends to review, and is no way to vouch for oneself."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest

from records import feedback
from records.access import Access
from records.feedback import FeedbackResult
from records.items import BadRequest, NotFound
from records.retrieve import RecallRequest, recall
from tests import factories as make

NOW = datetime.now(UTC)


@pytest.fixture
def access() -> Access:
    make.make_record(make.make_workspace(), "Initech")
    return make.make_workspace()


def served(access: Access, session: str | None, *, partition: str = "alice", **asked: Any) -> UUID:
    request = RecallRequest(partition, "Alice employer", session=session, **asked)
    return recall(request, access=access).recall_id


def say(access: Access, memory_id: UUID, verdict: str, session: str) -> FeedbackResult:
    """Let a session be served the memory and speak of it."""
    return feedback.give(served(access, session), memory_id, verdict, access=access)


def row(access: Access, record_id: UUID, columns: str) -> tuple[Any, ...]:
    found = make.select(access, f"SELECT {columns} FROM memory_record WHERE id = %s", [record_id])
    return found[0]


def test_each_session_that_confirms_adds_a_little_up_to_a_bound(access: Access) -> None:
    record_id = make.make_record(access, "Acme", confidence=0.6, stated_confidence=0.6)
    found = [say(access, record_id, "confirmed", f"reader {n}") for n in range(5)]
    assert [one.confidence for one in found] == pytest.approx([0.65, 0.7, 0.75, 0.75, 0.75])
    assert [one.confirmed for one in found] == [1, 2, 3, 4, 5]
    assert all(one.counted for one in found)
    assert row(access, record_id, "confidence, stated_confidence") == pytest.approx((0.75, 0.6))


def test_confidence_never_passes_one(access: Access) -> None:
    record_id = make.make_record(access, "Acme", confidence=0.95, stated_confidence=0.95)
    for number in range(3):
        assert say(access, record_id, "confirmed", f"reader {number}").confidence <= 1.0


def test_a_session_speaks_once_and_its_latest_word_counts(access: Access) -> None:
    record_id = make.make_record(access, "Acme", confidence=0.6, stated_confidence=0.6)
    say(access, record_id, "confirmed", "reader")
    again = say(access, record_id, "confirmed", "reader")
    assert (again.counted, again.why, again.confirmed) == (False, "repeated", 1)
    assert again.confidence == pytest.approx(0.65)
    changed = say(access, record_id, "wrong", "reader")
    assert (changed.confirmed, changed.wrong) == (0, 1)
    assert changed.confidence == pytest.approx(0.6)


def test_a_session_cannot_confirm_what_it_wrote(access: Access) -> None:
    record_id = make.make_record(access, "Acme", confidence=0.6, session="writer")
    found = say(access, record_id, "confirmed", "writer")
    assert (found.counted, found.why, found.confirmed) == (False, "own", 0)
    assert found.confidence == pytest.approx(row(access, record_id, "confidence")[0])
    assert say(access, record_id, "wrong", "writer").wrong == 1


def test_one_recall_has_one_voice_whatever_session_is_named(access: Access) -> None:
    record_id = make.make_record(access, "Acme", session="writer")
    recall_id = served(access, "reader")
    for name in ("reader", "another", "a third"):
        found = feedback.give(recall_id, record_id, "confirmed", session=name, access=access)
    assert found.confirmed == 1
    nameless = served(access, None)
    for _ in range(2):
        found = feedback.give(nameless, record_id, "confirmed", access=access)
    assert found.confirmed == 2
    # Without any session the key itself is the voice, for every such recall.
    found = feedback.give(served(access, None), record_id, "confirmed", access=access)
    assert (found.confirmed, found.why) == (2, "repeated")


def test_a_confirmation_is_being_seen_and_ones_own_is_not(access: Access) -> None:
    long_ago = NOW - timedelta(days=100)
    record_id = make.make_record(access, "Acme", seen=long_ago, session="writer")
    say(access, record_id, "confirmed", "writer")
    assert row(access, record_id, "last_seen") == (long_ago,)
    say(access, record_id, "confirmed", "reader")
    assert row(access, record_id, "last_seen")[0] > NOW - timedelta(minutes=5)
    age = recall(RecallRequest("alice", "employer"), access=access).items[0].factors["age"]
    assert age == pytest.approx(1.0, abs=1e-3)


def test_two_sessions_that_say_wrong_take_a_record_out_until_a_person_decides(
    access: Access,
) -> None:
    record_id = make.make_record(access, "Acme")
    assert say(access, record_id, "wrong", "reader 1").status == "active"
    assert say(access, record_id, "wrong", "reader 1").status == "active"
    recall_3 = served(access, "reader 3")
    assert say(access, record_id, "wrong", "reader 2").status == "quarantined"
    assert row(access, record_id, "status, hold_reason") == ("quarantined", "feedback")
    assert recall(RecallRequest("alice", "Alice employer"), access=access).items == ()
    # Whoever was served it before may still say so; nothing changes.
    late = feedback.give(recall_3, record_id, "confirmed", access=access)
    assert (late.counted, late.why, late.status) == (False, "not_active", "quarantined")


def test_a_trusted_sources_record_is_checked_again_and_not_taken_out(access: Access) -> None:
    record_id = make.make_record(access, "Acme", trust=2)
    say(access, record_id, "wrong", "reader 1")
    found = say(access, record_id, "wrong", "reader 2")
    assert (found.status, found.recheck) == ("active", True)
    (item,) = recall(RecallRequest("alice", "Alice employer"), access=access).items
    assert item.why_not_current == ("recheck",)


def test_stale_marks_a_recheck_and_the_same_voice_takes_it_back(access: Access) -> None:
    record_id = make.make_record(access, "Acme")
    assert say(access, record_id, "stale", "reader").recheck
    assert row(access, record_id, "recheck_reason") == ("feedback",)
    (item,) = recall(RecallRequest("alice", "Alice employer"), access=access).items
    assert (item.current, item.why_not_current) == (False, ("recheck",))
    assert not say(access, record_id, "confirmed", "reader").recheck
    assert row(access, record_id, "recheck_at, recheck_reason") == (None, None)


def test_words_that_confirm_nothing_leave_confidence_alone(access: Access) -> None:
    # Somebody lowered it since: only a confirmation more or less weighs it again.
    record_id = make.make_record(access, "Acme", confidence=0.2, stated_confidence=0.6)
    assert say(access, record_id, "wrong", "reader 1").confidence == pytest.approx(0.2)
    assert say(access, record_id, "stale", "reader 2").confidence == pytest.approx(0.2)


def test_a_recheck_for_another_reason_is_not_taken_back_by_feedback(access: Access) -> None:
    record_id = make.make_record(
        access, "Acme", recheck_at=NOW, recheck_reason="the address changed"
    )
    say(access, record_id, "stale", "reader")
    say(access, record_id, "confirmed", "reader")
    assert row(access, record_id, "recheck_reason") == ("the address changed",)


def test_a_suspended_session_has_no_voice(access: Access) -> None:
    record_id = make.make_record(access, "Acme", confidence=0.6, stated_confidence=0.6)
    say(access, record_id, "wrong", "bad")
    make.suspend_session(access, "bad")
    found = say(access, record_id, "wrong", "reader")
    assert (found.wrong, found.status) == (1, "active")


def test_every_word_that_changes_something_writes_its_event(access: Access) -> None:
    record_id = make.make_record(access, "Acme")
    say(access, record_id, "wrong", "reader 1")
    say(access, record_id, "wrong", "reader 1")
    say(access, record_id, "wrong", "reader 2")
    events = make.select(
        access, "SELECT action, actor FROM event WHERE target_id = %s ORDER BY id", [record_id]
    )
    assert events == [
        ("feedback.wrong", "test"),
        ("feedback.wrong", "test"),
        ("record.held", "test"),
    ]


@pytest.mark.parametrize("verdict", ["", "CONFIRMED", "true", "liked"])
def test_an_unknown_verdict_is_refused_by_name(access: Access, verdict: str) -> None:
    record_id = make.make_record(access, "Acme")
    with pytest.raises(BadRequest) as caught:
        feedback.give(served(access, "s"), record_id, verdict, access=access)
    assert [error.field for error in caught.value.errors] == ["verdict"]


def test_what_was_not_served_or_is_out_of_reach_is_not_found(access: Access) -> None:
    record_id = make.make_record(access, "Acme")
    recall_id = served(access, "reader")
    elsewhere = make.make_record(access, "Globex", partition="bob")
    bobs = served(access, "reader", partition="bob")
    later = make.make_record(access, "Hooli")
    bound = Access(access.workspace_id, access.actor, partition="bob")
    other = make.make_workspace()
    for who, one_recall, memory in (
        (access, uuid4(), record_id),
        (access, recall_id, uuid4()),
        (access, recall_id, later),
        (access, recall_id, elsewhere),
        (access, bobs, record_id),
        (bound, recall_id, record_id),
        (other, recall_id, record_id),
    ):
        with pytest.raises(NotFound):
            feedback.give(one_recall, memory, "wrong", access=who)
    assert make.select(access, "SELECT count(*) FROM feedback", []) == [(0,)]
    assert feedback.give(bobs, elsewhere, "wrong", access=bound).wrong == 1
