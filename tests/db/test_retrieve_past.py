"""Belief (as_of) and the world (valid_at): what was so then, minus what is withheld now."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest

from records.access import Access
from records.retrieve import RecallRequest, recall
from tests import factories as make

NOW = datetime.now(UTC)


def day(number: float) -> datetime:
    """Return the instant that many days after the first of a hundred days before now."""
    return NOW - timedelta(days=100) + timedelta(days=number)


def ask(access: Access, **asked: Any) -> list[str]:
    request = RecallRequest("alice", "Alice employer", top_k=100, **asked)
    return sorted(item.value for item in recall(request, access=access).items)


@pytest.fixture
def access() -> Access:
    make.make_record(make.make_workspace(), "Initech", seen=day(0))
    return make.make_workspace()


@pytest.fixture
def chain(access: Access) -> Access:
    """Acme from day 10, replaced by Globex from day 50, replaced by Hooli from day 80."""
    hooli = make.make_record(access, "Hooli", seen=day(80))
    globex = make.make_record(
        access, "Globex", seen=day(50), status="superseded", superseded_by=hooli,
        superseded_at=day(80), status_at=day(80),
    )  # fmt: skip
    make.make_record(
        access, "Acme", seen=day(10), status="superseded", superseded_by=globex,
        superseded_at=day(50), status_at=day(50),
    )  # fmt: skip
    return access


@pytest.mark.parametrize(
    ("number", "expected"),
    [
        (5, []),
        (10, ["Acme"]),
        (49.9, ["Acme"]),
        (50, ["Globex"]),
        (79, ["Globex"]),
        (90, ["Hooli"]),
    ],
)
def test_each_time_has_its_own_answer(chain: Access, number: float, expected: list[str]) -> None:
    assert ask(chain, as_of=day(number)) == expected
    assert ask(chain, valid_at=day(number)) == expected
    assert ask(chain, as_of=day(number), valid_at=day(number)) == expected
    assert ask(chain) == ["Hooli"]


def test_belief_then_about_the_world_before(chain: Access) -> None:
    # On day 60 the store believed Globex, and knew that on day 20 it had been Acme.
    assert ask(chain, as_of=day(60), valid_at=day(20)) == ["Acme"]
    assert ask(chain, as_of=day(60), valid_at=day(55)) == ["Globex"]
    # On day 40 nobody knew of Globex: as far as was known, Acme went on.
    assert ask(chain, as_of=day(40), valid_at=day(40)) == ["Acme"]
    assert ask(chain, as_of=day(5), valid_at=day(60)) == []


def test_a_late_arrival_counts_in_its_place_in_the_world_and_not_in_belief(access: Access) -> None:
    globex = make.make_record(access, "Globex", seen=day(50))
    make.make_record(
        access, "Acme", seen=day(70), order_at=day(10), written_at=day(10), last_seen=day(10),
        status="superseded", superseded_by=globex, superseded_at=day(70), status_at=day(70),
        believed="{}",
    )  # fmt: skip
    assert ask(access, valid_at=day(20)) == ["Acme"]
    assert ask(access, valid_at=day(60)) == ["Globex"]
    assert ask(access, as_of=day(75)) == ["Globex"]
    assert ask(access, as_of=day(75), valid_at=day(20)) == ["Acme"]
    assert ask(access, as_of=day(65), valid_at=day(20)) == []  # it had not arrived


def test_learned_late_a_fact_is_true_from_when_it_says(access: Access) -> None:
    make.make_record(access, "Acme", seen=day(60), valid_from=day(10))
    assert ask(access, valid_at=day(20)) == ["Acme"]
    assert ask(access, as_of=day(20)) == []
    assert ask(access, as_of=day(70), valid_at=day(20)) == ["Acme"]
    assert ask(access, as_of=day(20), valid_at=day(20)) == []


def test_a_withheld_successor_ends_nothing_in_the_world(access: Access) -> None:
    poison = make.make_record(access, "Poison", seen=day(50), status="evicted")
    make.make_record(
        access, "Acme", seen=day(10), status="superseded", superseded_by=poison,
        superseded_at=day(50), status_at=day(50),
    )  # fmt: skip
    assert ask(access, valid_at=day(70)) == ["Acme"]
    assert ask(access, as_of=day(70)) == []  # what was believed then is withheld now


def test_the_world_goes_on_with_the_successor_after_a_withheld_one(access: Access) -> None:
    hooli = make.make_record(access, "Hooli", seen=day(80))
    poison = make.make_record(
        access, "Poison", seen=day(50), status="retracted", superseded_by=hooli
    )
    make.make_record(
        access, "Acme", seen=day(10), status="superseded", superseded_by=poison,
        superseded_at=day(50), status_at=day(50),
    )  # fmt: skip
    assert ask(access, valid_at=day(60)) == ["Acme"]
    assert ask(access, valid_at=day(85)) == ["Hooli"]


def test_a_fact_that_left_and_came_back_was_not_believed_in_between(access: Access) -> None:
    record_id = make.make_record(access, "Acme", seen=day(10))
    make.change(
        access, "memory_record", "id", record_id,
        status="quarantined", hold_reason="manual", status_at=day(30),
    )  # fmt: skip
    assert ask(access, as_of=day(20)) == []  # withheld now
    make.change(
        access, "memory_record", "id", record_id,
        status="active", hold_reason="", status_at=day(50),
    )  # fmt: skip
    assert ask(access, as_of=day(20)) == ["Acme"]
    assert ask(access, as_of=day(40)) == []
    assert ask(access, as_of=day(60)) == ["Acme"]


def test_then_is_the_clock_of_every_factor(access: Access) -> None:
    make.make_record(
        access, "Acme", seen=day(10), valid_until=day(40), recheck_at=day(60), unlisted_at=day(60)
    )

    def at(number: float, **asked: Any) -> Any:
        request = RecallRequest("alice", "employer", **asked)
        (item,) = recall(request, access=access).items
        return item.why_not_current, item.factors["age"]

    why, age = at(10, valid_at=day(10))
    assert why == ()
    assert age == pytest.approx(1.0)
    why, age = at(50, as_of=day(50))
    assert why == ("expired",)
    assert age == pytest.approx(1 - 40 / 365, abs=1e-4)
    why, _ = at(100)
    assert why == ("expired", "recheck", "unlisted")


def test_current_only_applies_to_the_time_asked_about(access: Access) -> None:
    make.make_record(access, "Acme", seen=day(10), valid_until=day(40))
    assert ask(access, valid_at=day(30), current_only=True) == ["Acme"]
    assert ask(access, valid_at=day(50), current_only=True) == []
    assert ask(access, current_only=True) == []


def test_a_fingerprint_answers_once_though_its_chain_comes_back_to_it(access: Access) -> None:
    again = make.make_record(access, "Acme", seen=day(80))
    globex = make.make_record(
        access, "Globex", seen=day(50), status="superseded", superseded_by=again,
        superseded_at=day(80), status_at=day(80),
    )  # fmt: skip
    make.make_record(
        access, "Acme", seen=day(10), status="superseded", superseded_by=globex,
        superseded_at=day(50), status_at=day(50), id=uuid4(),
    )  # fmt: skip
    for number, expected in ((20, ["Acme"]), (60, ["Globex"]), (90, ["Acme"])):
        assert ask(access, valid_at=day(number)) == expected
        assert ask(access, as_of=day(number)) == expected


def test_a_later_late_arrival_changes_nothing_of_what_was_known_before(access: Access) -> None:
    hooli = make.make_record(access, "Hooli", seen=day(60), order_at=day(50), valid_from=day(50))
    globex = make.make_record(
        access, "Globex", seen=day(80), order_at=day(30), valid_from=day(30), last_seen=day(30),
        status="superseded", superseded_by=hooli, superseded_at=day(80), status_at=day(80),
        believed="{}",
    )  # fmt: skip
    make.make_record(
        access, "Acme", seen=day(10), status="superseded", superseded_by=globex,
        superseded_at=day(60), status_at=day(60),
    )  # fmt: skip
    assert ask(access, valid_at=day(40)) == ["Globex"]
    assert ask(access, as_of=day(90), valid_at=day(40)) == ["Globex"]
    assert ask(access, as_of=day(70), valid_at=day(40)) == ["Acme"]  # Globex was not known yet
    assert ask(access, as_of=day(70), valid_at=day(55)) == ["Hooli"]
