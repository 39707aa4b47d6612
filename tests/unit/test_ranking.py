"""Laws of the score: bounded, monotone, and never better for being out of date."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from records.domain import ranking

NOW = datetime(2026, 3, 1, tzinfo=UTC)
SHARE = st.floats(0, 1)


@given(SHARE, SHARE, SHARE)
def test_a_match_of_words_never_hurts_and_stays_in_bounds(
    similarity: float, less: float, more: float
) -> None:
    low, high = sorted((less, more))
    assert 0 <= ranking.fuse(similarity, low) <= ranking.fuse(similarity, high) <= 1
    assert ranking.fuse(low, similarity) <= ranking.fuse(high, similarity) + 1e-12
    assert ranking.fuse(similarity, 0) == similarity


@given(st.floats(-1, 1), SHARE, SHARE)
def test_a_fact_that_is_not_current_never_outranks_itself_current(
    cosine: float, text: float, confidence: float
) -> None:
    def score(validity: float) -> float:
        similarity = ranking.clamp(cosine)
        return ranking.Factors(similarity, text, confidence, validity, 1.0, 1.0).score

    assert 0 <= score(ranking.NOT_CURRENT) <= score(1.0)


@pytest.mark.parametrize(
    ("days", "half_life", "expected"),
    [
        (0, None, 1.0),
        (73, None, 0.8),
        (182.5, None, 0.5),
        (10_000, None, 0.5),
        (-5, None, 1.0),
        (15, 30, math.sqrt(0.5)),
        (30, 30, 0.5),
        (3_000, 30, 0.5),
        (10, 0, 1 - 10 / 365),
    ],
)
def test_age_falls_to_a_floor(days: float, half_life: float | None, expected: float) -> None:
    last_seen = NOW - timedelta(days=days)
    found = ranking.age_factor(last_seen, at=NOW, half_life_days=half_life)
    assert found == pytest.approx(expected)


@pytest.mark.parametrize(
    ("independent", "expected"), [(0, 1.0), (1, 1.0), (2, 1.1), (4, 1.2), (8, 1.3), (500, 1.3)]
)
def test_corroboration_counts_doublings_up_to_a_ceiling(independent: int, expected: float) -> None:
    assert ranking.corroboration_factor(independent) == pytest.approx(expected)


@given(st.integers(0, 1000), st.integers(0, 1000))
def test_a_rarer_term_tells_more_and_none_tells_against(one: int, other: int) -> None:
    rare, common = sorted((one, other))
    assert ranking.rarity(rare, 1000) >= ranking.rarity(common, 1000) > 0


def test_a_full_match_is_one_and_a_question_without_terms_matches_nothing() -> None:
    assert ranking.text_match([True, True], [2.0, 0.5]) == 1.0
    assert ranking.text_match([False, False], [2.0, 0.5]) == 0.0
    assert ranking.text_match([True, False], [3.0, 1.0]) == 0.75
    assert ranking.text_match([], []) == 0.0


@pytest.mark.parametrize(
    ("facts", "reasons"),
    [
        ({}, ()),
        ({"valid_until": NOW + timedelta(seconds=1)}, ()),
        ({"valid_until": NOW}, ("expired",)),
        ({"valid_from": NOW}, ()),
        ({"valid_from": NOW + timedelta(seconds=1)}, ("not_yet_valid",)),
        ({"is_recheck": True, "is_unlisted": True}, ("recheck", "unlisted")),
        ({"valid_until": NOW, "is_recheck": True}, ("expired", "recheck")),
    ],
)
def test_every_reason_why_a_fact_is_not_current_is_named(
    facts: dict[str, object], reasons: tuple[str, ...]
) -> None:
    given_facts = {"valid_from": None, "valid_until": None} | facts
    found = ranking.why_not_current(at=NOW, **given_facts)  # type: ignore[arg-type]
    assert found == reasons
    assert ranking.validity_factor(found) == (0.3 if reasons else 1.0)
