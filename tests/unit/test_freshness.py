"""When silence is unusual, and how it is told."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from audits.domain.freshness import (
    LATE_LEAST_DAYS,
    MEANINGS,
    SINCE,
    TITLES,
    VERBS,
    Tab,
    Verb,
    habit_words,
    late_after,
)

NOW = datetime(2031, 5, 1, tzinfo=UTC)
DAYS = st.floats(min_value=0, max_value=5_000, allow_nan=False)


def test_silence_is_told_beside_the_habit() -> None:
    words = habit_words(9.2, NOW - timedelta(days=61), NOW)
    assert words == "usually seen every 9 days, last seen 61 days ago"


@pytest.mark.parametrize(
    ("usual", "words"), [(0.01, "every hour"), (0.5, "every 12 hours"), (1.6, "every 2 days")]
)
def test_short_habits_are_told_in_hours(usual: float, words: str) -> None:
    assert words in habit_words(usual, NOW - timedelta(days=30), NOW)


@given(DAYS, DAYS)
def test_nothing_is_late_before_a_week_nor_before_three_times_the_habit(
    usual: float, wide: float
) -> None:
    late = late_after(usual, wide)
    assert late >= max(LATE_LEAST_DAYS, 3 * usual, wide)
    assert late in (LATE_LEAST_DAYS, 3 * usual, wide)


def test_every_list_and_act_has_its_words() -> None:
    assert set(TITLES) == set(MEANINGS) == set(SINCE) == set(Tab)
    assert set(VERBS) == set(Verb)
