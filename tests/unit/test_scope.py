"""Scopes and thresholds of bulk operations: pure, and the same after a trip through JSON."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from audits.domain.operations import (
    ERASE_GROUPS,
    GROUPS,
    RESTORE_GROUPS,
    Kind,
    acted_groups,
    needs_count,
    needs_second,
    undo_lasts,
)
from audits.domain.scope import IDS_LIMIT, STANDINGS, Scope, Shared, WrongScope
from records.domain.facts import Status

words = st.text(
    st.characters(blacklist_characters="\0", blacklist_categories=("Cs",)), min_size=1, max_size=20
)
instants = st.datetimes(
    min_value=datetime(2020, 1, 1),  # noqa: DTZ001 - hypothesis adds the zone
    max_value=datetime(2030, 1, 1),  # noqa: DTZ001
    timezones=st.just(UTC),
)
scopes = st.builds(
    Scope,
    session_ids=st.lists(st.uuids(), max_size=3, unique=True).map(tuple),
    source_id=st.none() | st.uuids(),
    agent=st.none() | words,
    extracted_by=st.none() | words,
    partition_id=st.none() | st.uuids(),
    since=st.none() | instants,
    subject=st.none() | words,
    predicate=st.none() | words,
    text=st.none() | words,
    status=st.none() | st.sampled_from([str(one) for one in Status]),
    standing=st.none() | st.sampled_from(STANDINGS),
    tag=st.none() | words,
    record_ids=st.lists(st.uuids(), max_size=3, unique=True).map(tuple),
    incident_id=st.none() | st.uuids(),
    scan_id=st.none() | st.uuids(),
)


@given(scopes)
def test_scope_comes_back_from_json_as_it_was(scope: Scope) -> None:
    assert Scope.from_json(json.loads(json.dumps(scope.as_json()))) == scope


@given(scopes)
def test_empty_is_what_says_nothing(scope: Scope) -> None:
    assert scope.is_empty == (scope == Scope())


@pytest.mark.parametrize(
    ("parts", "field"),
    [
        ({"colour": "red"}, "colour"),
        ({"session_ids": "x"}, "session_ids"),
        ({"session_ids": ["x"]}, "session_ids"),
        ({"source_id": "x"}, "source_id"),
        ({"since": "yesterday"}, "since"),
        ({"since": "2026-01-01T00:00:00"}, "since"),
        ({"text": 5}, "text"),
        ({"text": "a\0b"}, "text"),
        ({"agent": "\ud800"}, "agent"),
        ({"status": "lost"}, "status"),
        ({"standing": "lost"}, "standing"),
        ({"since": "2026-02-01T00:00:00Z", "until": "2026-01-01T00:00:00Z"}, "until"),
        ({"record_ids": [str(uuid4()) for _ in range(IDS_LIMIT + 1)]}, "record_ids"),
    ],
)
def test_wrong_scope_names_its_field(parts: dict[str, object], field: str) -> None:
    with pytest.raises(WrongScope) as wrong:
        Scope.from_json(parts)
    assert wrong.value.field == field


def test_provenance_is_who_asserts() -> None:
    one = uuid4()
    assert Scope(session_ids=(one,)).is_provenance
    assert Scope(source_id=one).is_provenance
    assert Scope(agent="bot").is_provenance
    assert Scope(extracted_by="m").is_provenance
    assert not Scope(predicate="likes", record_ids=(one,)).is_provenance
    assert Scope(source_id=one).is_by_source
    assert not Scope(source_id=one, session_ids=(one,)).is_by_source


@given(st.integers(0, 100_000), st.integers(0, 5_000))
def test_second_person_is_needed_above_the_threshold(total: int, threshold: int) -> None:
    settings = {"four_eyes": {"bulk": threshold}}
    assert (needs_second(Kind.EVICT, total, settings) is not None) == (total > threshold)
    assert (needs_second(Kind.RESTORE, total, settings) is not None) == (total > threshold)
    assert needs_second(Kind.ERASE, total, settings) is not None


@pytest.mark.parametrize(
    "settings", [{}, {"four_eyes": 5}, {"four_eyes": {"bulk": "x"}}, {"four_eyes": {"bulk": -1}}]
)
def test_settings_that_make_no_sense_leave_the_default(settings: dict[str, object]) -> None:
    assert needs_second(Kind.EVICT, 1_000, settings) is None
    assert needs_second(Kind.EVICT, 1_001, settings) is not None


def test_count_is_typed_for_many_and_for_good() -> None:
    assert not needs_count(Kind.EVICT, 1_000)
    assert needs_count(Kind.EVICT, 1_001)
    assert needs_count(Kind.ERASE, 1)


def test_undo_lasts_as_long_as_the_workspace_says() -> None:
    assert undo_lasts({}) == timedelta(days=30)
    assert undo_lasts({"operations": {"undo_days": 7}}) == timedelta(days=7)


def test_groups_that_are_acted_on_are_groups() -> None:
    for shared in Shared:
        assert acted_groups(Kind.EVICT, shared=shared, with_held=True) <= set(GROUPS)
        assert acted_groups(Kind.RESTORE, shared=shared, with_held=False) <= set(RESTORE_GROUPS)
        assert acted_groups(Kind.ERASE, shared=shared, with_held=False) <= set(ERASE_GROUPS)
    assert "shared" not in acted_groups(Kind.EVICT, shared=Shared.KEEP, with_held=False)
    assert "hold" not in acted_groups(Kind.EVICT, shared=Shared.DROP, with_held=False)
    assert "hold" not in acted_groups(Kind.ERASE, shared=Shared.DROP, with_held=True)
