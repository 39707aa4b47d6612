"""Bands of validity and age: where they begin, and that the clock alone moves them on."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from records.domain.standing import Age, Look, Validity, look_at_age, look_at_validity

START = datetime(2026, 1, 1, tzinfo=UTC)
DAYS = st.floats(min_value=-1_000, max_value=10_000, allow_nan=False)
ORDER = list(Validity)


def days(number: float) -> timedelta:
    return timedelta(days=number)


def validity(passed: float, *, span: float = 100) -> Look:
    return look_at_validity(since=START, valid_until=START + days(span), now=START + days(passed))


def test_validity_fades_in_its_last_fifth_and_is_stale_in_its_last_twentieth() -> None:
    assert validity(79.9) == Look(Validity.FRESH, START + days(80))
    assert validity(80) == Look(Validity.FADING, START + days(95))
    assert validity(95) == Look(Validity.STALE, START + days(100))
    assert validity(100) == Look(Validity.EXPIRED, None)


def test_fact_without_an_end_is_always_fresh() -> None:
    later = START + days(100_000)
    assert look_at_validity(since=START, valid_until=None, now=later) == Look(Validity.FRESH, None)


def test_fact_that_had_ended_before_it_was_seen_is_expired_only_by_the_clock() -> None:
    ends = START - days(1)
    assert look_at_validity(since=START, valid_until=ends, now=ends).band == Validity.EXPIRED
    before = look_at_validity(since=START, valid_until=ends, now=ends - days(1))
    assert before.band == Validity.FRESH


def test_age_follows_what_ranking_takes_away() -> None:
    def age(passed: float, half_life: float | None = None) -> str:
        now = START + days(passed)
        return look_at_age(last_seen=START, half_life_days=half_life, now=now).band

    assert [age(91), age(92), age(182), age(183)] == ["fresh", "fading", "fading", "stale"]
    assert [age(12, 30), age(13, 30), age(29, 30), age(30, 30)] == [
        *("fresh", "fading", "fading", "stale")
    ]


def test_half_life_beyond_the_calendar_never_ages() -> None:
    look = look_at_age(last_seen=START, half_life_days=1e12, now=START + days(1e6))
    assert look == Look(Age.FRESH, None)


@given(passed=DAYS, span=st.floats(min_value=0, max_value=5_000))
def test_band_holds_until_the_instant_it_names_and_no_longer(passed: float, span: float) -> None:
    now, until = START + days(passed), START + days(span)
    look = look_at_validity(since=START, valid_until=until, now=now)
    if look.until is None:
        assert look.band == Validity.EXPIRED
        return
    assert look.until > now
    just_before = look.until - timedelta(microseconds=1)
    kept = look_at_validity(since=START, valid_until=until, now=max(just_before, now))
    after = look_at_validity(since=START, valid_until=until, now=look.until)
    assert kept.band == look.band
    assert ORDER.index(Validity(after.band)) > ORDER.index(Validity(look.band))


@given(passed=DAYS, half_life=st.none() | st.floats(min_value=0.001, max_value=5_000))
def test_age_band_holds_until_the_instant_it_names(passed: float, half_life: float | None) -> None:
    now = START + days(passed)
    look = look_at_age(last_seen=START, half_life_days=half_life, now=now)
    if look.until is None:
        assert look.band == Age.STALE
        return
    assert look.until > now
    after = look_at_age(last_seen=START, half_life_days=half_life, now=look.until)
    assert list(Age).index(Age(after.band)) > list(Age).index(Age(look.band))
