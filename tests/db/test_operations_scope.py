"""What a scope selects: exactly what its filter shows, and nothing of anybody else's."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.db import connections
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from audits import operations
from audits.domain.scope import Scope, Shared
from audits.models import Incident, IncidentScope, OperationTarget
from audits.operations import Refused
from audits.queries.records import RecordFilter, list_records
from records import curate
from records.access import Access
from records.domain.facts import HoldReason
from records.models import Claim, MemoryRecord, Source
from records.scope import workspace_scope

from .conftest import make_access
from .operating import evict, groups, poison, preview, run, session, statuses, undo
from .test_write import NOW, fact, put

LATER = NOW + timedelta(days=1)


def targets(access: Access, scope: Scope, **more: Any) -> set[UUID]:
    found = preview(access, scope, **more)
    with workspace_scope(access.workspace_id):
        rows = OperationTarget.objects.filter(operation_id=found.id)
        return set(rows.values_list("record_id", flat=True))


@pytest.fixture
def store(access: Access) -> dict[str, UUID]:
    """A few facts that differ in everything a filter can ask for."""
    made = {
        "plain": put(access, fact(predicate="likes", value="green tea", session="a")),
        "bob": put(
            access, fact(predicate="likes", value="green tea", session="a", partition="bob")
        ),
        "tagged": put(access, fact(predicate="owns", value="a boat", session="b", tags=["vip"])),
        "old": put(access, fact(value="Acme", session="a")),
        "new": put(access, fact(value="Helio", session="b"), LATER),
        "held": put(access, fact(predicate="likes", value="tea parties", session="b")),
        "derived": put(
            access,
            fact(predicate="starred", value="django", session="c", source="stars", source_key="k1"),
        ),
        "ended": put(
            access,
            fact(
                predicate="likes", value="short", session="c", valid_until=NOW + timedelta(days=2)
            ),
        ),
    }
    assert all(one.id for one in made.values())
    ids = {name: one.id for name, one in made.items() if one.id is not None}
    curate.hold([ids["held"]], HoldReason.MANUAL, access=access)
    return ids


FILTERS: list[Callable[[Access], dict[str, Any]]] = [
    lambda a: {"status": "active"},
    lambda a: {"status": "superseded"},
    lambda a: {"hold_reason": "manual"},
    lambda a: {"predicate": "likes"},
    lambda a: {"predicate": "likes", "status": "active"},
    lambda a: {"partition_id": a.partition_id("bob")},
    lambda a: {"standing": "expired"},
    lambda a: {"standing": "current"},
    lambda a: {"tag": "vip"},
    lambda a: {"text": "tea"},
    lambda a: {"text": "tea", "partition_id": a.partition_id("ada")},
    lambda a: {"text": "boat", "tag": "vip"},
    lambda a: {"session_id": session(a, "a")},
    lambda a: {"session_id": session(a, "b"), "status": "active"},
    lambda a: {"source_id": source(a, "stars")},
    lambda a: {"source_id": source(a, "conversation"), "text": "tea"},
]


def source(access: Access, name: str) -> UUID:
    with workspace_scope(access.workspace_id):
        found: UUID = Source.objects.values_list("id", flat=True).get(
            workspace_id=access.workspace_id, name=name
        )
    return found


@pytest.mark.parametrize("number", range(len(FILTERS)))
def test_operation_targets_exactly_the_rows_that_the_list_shows(
    access: Access, store: dict[str, UUID], number: int
) -> None:
    asked = FILTERS[number](access)
    with workspace_scope(access.workspace_id):
        page = list_records(
            RecordFilter(**asked),
            cursor=None,
            workspace_id=access.workspace_id,
            now=datetime.now(UTC),
        )
    parts = dict(asked)
    if "session_id" in parts:
        parts["session_ids"] = (parts.pop("session_id"),)
    found = targets(access, Scope(**parts))
    assert found == {row["id"] for row in page.items}
    assert found


def test_agent_model_and_window_choose_by_the_claims(access: Access) -> None:
    one = put(
        access, fact(predicate="likes", value="a", session="a", agent="bot", extracted_by="m1")
    )
    two = put(
        access,
        fact(predicate="likes", value="b", session="b", agent="bot", extracted_by="m2"),
        LATER,
    )
    three = put(access, fact(predicate="likes", value="c", session="c", agent="human"), LATER)
    put(access, fact(predicate="likes", value="a", session="c", agent="human"), LATER)
    for scope, expected in (
        (Scope(agent="bot"), {one.id, two.id}),
        (Scope(agent="bot", since=LATER), {two.id}),
        (Scope(agent="bot", until=LATER), {one.id}),
        (Scope(extracted_by="m1"), {one.id}),
        (Scope(session_ids=(session(access, "a"), session(access, "b"))), {one.id, two.id}),
        (Scope(since=LATER), {one.id, two.id, three.id}),
        (Scope(subject="ADA", predicate="likes"), {one.id, two.id, three.id}),
    ):
        assert targets(access, scope) == expected, scope
    shown = preview(access, Scope(agent="bot"))
    assert groups(shown) == {"evict": 1, "shared": 1}


def test_claims_out_of_the_window_stay(access: Access) -> None:
    (kept,) = poison(access, 1)
    late = put(access, fact(predicate="likes", value="late", session="bad"), LATER)
    evict(access, Scope(session_ids=(session(access, "bad"),), since=LATER))
    assert statuses(access, [kept, late.id]) == ["active", "evicted"]


def test_source_is_evicted_with_its_claims_and_fenced(access: Access) -> None:
    made = put(
        access,
        fact(predicate="starred", value="django", session="a", source="stars", source_key="k1"),
    )
    both = put(access, fact(predicate="likes", value="tea", session="b"))
    put(access, fact(predicate="likes", value="tea", session="a", source="stars"))
    done = evict(access, Scope(source_id=source(access, "stars")))
    assert (done.changed, done.dropped_claims) == (1, 1)
    assert statuses(access, [made.id, both.id]) == ["evicted", "active"]
    again = put(
        access,
        fact(predicate="starred", value="django", session="z", source="stars", source_key="k1"),
    )
    assert again.decision == "fenced"
    undo(access, done)
    assert statuses(access, [made.id, both.id]) == ["active", "active"]
    with workspace_scope(access.workspace_id):
        assert not Claim.objects.filter(workspace_id=access.workspace_id, state="dropped").exists()


def test_records_named_one_by_one_go_whoever_asserts_them(access: Access) -> None:
    (ours,) = poison(access, 1)
    put(access, fact(predicate="likes", value="poison 0", session="good"))
    done = evict(access, Scope(record_ids=(ours,)))
    assert (done.changed, done.dropped_claims) == (1, 0)
    again = put(access, fact(predicate="likes", value="poison 0", session="third"), LATER)
    assert again.decision == "fenced"


def make_incident(access: Access, *listed: tuple[str, UUID | None, str]) -> UUID:
    with workspace_scope(access.workspace_id):
        one = Incident.objects.create(
            id=uuid4(), workspace_id=access.workspace_id, number=1, title="x", opened_by="t"
        )
        for kind, target, text in listed:
            IncidentScope.objects.create(
                id=uuid4(),
                workspace_id=access.workspace_id,
                incident_id=one.id,
                kind=kind,
                target_id=target,
                text=text,
                added_by="t",
            )
    return one.id


def test_incident_stands_for_all_that_it_lists(access: Access, stranger: Access) -> None:
    (claimed,) = poison(access, 1)
    shared = put(access, fact(predicate="owns", value="boat", session="bad"))
    put(access, fact(predicate="owns", value="boat", session="good"))
    worded = put(access, fact(predicate="likes", value="purple zebra", session="good"))
    listed = put(access, fact(predicate="likes", value="chosen", session="good"))
    put(access, fact(predicate="likes", value="nothing", session="good"))
    incident = make_incident(
        access,
        ("session", session(access, "bad"), ""),
        ("text", None, "zebra"),
        ("record", listed.id, ""),
    )
    shown = preview(access, Scope(incident_id=incident))
    assert groups(shown) == {"evict": 3, "shared": 1}
    assert shown.incident_id == incident
    done = evict(access, Scope(incident_id=incident))
    assert (done.changed, done.dropped_claims) == (3, 1)
    assert statuses(access, [claimed, shared.id, worded.id, listed.id]) == [
        "evicted",
        "active",
        "evicted",
        "evicted",
    ]
    with workspace_scope(access.workspace_id):
        assert Incident.objects.get(id=incident).evicted_at is not None
    with pytest.raises(Refused):
        preview(access, Scope(incident_id=make_incident_without(access)))
    with pytest.raises(Exception, match="incident"):
        preview(stranger, Scope(incident_id=incident))


def make_incident_without(access: Access) -> UUID:
    with workspace_scope(access.workspace_id):
        return Incident.objects.create(
            id=uuid4(), workspace_id=access.workspace_id, number=2, title="y", opened_by="t"
        ).id


def test_more_targets_than_an_operation_takes_are_refused(
    access: Access, monkeypatch: pytest.MonkeyPatch
) -> None:
    from audits.operations import previewing

    poison(access, 4)
    monkeypatch.setattr(previewing, "TARGETS_LIMIT", 3)
    with pytest.raises(Refused) as refused:
        preview(access, Scope(session_ids=(session(access, "bad"),)))
    assert refused.value.errors[0].limit == 3
    with workspace_scope(access.workspace_id):
        assert not operations.list_operations(
            operations.OperationFilter(), cursor=None, workspace_id=access.workspace_id
        ).items


facts = st.tuples(
    st.sampled_from(["ada", "bob", "eve"]),
    st.sampled_from(["bad", "good", "third"]),
    st.sampled_from(["employer", "likes"]),
    st.sampled_from(["Acme", "Helio", "Initech"]),
)


def counts(access: Access) -> dict[str, dict[str, int]]:
    """Return each partition's records by status, and its live claims."""
    with workspace_scope(access.workspace_id):
        found: dict[str, dict[str, int]] = {}
        for name in ("ada", "bob", "eve"):
            partition = access.partition_id(name)
            mine = MemoryRecord.objects.filter(
                workspace_id=access.workspace_id, partition_id=partition
            )
            tally = {
                status: mine.filter(status=status).count()
                for status in ("active", "superseded", "evicted", "quarantined")
            }
            tally["claims"] = Claim.objects.filter(
                workspace_id=access.workspace_id, partition_id=partition, state="live"
            ).count()
            found[name] = tally
        return found


