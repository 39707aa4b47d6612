"""The acts of an incident against the database: numbers, races, standings, two workspaces."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any
from uuid import uuid4

import pytest
from django.db import connections

from audits import incidents
from audits.domain.incidents import DEFAULT_TASKS, ScopeKind, Severity
from audits.domain.scope import Scope
from audits.incidents import Details, NotYet, Part
from audits.models import Incident, IncidentScope, IncidentTask, Operation
from audits.operations.running import perform_waiting
from audits.queries.incident_standing import load_scope
from audits.queries.incident_timeline import list_timeline
from records.access import Access
from records.domain.ids import uuid7
from records.items import BadRequest, Conflict, NotFound
from records.models import Event, Session
from records.scope import workspace_scope
from tests.db.operating import preview, session, submit
from tests.db.test_write import NOW, fact, put
from tests.factories import (
    make_claim,
    make_record,
    make_session,
    make_source,
    make_workspace,
    suspend_session,
    suspend_source,
)


@pytest.fixture
def access() -> Access:
    return make_workspace()


@pytest.fixture
def stranger() -> Access:
    return make_workspace()


def opened(access: Access, *parts: Part, severity: Severity = Severity.HIGH) -> Incident:
    return incidents.open_incident(Details("t", severity), parts, access=access)


def session_part(access: Access, name: str) -> Part:
    return Part(ScopeKind.SESSION, make_session(access, "alice", name))


def standing(access: Access, incident: Incident) -> tuple[int, ...]:
    with workspace_scope(access.workspace_id):
        total = load_scope(incident.id, workspace_id=access.workspace_id).total
    return (total.facts, total.served, total.withheld, total.held, total.out)


def at_once(*acts: Callable[[], Any]) -> list[Any]:
    """Run acts in threads that begin together; return what each gave or raised."""
    start = Barrier(len(acts))

    def run(act: Callable[[], Any]) -> Any:
        try:
            start.wait(timeout=30)
            return act()
        except Conflict as error:
            return error
        finally:
            connections.close_all()

    with ThreadPoolExecutor(len(acts)) as pool:
        return list(pool.map(run, acts))


def finish_tasks(access: Access, incident: Incident) -> None:
    with workspace_scope(access.workspace_id):
        tasks = list(IncidentTask.objects.filter(incident_id=incident.id))
    for task in tasks:
        incidents.tick_task(incident.id, task.id, is_done=True, access=access)


def test_numbers_count_without_gaps_in_each_workspace_however_many_open_at_once(
    access: Access, stranger: Access
) -> None:
    found = at_once(*[lambda: opened(access).number for _ in range(6)])
    assert sorted(found) == [1, 2, 3, 4, 5, 6]
    assert opened(stranger).number == 1


def test_refused_opening_leaves_nothing(access: Access, stranger: Access) -> None:
    foreign = session_part(stranger, "theirs")
    for part in (foreign, Part(ScopeKind.SESSION, uuid4()), Part(ScopeKind.TEXT, None, "...")):
        with pytest.raises(BadRequest):
            opened(access, part)
    with workspace_scope(access.workspace_id):
        assert not Incident.objects.exists()
        assert not IncidentTask.objects.exists()
        assert not Event.objects.filter(action__startswith="incident.").exists()


def test_every_act_leaves_one_event_that_names_the_incident_and_no_text(access: Access) -> None:
    make_record(access, session="odd")
    incident = opened(access, session_part(access, "odd"))
    incidents.acknowledge(incident.id, access=access)
    secret = "the account number 4711"
    incidents.change_incident(
        incident.id, Details(secret, Severity.LOW, secret, secret, secret), access=access
    )
    note = incidents.add_note(incident.id, secret, access=access)
    incidents.pin_note(incident.id, note.id, is_pinned=True, access=access)
    task = incidents.add_task(incident.id, secret, access=access)
    incidents.tick_task(incident.id, task.id, is_done=True, access=access)
    incidents.contain_scope(incident.id, "reason", access=access)
    incidents.release_scope(incident.id, "reason", access=access)
    with workspace_scope(access.workspace_id):
        found = list(Event.objects.filter(target_id=incident.id).order_by("id"))
    assert [one.action.removeprefix("incident.") for one in found] == [
        "opened", "scope_added", "acknowledged", "changed", "noted", "note_pinned", "task_added",
        "task_done", "contained", "released",
    ]  # fmt: skip
    for one in found:
        assert one.details["incident"] == str(incident.id)
        assert secret not in str(one.details)
        assert one.actor == access.actor.name
    incidents.change_incident(
        incident.id, Details(secret, Severity.LOW, secret, secret, secret), access=access
    )
    with workspace_scope(access.workspace_id):
        assert Event.objects.filter(target_id=incident.id).count() == len(found)


def test_foreign_incidents_are_unknown_to_every_act(access: Access, stranger: Access) -> None:
    incident = opened(access)
    acts: list[Callable[[], Any]] = [
        lambda: incidents.acknowledge(incident.id, access=stranger),
        lambda: incidents.change_incident(incident.id, Details("x", Severity.LOW), access=stranger),
        lambda: incidents.add_note(incident.id, "x", access=stranger),
        lambda: incidents.add_task(incident.id, "x", access=stranger),
        lambda: incidents.add_to_scope(incident.id, [], access=stranger),
        lambda: incidents.contain_scope(incident.id, "x", access=stranger),
        lambda: incidents.close_incident(incident.id, "x", access=stranger),
        lambda: incidents.reopen_incident(incident.id, "x", access=stranger),
        lambda: incidents.merge_incidents(opened(stranger).id, [incident.id], "x", access=stranger),
    ]
    for act in acts:
        with pytest.raises(NotFound):
            act()
    with workspace_scope(stranger.workspace_id):
        assert load_scope(incident.id, workspace_id=stranger.workspace_id).parts == []


def test_standing_follows_what_a_recall_may_answer_with(access: Access) -> None:
    make_record(access, "one", session="odd")
    shared = make_record(access, "two", session="odd")
    make_claim(access, shared, session="fine")
    make_record(access, "three", session="odd", status="quarantined")
    make_record(access, "four", session="odd", status="evicted")
    dropped = make_record(access, "five", session="fine")
    make_claim(access, dropped, session="odd", state="dropped")
    make_record(access, "six", session="fine")
    incident = opened(access, session_part(access, "odd"))
    # Five facts were ever the session's; one of them is evicted, of one its claim is dropped.
    assert standing(access, incident) == (5, 2, 0, 1, 2)
    suspend_session(access, "odd")
    assert standing(access, incident) == (5, 1, 1, 1, 2)
    suspend_source(access, "conversation")
    assert standing(access, incident) == (5, 0, 2, 1, 2)


def test_standing_of_sources_partitions_records_and_words(access: Access) -> None:
    record = make_record(access, "Northwind", session="a", source="feed")
    make_record(access, "Helio", session="b", partition="bob")
    incident = opened(
        access,
        Part(ScopeKind.SOURCE, make_source(access, "feed")),
        Part(ScopeKind.PARTITION, access.partition_id("bob")),
        Part(ScopeKind.RECORD, record),
        Part(ScopeKind.TEXT, None, "Northwind"),
        Part(ScopeKind.TEXT, None, "never said"),
    )
    with workspace_scope(access.workspace_id):
        scope = load_scope(incident.id, workspace_id=access.workspace_id)
    assert [one.standing.served for one in scope.parts] == [1, 1, 1, 1, 0]
    assert (scope.total.facts, scope.total.served) == (2, 2)  # the same record counts once


def test_containing_is_all_or_nothing_and_two_at_once_suspend_once(access: Access) -> None:
    for name in ("a", "b", "c"):
        make_record(access, name, session=name)
    incident = opened(access, *[session_part(access, name) for name in ("a", "b", "c")])
    found = at_once(
        lambda: incidents.contain_scope(incident.id, "x", access=access),
        lambda: incidents.contain_scope(incident.id, "y", access=access),
    )
    assert sum(isinstance(one, Conflict) for one in found) == 1
    with workspace_scope(access.workspace_id):
        assert Session.objects.filter(suspended_at__isnull=False).count() == 3
        assert Event.objects.filter(action="session.suspended").count() == 3
        assert Event.objects.filter(action="incident.contained").count() == 1
    with pytest.raises(Conflict, match="neither a session nor a source"):
        incidents.contain_scope(opened(access).id, "x", access=access)


def test_closing_and_editing_at_once_leaves_one_story(access: Access) -> None:
    incident = opened(access)
    finish_tasks(access, incident)
    incidents.change_incident(
        incident.id, Details("t", Severity.HIGH, cause="a page"), access=access
    )
    found = at_once(
        lambda: incidents.close_incident(incident.id, "over", access=access),
        lambda: incidents.add_task(incident.id, "one more", access=access),
    )
    refused = [one for one in found if isinstance(one, Conflict)]
    assert len(refused) == 1  # whoever came second: a task stops the closing, or is too late
    with workspace_scope(access.workspace_id):
        state = Incident.objects.get(id=incident.id).state
        tasks = IncidentTask.objects.filter(incident_id=incident.id, done_at=None).count()
    assert (state, tasks) in {("closed", 0), ("open", 1)}


def test_open_operations_and_approvals_keep_it_open_and_no_waiver_helps(access: Access) -> None:
    incident = opened(access)
    finish_tasks(access, incident)
    with workspace_scope(access.workspace_id):
        operation = Operation.objects.create(
            id=uuid7(incident.opened_at),
            workspace_id=access.workspace_id,
            kind="evict",
            state="preview",
            incident_id=incident.id,
            requested_by="ana",
        )
        Operation.objects.filter(id=operation.id).update(state="queued")
    with pytest.raises(NotYet) as refused:
        incidents.close_incident(
            incident.id, "over", waived="never mind", cause="a page", access=access
        )
    assert [one.code for one in refused.value.missing] == ["operations"]
    with workspace_scope(access.workspace_id):
        assert Incident.objects.get(id=incident.id).cause == ""  # nothing of the attempt is left
        Operation.objects.filter(id=operation.id).update(state="done")
    closed = incidents.close_incident(incident.id, "over", cause="a page", access=access)
    assert (closed.state, closed.cause) == ("closed", "a page")
    with pytest.raises(Conflict):
        incidents.close_incident(incident.id, "over", access=access)


def test_merging_keeps_every_part_task_and_operation_and_the_worst_severity(
    access: Access,
) -> None:
    kept = opened(access, session_part(access, "a"), severity=Severity.LOW)
    other = opened(
        access, session_part(access, "a"), session_part(access, "b"), severity=Severity.CRITICAL
    )
    extra = incidents.add_task(other.id, "call the bank", access=access)
    with workspace_scope(access.workspace_id):
        Operation.objects.create(
            id=uuid7(other.opened_at),
            workspace_id=access.workspace_id,
            kind="evict",
            state="done",
            incident_id=other.id,
            requested_by="ana",
        )
    merged = incidents.merge_incidents(kept.id, [other.id], "the same", access=access)
    assert merged.severity == "critical"
    with workspace_scope(access.workspace_id):
        parts = IncidentScope.objects.filter(incident_id=kept.id, removed_at=None)
        assert {one.target_id for one in parts} == {
            make_session(access, "alice", name) for name in ("a", "b")
        }
        titles = list(
            IncidentTask.objects.filter(incident_id=kept.id).values_list("title", flat=True)
        )
        assert sorted(titles) == sorted([*DEFAULT_TASKS, extra.title])
        assert Operation.objects.filter(incident_id=kept.id).count() == 1
        assert Incident.objects.get(id=other.id).merged_into == kept.id


def test_two_merges_the_other_way_round_do_not_wait_for_each_other(access: Access) -> None:
    one, two = opened(access), opened(access)
    found = at_once(
        lambda: incidents.merge_incidents(one.id, [two.id], "x", access=access),
        lambda: incidents.merge_incidents(two.id, [one.id], "x", access=access),
    )
    assert sum(isinstance(each, Incident) for each in found) == 1
    assert sum(isinstance(each, Conflict) for each in found) == 1
    with workspace_scope(access.workspace_id):
        states = sorted(Incident.objects.values_list("state", flat=True))
    assert states == ["merged", "open"]


def test_scope_is_bounded_and_a_part_is_in_it_once(
    access: Access, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("audits.incidents.scoping.SCOPE_MOST", 3)
    incident = opened(access, session_part(access, "a"))
    parts = [session_part(access, name) for name in ("a", "b", "b")]
    assert incidents.add_to_scope(incident.id, parts, access=access) == 1
    with pytest.raises(BadRequest, match="at most 3"):
        incidents.add_to_scope(
            incident.id, [session_part(access, name) for name in ("c", "d")], access=access
        )
    with workspace_scope(access.workspace_id):
        assert IncidentScope.objects.filter(incident_id=incident.id).count() == 2


def test_eviction_of_the_whole_scope_ends_the_residue_and_dates_the_incident(
    access: Access,
) -> None:
    put(access, fact(predicate="likes", value="poison", session="odd"), NOW)
    put(access, fact(predicate="likes", value="tea", session="good"), NOW)
    part = Part(ScopeKind.SESSION, session(access, "odd"))
    incident = incidents.open_incident(Details("t", Severity.HIGH), [part], access=access)
    incidents.contain_scope(incident.id, "stop it", access=access)
    made = preview(access, Scope(incident_id=incident.id))
    assert (made.total, made.incident_id) == (1, incident.id)
    submit(access, made)
    finish_tasks(access, incident)
    with pytest.raises(NotYet) as refused:
        incidents.close_incident(incident.id, "over", cause="a page", access=access)
    assert [one.code for one in refused.value.missing] == ["withheld", "operations"]
    perform_waiting(access.workspace_id)
    assert standing(access, incident) == (1, 0, 0, 0, 1)
    closed = incidents.close_incident(incident.id, "over", cause="a page", access=access)
    assert closed.evicted_at is not None
    with workspace_scope(access.workspace_id):
        page = list_timeline(incident.id, cursor=None, workspace_id=access.workspace_id)
    told = [one.words for one in page.items]
    for line in ("Operation requested", "Operation finished", "Incident closed"):
        assert line in told, told
    assert not any("record." in line for line in told)  # the receipt names those
