"""The steps of ranges in any zone, and what a histogram says of latency."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo, available_timezones

import pytest
from hypothesis import given
from hypothesis import strategies as st

from audits import figures
from audits.domain.figures import (
    KEPT,
    LABELS_CAP,
    LATENCY_STEPS,
    QUARTER,
    SPANS,
    percentile,
    steps_of,
    weeks_ahead,
)
from audits.figure_parts import Part, bars
from audits.queries.figures import BAD_CAP, CAP, EXPIRED_CAP
from audits.queries.rollups import TAIL_CAP
from audits.rollups import MARGIN

ZONES = st.sampled_from(sorted(available_timezones())).map(ZoneInfo)
TIMES = st.integers(1_704_067_200, 2_019_686_400).map(lambda at: datetime.fromtimestamp(at, UTC))


@given(ZONES, TIMES, st.sampled_from(list(SPANS.values())))
def test_steps_join_up_to_now_and_are_whole_quarters(zone, now, span) -> None:  # type: ignore[no-untyped-def]
    steps = steps_of(span, zone, now)
    assert len(steps.pairs) == span.steps == len(steps.names) == len(set(steps.names))
    assert steps.bounds[-2] <= now < steps.bounds[-1]
    for start, end in steps.pairs:
        assert start < end
        assert (start - datetime(2000, 1, 1, tzinfo=UTC)) % QUARTER == timedelta()


@given(ZONES, TIMES)
def test_days_begin_at_the_zones_midnight_or_where_it_skips_that(zone, now) -> None:  # type: ignore[no-untyped-def]
    for start, end in steps_of(SPANS["90d"], zone, now).pairs:
        first = start.astimezone(zone)
        before = (start - timedelta(seconds=1)).astimezone(zone)
        assert before.date() < first.date() or first.hour in (0, 1)
        assert timedelta(hours=22) <= end - start <= timedelta(hours=48)


@pytest.mark.parametrize(
    ("zone", "day", "hours"),
    [
        ("Europe/Berlin", datetime(2026, 3, 29, 20, tzinfo=UTC), 23),
        ("Europe/Berlin", datetime(2026, 10, 25, 20, tzinfo=UTC), 25),
        ("Australia/Lord_Howe", datetime(2026, 4, 5, 2, tzinfo=UTC), 24.5),
        ("Australia/Lord_Howe", datetime(2026, 10, 4, 2, tzinfo=UTC), 23.5),
        ("Asia/Kathmandu", datetime(2026, 10, 4, 2, tzinfo=UTC), 24),
    ],
)
def test_days_are_as_long_as_the_zone_makes_them(zone: str, day: datetime, hours: float) -> None:
    start, end = steps_of(SPANS["7d"], ZoneInfo(zone), day).pairs[-1]
    assert end - start == timedelta(hours=hours)


def test_hour_that_comes_twice_has_a_name_of_its_own() -> None:
    steps = steps_of(
        SPANS["24h"], ZoneInfo("Europe/Berlin"), datetime(2026, 10, 25, 12, tzinfo=UTC)
    )
    assert "25 Oct 02:00" in steps.names
    assert "25 Oct 02:00 again" in steps.names


def test_weeks_ahead_begin_now_and_are_seven_days() -> None:
    now = datetime(2026, 3, 25, 10, tzinfo=UTC)
    ahead = weeks_ahead(ZoneInfo("Europe/Berlin"), now)
    assert ahead.bounds[0] == now
    assert ahead.bounds[2] - ahead.bounds[1] == timedelta(days=7)
    assert ahead.bounds[1] == datetime(2026, 3, 31, 22, tzinfo=UTC)  # the clocks went forward


@given(st.lists(st.integers(0, 50), min_size=20, max_size=20), st.sampled_from([0.5, 0.95]))
def test_percentile_is_the_bound_that_the_share_reaches(counts: list[int], share: float) -> None:
    bound = percentile(counts, share)
    if not any(counts):
        assert bound is None
        return
    place = len(LATENCY_STEPS) if bound == -1 else LATENCY_STEPS.index(bound or 0)
    assert sum(counts[: place + 1]) >= share * sum(counts)
    assert sum(counts[:place]) < share * sum(counts)


def test_nothing_to_draw_is_no_figure() -> None:
    assert bars(["a", "b"], [Part("n", [0, 0])], "Facts") == {}
    assert bars([], [Part("n", [])], "Facts") == {}
    assert bars(["a", "b"], [Part("n", [0, 1])], "Facts")["data"][0]["y"] == [0, 1]


def test_docs_name_every_figure_bucket_and_bound() -> None:
    text = (Path(__file__).resolve().parents[2] / "docs" / "figures.md").read_text()
    for name in figures.ALL:
        assert f"| `{name}` |" in text
    assert ", ".join(str(one) for one in LATENCY_STEPS) in text
    assert f"for {KEPT.days} days" in text
    assert f"{LABELS_CAP} rules" in text
    assert f"newest {BAD_CAP:,} such facts" in text
    assert f"the {EXPIRED_CAP:,} that expired last" in text
    assert f"up to {TAIL_CAP:,}" in text
    assert f"less {MARGIN.seconds // 60} minutes" in text
    assert f"over {CAP:,} says so" in text
