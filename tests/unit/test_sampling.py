"""What a sample says of the whole: shares undo the weighting, intervals are honest, few say nothing."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from audits.domain.sampling import (
    LEAST_ANSWERS,
    Answer,
    agreement,
    chance,
    share_of_facts,
    share_of_serves,
    t_point,
    wilson,
)


def plain(bad: int, good: int, chance: float = 0.1) -> list[Answer]:
    return [Answer(chance, 1.0, True)] * bad + [Answer(chance, 1.0, False)] * good


@pytest.mark.parametrize(
    ("bad", "size", "low", "high"),
    # Wilson's interval as in Brown, Cai and DasGupta (2001), two of its cases.
    [(0, 20, 0.0, 0.1611), (10, 20, 0.2993, 0.7007)],
)
def test_wilson_is_wilsons(bad: int, size: int, low: float, high: float) -> None:
    assert wilson(bad / size, size) == pytest.approx((low, high), abs=5e-4)


@pytest.mark.parametrize(("freedom", "point"), [(10, 2.2281), (30, 2.0423), (100, 1.9840)])
def test_t_point_is_students(freedom: float, point: float) -> None:
    assert t_point(freedom) == pytest.approx(point, abs=4e-3)


def test_few_answers_show_no_share() -> None:
    few = share_of_facts(plain(1, LEAST_ANSWERS - 2))
    assert (few.answers, few.is_shown, few.low) == (LEAST_ANSWERS - 1, False, None)
    assert share_of_facts(plain(1, LEAST_ANSWERS - 1)).is_shown


def test_what_was_drawn_ten_times_likelier_counts_a_tenth() -> None:
    """Ten in a hundred rare facts are bad, all of the ten that were likely: 10 to 100 of them."""
    answers = [Answer(0.5, 50.0, True)] * 50 + [Answer(0.05, 0.0, False)] * 50
    facts = share_of_facts(answers)
    assert facts.share == pytest.approx(100 / 1_100)
    assert share_of_serves(answers).share == 1.0


def test_looking_at_everything_leaves_no_doubt() -> None:
    whole = share_of_facts(plain(5, 45, chance=1.0))
    assert (whole.low, whole.share, whole.high) == (0.1, 0.1, 0.1)


@given(
    st.lists(
        st.builds(
            Answer,
            st.floats(0.001, 1.0),
            st.floats(0.0, 1e6),
            st.booleans(),
        ),
        min_size=LEAST_ANSWERS,
        max_size=80,
    )
)
def test_interval_holds_the_share_within_nought_and_one(answers: list[Answer]) -> None:
    for said in (share_of_facts(answers), share_of_serves(answers)):
        if said.share is None or said.low is None or said.high is None:
            continue
        assert 0.0 <= said.low <= said.share + 1e-9
        assert said.share - 1e-9 <= said.high <= 1.0
        assert not math.isnan(said.low)


def test_chance_is_the_exponential_keys() -> None:
    assert chance(0.3, None) == 1.0
    assert chance(2.0, 0.5) == pytest.approx(1 - math.exp(-1))
    assert chance(1e-12, 1.0) == pytest.approx(1e-12)


def test_agreement_tells_chance_apart() -> None:
    assert agreement([]).share is None
    all_true = agreement([("true", "true")] * 10)
    assert (all_true.share, all_true.kappa) == (1.0, None)
    mixed = agreement([("true", "true")] * 8 + [("stale", "stale")] * 8 + [("true", "stale")] * 4)
    assert mixed.share == 0.8
    assert mixed.kappa == pytest.approx(0.6153, abs=1e-3)
