"""Ids carry their time, and only those that do are read for it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

from hypothesis import given
from hypothesis import strategies as st

from records.domain.ids import made_at, uuid7


@given(st.datetimes(datetime(2000, 1, 1), datetime(2999, 1, 1), timezones=st.just(UTC)))  # noqa: DTZ001 - hypothesis adds the zone
def test_an_id_says_when_it_was_made(at: datetime) -> None:
    made = made_at(uuid7(at))
    assert made is not None
    assert timedelta(0) <= at - made < timedelta(milliseconds=2)


def test_other_ids_say_nothing() -> None:
    assert made_at(uuid4()) is None
    assert made_at(UUID("ffffffff-ffff-7fff-bfff-ffffffffffff")) is None


def test_ids_of_one_millisecond_rise_in_the_order_they_were_made() -> None:
    now = datetime(2026, 6, 1, tzinfo=UTC)
    made = [uuid7(now) for _ in range(5_000)]
    assert made == sorted(made)
    assert len(set(made)) == len(made)
    assert {one.version for one in made} == {7}
    assert {one.variant for one in made} == {made[0].variant}
