"""The curve of a fact's factors: ranking's own numbers at every instant, and a sentence of why."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from audits.domain.factor_history import Claim, Happened, Past, Version, replay
from audits.domain.factors import AHEAD, Change, State, curve, explain, weights_at
from audits.factor_charts import of_record
from records.domain import ranking

NOW = datetime(2031, 5, 1, tzinfo=UTC)
DAY = timedelta(days=1)
TIMES = st.integers(min_value=-2_000, max_value=2_000).map(lambda days: NOW + days * DAY)
STATES = st.builds(
    State,
    confidence=st.floats(min_value=0.01, max_value=1),
    last_seen=TIMES,
    valid_from=st.none() | TIMES,
    valid_until=st.none() | TIMES,
    is_recheck=st.booleans(),
    is_unlisted=st.booleans(),
    independent=st.integers(min_value=0, max_value=8),
    half_life_days=st.none() | st.floats(min_value=0.01, max_value=5_000),
)


@given(STATES, TIMES)
def test_factors_are_rankings_own(state: State, at: datetime) -> None:
    reasons = ranking.why_not_current(
        at=at,
        valid_from=state.valid_from,
        valid_until=state.valid_until,
        is_recheck=state.is_recheck,
        is_unlisted=state.is_unlisted,
    )
    expected = ranking.Factors(
        similarity=1.0,
        text=0.0,
        confidence=state.confidence,
        validity=ranking.validity_factor(reasons),
        age=ranking.age_factor(state.last_seen, at=at, half_life_days=state.half_life_days),
        corroboration=ranking.corroboration_factor(state.independent),
    )
    assert weights_at(state, at).together == expected.score
    assert weights_at(state, at).reasons == reasons


def past(**more: object) -> Past:
    values: dict[str, object] = {
        "written_at": NOW - 300 * DAY,
        "seen_at": NOW - 300 * DAY,
        "stated": 0.8,
        "given_until": None,
        "was_live": True,
        "now": State(0.8, NOW - 300 * DAY),
    }
    return Past(**{**values, **more})  # type: ignore[arg-type]


def test_a_fact_that_nobody_repeats_ages_to_the_floor_and_says_so() -> None:
    changes = replay(past(), now=NOW)
    assert [one.what for one in changes] == ["written"]
    points = curve(changes, now=NOW)
    floor = next(one for one in points if one.what == "ages no further")
    assert floor.weights is not None
    assert floor.weights.age == pytest.approx(0.5)
    assert explain(points, now=NOW) == (
        "Its weight is 0.40; on 05 Jul 2030 it was 0.80. It fell because nobody has said it for"
        " long (age 1.00 to 0.50). If nothing happens, it stays so for 180 days."
    )


def test_the_future_follows_the_half_life_and_the_end() -> None:
    state = State(0.8, NOW, valid_until=NOW + 60 * DAY, half_life_days=90.0)
    points = curve([Change(NOW - DAY, "written", state)], now=NOW)
    assert points[-1].at == NOW + AHEAD
    end = next(one for one in points if one.what == "expires")
    assert end.weights is not None
    assert end.weights.reasons == ("expired",)
    assert end.weights.age == ranking.age_factor(NOW, at=NOW + 60 * DAY, half_life_days=90.0)
    assert [one.at for one in points] == sorted(one.at for one in points)


def test_policy_versions_move_the_end_and_the_half_life_from_their_day_on() -> None:
    first = Version(NOW - 400 * DAY, 1, 365.0, None)
    second = Version(NOW - 100 * DAY, 2, 30.0, 20.0)
    stands = State(0.8, NOW - 300 * DAY, valid_until=NOW - 270 * DAY, half_life_days=20.0)
    changes = replay(past(versions=[second, first], now=stands), now=NOW)
    assert [one.what for one in changes] == ["written", "policy version 2"]
    assert changes[0].state.valid_until == NOW + 65 * DAY
    assert changes[1].state.valid_until == NOW - 270 * DAY
    assert changes[1].state.half_life_days == 20.0


def test_marks_sightings_feedback_and_leaving_are_told_in_their_order() -> None:
    claims = [
        Claim("session a", NOW - 300 * DAY, NOW - 200 * DAY, 0.8),
        Claim("session b", NOW - 150 * DAY, NOW - 150 * DAY, 0.9),
    ]
    events = [
        Happened(NOW - 120 * DAY, "record.recheck"),
        Happened(NOW - 100 * DAY, "record.confirmed"),
        Happened(NOW - 90 * DAY, "feedback.confirmed", confidence=(0.9, 0.95)),
        Happened(NOW - 50 * DAY, "record.evicted"),
        Happened(NOW - 40 * DAY, "record.restored"),
    ]
    stands = State(0.95, NOW - 90 * DAY, independent=2)
    changes = replay(past(claims=claims, events=events, now=stands), now=NOW)
    assert [one.what for one in changes] == [
        "written",
        "said again",
        "said by another",
        "marked to recheck",
        "confirmed by a person",
        "feedback: confirmed",
        "evicted",
        "restored",
    ]
    assert changes[3].state.is_recheck
    assert not changes[4].state.is_recheck
    assert changes[5].state.bonus == pytest.approx(0.05)
    points = curve(changes, now=NOW)
    out = [one for one in points if one.weights is None]
    assert out[0].at == NOW - 50 * DAY
    assert out[-1].at == NOW - 40 * DAY


def test_a_dropped_claim_corroborates_no_more_until_it_is_restored() -> None:
    claims = [
        Claim("session a", NOW - 300 * DAY, NOW - 300 * DAY, 0.8),
        Claim("session b", NOW - 200 * DAY, NOW - 200 * DAY, 0.8),
    ]
    events = [
        Happened(NOW - 90 * DAY, "claim.dropped", speaker="session b"),
        Happened(NOW - 80 * DAY, "claim.restored", speaker="session b"),
    ]
    stands = State(0.8, NOW - 200 * DAY, independent=2)
    changes = replay(past(claims=claims, events=events, now=stands), now=NOW)
    assert [one.state.independent for one in changes] == [1, 2, 1, 2]
    assert [one.what for one in changes][2:] == ["a claim dropped", "a claim counts again"]


def test_where_the_replay_ends_elsewhere_the_record_is_right() -> None:
    stands = State(0.6, NOW - 10 * DAY, independent=3)
    changes = replay(past(now=stands), now=NOW)
    assert changes[-1] == Change(NOW, "as the record stands", stands)


def test_chart_tells_the_same_numbers_as_a_table() -> None:
    changes = replay(past(), now=NOW)
    chart = of_record(changes, now=NOW, zone="Europe/Berlin")
    whats = [row[1] for row in chart.rows]
    assert whats == ["in 180 days, if nothing happens", "now", "ages no further", "written"]
    assert chart.rows[1][2] == "0.40"
    assert chart.rows[-1][2] == "0.80"
    assert chart.rows[1][0] == "2031-05-01 02:00:00"
    assert all(len(row) == len(chart.columns) for row in chart.rows)


def test_out_of_service_is_said() -> None:
    gone = State(0.8, NOW - 300 * DAY, is_live=False)
    changes = replay(past(events=[Happened(NOW - DAY, "record.evicted")], now=gone), now=NOW)
    assert explain(curve(changes, now=NOW), now=NOW).startswith("It is out of service")
