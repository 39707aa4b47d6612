"""The record's factors over time: what recall computed then is what the replay says of then."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest

from audits.domain.factor_history import replay
from audits.domain.factors import Weights, weights_at
from audits.domain.roles import Role
from audits.queries.factors import load_past
from audits.queries.record import load_record
from records import curate, feedback, recast
from records.domain.canonical import session_id
from records.domain.facts import Policy
from records.models import MemoryRecord
from records.policies import change
from records.retrieve.recall import recall
from records.retrieve.request import RecallRequest
from records.scope import workspace_scope

from .conftest import Person, make_person, put, text

DAY = timedelta(days=1)


@pytest.fixture
def reviewer() -> Person:
    return make_person(role=Role.REVIEWER)


def look(person: Person) -> tuple[datetime, dict[str, float], UUID]:
    """Return the factors that recall computes now, and for which recall."""
    now = datetime.now(UTC)
    answer = recall(RecallRequest(partition="ada", query="mate tea"), access=person.access, now=now)
    (item,) = answer.items
    return now, dict(item.factors), answer.recall_id


def test_replay_gives_what_recall_computed_at_each_time(reviewer: Person) -> None:
    access = reviewer.access
    with workspace_scope(access.workspace_id):
        change(Policy("drinks", ttl_days=100), reason="test", access=access)
    seen = datetime.now(UTC) - 70 * DAY
    made = put(access, "mate tea", predicate="drinks", confidence=0.6, observed_at=seen)
    assert made.id is not None
    looks = [look(reviewer)]
    put(access, "mate tea", predicate="drinks", session="s2", confidence=0.7,
        observed_at=seen + 20 * DAY)  # fmt: skip
    looks.append(look(reviewer))
    versions = {made.id: version(access.workspace_id, made.id)}
    curate.mark_recheck("doubtful", access=access, versions=versions)
    looks.append(look(reviewer))
    curate.extend(made.id, datetime.now(UTC) + 30 * DAY, "asked", access=access)
    looks.append(look(reviewer))
    curate.confirm(made.id, "asked", access=access)
    looks.append(look(reviewer))
    with workspace_scope(access.workspace_id):
        change(Policy("drinks", ttl_days=100, half_life_days=3.0), reason="test", access=access)
    recast.apply("drinks", access=access)
    looks.append(look(reviewer))
    feedback.give(looks[-1][2], made.id, "confirmed", session="reader", access=access)
    looks.append(look(reviewer))
    curate.evict([made.id], "poison", access=access)
    curate.restore([made.id], "it was right", access=access)
    looks.append(look(reviewer))
    second = session_id(access.workspace_id, access.partition_id("ada"), "s2")
    curate.evict([made.id], "poison", access=access, session_id=second)
    looks.append(look(reviewer))

    now = datetime.now(UTC)
    with workspace_scope(access.workspace_id):
        loaded = load_past(made.id, workspace_id=access.workspace_id)
        row = load_record(made.id, workspace_id=access.workspace_id, now=now)
    assert loaded is not None
    assert row is not None
    changes = replay(loaded.past, now=now)
    assert changes[-1].what != "as the record stands"
    for at, factors, _ in looks:
        state = [one for one in changes if one.at <= at][-1].state
        found = weights_at(state, at)
        for name in ("confidence", "validity", "age", "corroboration"):
            assert getattr(found, name) == pytest.approx(factors[name], abs=1e-5), (name, at)
    shown = {name: value for name, value, _ in row["factors"]}
    last = weights_at(changes[-1].state, now)
    assert shown["together"] == pytest.approx(last.together, abs=1e-5)
    assert isinstance(last, Weights)


def version(workspace_id: UUID, record_id: UUID) -> int:
    with workspace_scope(workspace_id):
        return MemoryRecord.objects.values_list("version", flat=True).get(id=record_id)


def test_piece_and_page_answer_the_question_and_strangers_see_nothing(
    reviewer: Person, stranger: Person
) -> None:
    made = put(reviewer.access, "mate tea", predicate="drinks")
    path = f"records/{made.id}/factors"
    page, piece = text(reviewer.get(path)), text(reviewer.get(path, htmx=True))
    assert 'id="record-factors"' in piece
    assert "<html" not in piece
    timeless = re.compile(r"\d\d\d\d-\d\d-\d\d \d\d:\d\d:\d\d")  # two requests, two nows
    assert timeless.sub("", piece).strip() in timeless.sub("", page)
    assert "Why does this fact rank lower than it did?" in page
    assert "as high as it ever was" in page
    assert f'/records/{made.id}/factors"' in text(reviewer.get(f"records/{made.id}"))
    assert stranger.get(path).status_code == 404


def test_confirmed_fact_counts_as_seen_then_everywhere(reviewer: Person) -> None:
    access = reviewer.access
    seen = datetime.now(UTC) - 70 * DAY
    made = put(access, "mate tea", predicate="drinks", observed_at=seen)
    assert made.id is not None
    put(access, "mate tea", predicate="drinks", session="s2", observed_at=seen + DAY)
    curate.confirm(made.id, "asked", access=access)
    with workspace_scope(access.workspace_id):
        row = load_record(made.id, workspace_id=access.workspace_id, now=datetime.now(UTC))
    assert row is not None
    assert datetime.now(UTC) - row["last_seen"] < timedelta(minutes=5)
    answer = recall(RecallRequest(partition="ada", query="mate tea"), access=access)
    told = answer.items[0].provenance["last_seen"]
    assert datetime.now(UTC) - told < timedelta(minutes=5)
