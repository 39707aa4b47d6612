"""Incidents as rules: severities, acknowledgement, what keeps one open, what is said of a scope."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from audits.domain.incident_words import words
from audits.domain.incidents import (
    ACKNOWLEDGE_WITHIN,
    SEVERITIES,
    Standing,
    Work,
    harm_sentence,
    is_late,
    missing_to_close,
    still_missing,
    verdict,
)

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
DONE = Work(has_cause=True)


def test_severities_stand_worst_first_and_each_says_when_to_choose_it() -> None:
    assert [str(one) for one in SEVERITIES] == ["critical", "high", "medium", "low"]
    assert len({one.meaning for one in SEVERITIES}) == 4


def test_acknowledgement_is_late_after_fifteen_minutes_and_stays_so() -> None:
    assert not is_late(NOW, None, now=NOW + ACKNOWLEDGE_WITHIN)
    assert is_late(NOW, None, now=NOW + ACKNOWLEDGE_WITHIN + timedelta(seconds=1))
    early = NOW + timedelta(minutes=3)
    assert not is_late(NOW, early, now=NOW + timedelta(days=9))
    assert is_late(NOW, NOW + timedelta(hours=1), now=NOW + timedelta(hours=2))


def test_nothing_is_missing_when_all_is_done() -> None:
    assert missing_to_close(DONE) == ()


@pytest.mark.parametrize(
    ("work", "code", "text"),
    [
        (Work(residue=1, has_cause=True), "residue", "1 fact in scope is still served."),
        (Work(residue=1200, has_cause=True), "residue", "1,200 facts in scope are still served."),
        (Work(withheld=2, has_cause=True), "withheld", "2 facts in scope are suspended"),
        (Work(open_operations=1, has_cause=True), "operations", "1 operation is not finished."),
        (Work(waiting_approvals=1, has_cause=True), "approvals", "1 approval waits"),
        (Work(open_tasks=3, has_cause=True), "tasks", "3 tasks are not done."),
        (Work(), "cause", "The cause is not written down."),
    ],
)
def test_each_thing_left_is_named(work: Work, code: str, text: str) -> None:
    (found,) = missing_to_close(work)
    assert found.code == code
    assert found.text.startswith(text)


@given(
    st.builds(
        Work,
        residue=st.integers(0, 3),
        withheld=st.integers(0, 3),
        open_operations=st.integers(0, 3),
        waiting_approvals=st.integers(0, 3),
        open_tasks=st.integers(0, 3),
        has_cause=st.booleans(),
    ),
    st.sampled_from(["", "  ", "harmless"]),
)
def test_a_waiver_covers_what_is_in_memory_and_nothing_else(work: Work, waived: str) -> None:
    left = still_missing(missing_to_close(work), waived=waived)
    codes = {one.code for one in left}
    in_memory = {"residue", "withheld"}
    if waived.strip():
        assert not codes & in_memory
    else:
        assert ("residue" in codes) == (work.residue > 0)
        assert ("withheld" in codes) == (work.withheld > 0)
    assert ("operations" in codes) == (work.open_operations > 0)
    assert ("approvals" in codes) == (work.waiting_approvals > 0)
    assert ("tasks" in codes) == (work.open_tasks > 0)
    assert ("cause" in codes) == (not work.has_cause)


def test_verdict_says_what_is_served_before_anything_else() -> None:
    assert "The scope is empty" in verdict(Standing(), parts=0)
    assert verdict(Standing(), parts=1) == "Nothing in memory is in this scope."
    served = Standing(facts=9, served=1, withheld=4, held=2, out=2)
    assert verdict(served, parts=2) == "1 of 9 facts in scope is served to agents right now."
    assert "4 of 8 facts in scope are only suspended: a release would bring them back" in verdict(
        Standing(facts=8, withheld=4, out=4), parts=1
    )
    assert "2 of 2 facts in scope wait for a decision" in verdict(
        Standing(facts=2, held=2), parts=1
    )
    assert verdict(Standing(facts=1, out=1), parts=1).endswith("1 fact in scope, all taken out.")
    assert "50,000 or more facts" in verdict(
        Standing(facts=50_000, served=3, is_capped=True), parts=1
    )


def test_harm_is_told_by_the_serves_after_the_first_act() -> None:
    assert harm_sentence(0, 0, "").startswith("There was none")
    assert harm_sentence(3, 0, "") == "Nobody has acted yet: facts in scope were served 3 times."
    assert harm_sentence(1, 0, "contained").startswith("Yes: they were served 1 time before")
    assert harm_sentence(9, 2, "evicted").startswith(
        "No: 2 of 9 serves came after the scope was evicted."
    )


def test_events_are_said_in_words_and_unknown_ones_as_they_are() -> None:
    assert words("incident.changed", {"fields": ["cause"]}) == "Edited: cause"
    assert words("incident.changed", {"from": "low", "to": "high"}) == "Severity low became high"
    parts = [["session", "a"], ["session", "b"], ["text", ""]]
    assert words("incident.scope_added", {"parts": parts}, 3) == (
        "Added to the scope: 2 sessions, 1 text"
    )
    assert words("something.new", {}, 2) == "something.new ×2"
