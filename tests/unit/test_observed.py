"""What stands beside a policy's settings: counts that a change can be held against."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from audits.domain.observed import Seen, observe
from records.domain.facts import Normaliser, Policy

NOW = datetime(2031, 5, 1, tzinfo=UTC)
LIVE = Policy("hotline", ttl_days=100.0)


def seen(slot: int, value: str, days: float, **more: bool) -> Seen:
    return Seen(slot, value, NOW - timedelta(days=days), **more)


def test_suggested_times_keep_at_least_their_share() -> None:
    facts = [seen(place, f"v{place}", place + 0.5) for place in range(100)]
    found = observe(facts, live=LIVE, wanted=LIVE, dependents=(), now=NOW)
    assert found.ages == [(0.5, 50.0), (0.9, 90.0), (0.95, 95.0)]
    for share, days in found.ages:
        kept = sum((NOW - one.last_seen) < timedelta(days=days) for one in facts)
        assert kept >= share * len(facts)


def test_writers_own_ends_are_not_moved_by_a_ttl() -> None:
    facts = [seen(1, "a", 50), seen(2, "b", 50, is_given=True), seen(3, "c", 5)]
    wanted = Policy("hotline", ttl_days=30.0)
    found = observe(facts, live=LIVE, wanted=wanted, dependents=(), now=NOW)
    assert (found.expired_now, found.expired_then) == (0, 1)


def test_readings_tell_which_normaliser_would_merge_what() -> None:
    facts = [seen(1, "+49 30 555 0101", 1), seen(1, "0049305550101", 1), seen(2, "x", 1)]
    found = observe(facts, live=LIVE, wanted=LIVE, dependents=(), now=NOW)
    assert found.readings[0] == ("text", 3)
    assert ("phone", 2) in found.readings
    phone = Policy("hotline", normaliser=Normaliser.PHONE)
    found = observe(facts, live=LIVE, wanted=phone, dependents=(), now=NOW)
    assert found.readings[0] == ("phone", 2)


def test_values_that_break_a_rule_are_counted_by_fact_with_the_reason() -> None:
    facts = [seen(1, "17", 1), seen(2, "17", 1), seen(3, "3", 1)]
    wanted = Policy("age", validators=({"kind": "range", "max": 10},))
    found = observe(facts, live=LIVE, wanted=wanted, dependents=(), now=NOW)
    assert found.broken == 2
    assert found.broken_samples == [("17", "the value must be at most 10; it says 17")]


def test_subjects_are_counted_by_how_many_values_they_have() -> None:
    facts = [
        seen(1, "a", 1),
        seen(2, "a", 1),
        seen(2, "b", 1),
        *(seen(3, str(n), 1) for n in range(5)),
    ]
    found = observe(facts, live=LIVE, wanted=LIVE, dependents=(), now=NOW)
    assert [number for _, number in found.by_values] == [1, 1, 1]