@settings(
    max_examples=20,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(
    history=st.lists(facts, min_size=1, max_size=14),
    target=st.sampled_from(["ada", "bob", "eve"]),
    shared=st.sampled_from(list(Shared)),
)
def test_evicting_one_partitions_session_leaves_every_other_partition_as_it_was(
    history: list[tuple[str, str, str, str]], target: str, shared: Shared
) -> None:
    access, other = make_access(), make_access()
    for place, (partition, name, predicate, value) in enumerate(history):
        item = fact(partition=partition, session=name, predicate=predicate, value=value)
        put(access, item, NOW + timedelta(hours=place))
        put(other, item, NOW + timedelta(hours=place))
    before, theirs = counts(access), counts(other)
    shown = preview(access, Scope(session_ids=(session(access, "bad", target),)), shared=shared)
    assert sum(shown.groups.values()) == shown.total
    if operations.asked(shown) == 0:
        return
    promised = shown.options["displaced"]
    done = evict(access, Scope(session_ids=(session(access, "bad", target),)), shared=shared)
    assert done.state == "done"
    assert done.restored == promised
    assert done.changed + done.dropped_claims == operations.asked(shown)
    after = counts(access)
    for name in {"ada", "bob", "eve"} - {target}:
        assert after[name] == before[name]
    assert after[target]["evicted"] == before[target]["evicted"] + done.changed
    assert counts(other) == theirs
    back = undo(access, done)
    assert back.skipped == 0
    assert counts(access) == before
    connections.close_all()


def test_merged_wording_that_others_said_is_shown_as_it_is_treated(access: Access) -> None:
    gone = put(access, fact(predicate="likes", value="green tea", session="bad"), NOW)
    kept = put(access, fact(predicate="likes", value="tea, green", session="good"), NOW)
    put(access, fact(predicate="likes", value="green tea", session="other"), NOW)
    assert gone.id is not None
    assert kept.id is not None
    curate.merge(kept.id, [gone.id], "the same", access=access)
    shown = preview(access, Scope(session_ids=(session(access, "bad"),)))
    assert groups(shown) == {"shared": 2}
    done = run(access, shown)
    assert (done.changed, done.dropped_claims, done.skipped) == (0, 2, 0)
    back = undo(access, done)
    assert (back.changed, back.restored_claims, back.skipped) == (0, 2, 0)
