"""The whole life of a dependent: in doubt when its slot's ground moves, demoted, listed, settled."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from uuid import UUID

import pytest

from audits.domain.freshness import Tab
from audits.queries.freshness import FreshnessFilter, count_lists, list_facts
from records import curate
from records.access import Access
from records.domain.canonical import session_id
from records.domain.facts import Cardinality, HoldReason, Policy
from records.models import Event, MemoryRecord
from records.policies import book, change
from records.retrieve.recall import recall
from records.retrieve.request import RecallRequest
from records.scope import workspace_scope
from tests.factories import make_workspace

from .test_write import NOW, fact, put, record

DAY = timedelta(days=1)
LATER = NOW + 2 * DAY


def put_address(access: Access, value: str, days: int, **more: object) -> UUID:
    made = put(access, fact(predicate="address", value=value, **more), NOW + days * DAY)
    assert made.id is not None
    return made.id


def put_commute(access: Access, value: str, days: int) -> UUID:
    made = put(access, fact(predicate="commute", value=value), NOW + days * DAY)
    assert made.id is not None
    return made.id


def doubted(access: Access) -> list[UUID]:
    with workspace_scope(access.workspace_id):
        where = {"workspace_id": access.workspace_id, "now": LATER}
        wanted = FreshnessFilter(tab=Tab.RECHECK)
        page = list_facts(wanted, cursor=None, **where)  # type: ignore[arg-type]
        counted = count_lists(wanted, **where)[Tab.RECHECK]  # type: ignore[arg-type]
        assert counted == len(page.items)
        return [row["id"] for row in page.items]


def test_a_dependent_is_doubted_demoted_listed_and_told_with_its_cause(access: Access) -> None:
    other = make_workspace("dependents elsewhere")
    put_address(access, "12 Elm Road, Leeds", 0)
    commute = put_commute(access, "tram 7", 0)
    before = recall(RecallRequest(partition="ada", query="tram"), access=access, now=NOW + DAY)
    cause = put_address(access, "4 Quay Street, Hull", 1)
    after = recall(RecallRequest(partition="ada", query="tram"), access=access, now=NOW + DAY)
    assert after.items[0].why_not_current == ("recheck",)
    assert after.items[0].score == pytest.approx(0.3 * before.items[0].score, rel=1e-4)
    assert doubted(access) == [commute]
    assert doubted(other) == []
    with workspace_scope(access.workspace_id):
        page = list_facts(
            FreshnessFilter(tab=Tab.RECHECK),
            cursor=None,
            workspace_id=access.workspace_id,
            now=LATER,
        )
        assert page.items[0]["cause_id"] == cause


SETTLING: dict[str, Callable[[Access, UUID], object]] = {
    "confirm": lambda access, one: curate.confirm(one, "asked", access=access, now=LATER),
    "extend": lambda access, one: curate.extend(
        one, LATER + 90 * DAY, "asked", access=access, now=LATER
    ),
    "write": lambda access, one: put(
        access, fact(predicate="commute", value="tram 7", session="s9"), LATER
    ),
    "several": lambda access, one: curate.confirm_several(
        "asked", access=access, versions={one: record_version(access, one)}, now=LATER
    ),
}


def record_version(access: Access, record_id: UUID) -> int:
    with workspace_scope(access.workspace_id):
        return MemoryRecord.objects.values_list("version", flat=True).get(id=record_id)


@pytest.mark.parametrize("how", SETTLING)
def test_a_person_or_a_new_write_settles_it(access: Access, how: str) -> None:
    put_address(access, "12 Elm Road, Leeds", 0)
    commute = put_commute(access, "tram 7", 0)
    put_address(access, "4 Quay Street, Hull", 1)
    assert doubted(access) == [commute]
    SETTLING[how](access, commute)
    assert doubted(access) == []
    items = recall(RecallRequest(partition="ada", query="tram"), access=access, now=LATER).items
    assert items[0].current


GOING: dict[str, Callable[[Access, UUID], object]] = {
    "evict": lambda access, bad: curate.evict([bad], "poison", access=access, now=LATER),
    "evict by session": lambda access, bad: curate.evict(
        [bad],
        "poison",
        access=access,
        session_id=session_id(access.workspace_id, access.partition_id("ada"), "bad"),
        now=LATER,
    ),
    "hold and reject": lambda access, bad: (
        curate.hold([bad], HoldReason.MANUAL, access=access, now=LATER),
        curate.reject([bad], "poison", access=access, now=LATER),
    ),
}


@pytest.mark.parametrize("how", GOING)
def test_what_was_said_under_a_poisoned_present_is_doubted_when_that_goes(
    access: Access, how: str
) -> None:
    good = put_address(access, "12 Elm Road, Leeds", 0)
    bad = put_address(access, "1 Trap Lane, Hull", 1, session="bad", confidence=0.9)
    commute = put_commute(access, "ferry 3", 1)
    assert doubted(access) == []
    GOING[how](access, bad)
    with workspace_scope(access.workspace_id):
        event = Event.objects.get(action="record.recheck", target_id=commute)
        assert event.details == {"by": str(good)}
        assert event.reason == "dependent"
    assert doubted(access) == [commute]


def test_undoing_the_eviction_doubts_again_what_was_settled_meanwhile(access: Access) -> None:
    put_address(access, "12 Elm Road, Leeds", 0)
    moved = put_address(access, "4 Quay Street, Hull", 1, confidence=0.9)
    commute = put_commute(access, "ferry 3", 1)
    curate.evict([moved], "mistaken", access=access, now=LATER)
    curate.confirm(commute, "asked", access=access, now=LATER)
    assert doubted(access) == []
    curate.restore([moved], "it was right", access=access, now=LATER)
    assert doubted(access) == [commute]


def test_a_present_that_goes_without_a_successor_casts_no_doubt(access: Access) -> None:
    only = put_address(access, "12 Elm Road, Leeds", 0)
    put_commute(access, "tram 7", 0)
    curate.retract([only], "never there", access=access, now=LATER)
    assert doubted(access) == []


def test_doubt_stays_within_its_subject_and_partition(access: Access) -> None:
    put_address(access, "12 Elm Road, Leeds", 0)
    mine = put_commute(access, "tram 7", 0)
    put(access, fact(predicate="commute", value="bus 2", subject="Bo"), NOW)
    put(access, fact(predicate="commute", value="bus 3", partition="bo"), NOW)
    put_address(access, "4 Quay Street, Hull", 1)
    assert doubted(access) == [mine]


def test_dependents_may_be_named_by_any_spelling_or_alias(access: Access) -> None:
    with workspace_scope(access.workspace_id):
        change(Policy("gym", aliases=("fitness club",)), reason="test", access=access)
        home = Policy(
            "home base",
            cardinality=Cardinality.ONE,
            dependents=("Fitness Club", "Way to work"),
        )
        change(replace(home, predicate="home_base"), reason="test", access=access)
        resolved = book(access.workspace_id).resolve("home base").dependents
        assert resolved == ("gym", "way_to_work")
    put(access, fact(predicate="home base", value="Leeds"), NOW)
    gym = put(access, fact(predicate="gym", value="Iron House"), NOW)
    way = put(access, fact(predicate="way to work", value="on foot"), NOW)
    put(access, fact(predicate="home base", value="Hull"), NOW + DAY)
    assert set(doubted(access)) == {gym.id, way.id}
    assert record(access, gym).recheck_reason == "dependent"
