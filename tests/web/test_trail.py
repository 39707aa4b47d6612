"""The audit trail's pages: what filters show, what an event says, and who may look."""

from __future__ import annotations

import re
from typing import Any
from uuid import uuid4

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from audits import seals
from audits.domain.roles import Role
from audits.queries import trail as queries
from records import events
from records.events import Happening
from records.models import Event
from records.scope import workspace_scope
from tests.db.trail import own_keys  # noqa: F401

from .conftest import Person, make_person, put, text, words


@pytest.fixture
def auditor() -> Person:
    """An auditor of a workspace where somebody evicted a fact."""
    ann = make_person(role=Role.ADMINISTRATOR)
    made = put(ann.access, "Acme")
    assert made.id
    done = ann.post(f"records/{made.id}/evict", {"reason": "not sure", "version": 1})
    assert done.status_code == 302
    put(ann.access, "Leeds", predicate="city", session="s2")
    seals.seal_now(ann.access.workspace_id)
    return make_person(ann.access, Role.AUDITOR)


def happen(person: Person, *happenings: Happening) -> None:
    with workspace_scope(person.access.workspace_id):
        events.append(happenings, access=person.access)


def actions(response: Any) -> list[str]:
    return re.findall(r'data-cell="action" href="[^"]*">([^<]*)<', text(response))


def ids(response: Any) -> list[int]:
    return [
        int(one) for one in re.findall(r'data-row-link href="[^"]*/events/(\d+)"', text(response))
    ]


def all_ids(person: Person, **query: Any) -> list[int]:
    """Return the ids of every page, by following the link to the next one."""
    found: list[int] = []
    page = person.get("trail", **query)
    for _ in range(200):
        found += ids(page)
        more = re.search(r'rel="next" href="([^"]*)"', text(page))
        if more is None:
            return found
        page = person.client.get(more.group(1).replace("&amp;", "&"))
        assert page.status_code == 200
    raise AssertionError("the pages do not end")


def stored(person: Person, **matching: Any) -> list[int]:
    with workspace_scope(person.access.workspace_id):
        return list(
            Event.objects.filter(**matching).order_by("-at", "-id").values_list("id", flat=True)
        )


def test_list_shows_every_event_newest_first_with_number_and_hash(auditor: Person) -> None:
    page = auditor.get("trail")
    assert page.status_code == 200
    assert ids(page) == stored(auditor)
    said = words(page)
    assert "record.evicted" in said
    assert "not sure" in said
    assert "#1" in said
    with workspace_scope(auditor.access.workspace_id), connection.cursor() as cursor:
        cursor.execute("SELECT encode(leaf, 'hex') FROM sealed_event WHERE position = 1")
        (leaf,) = cursor.fetchone() or ("",)
    assert leaf[:8] in said


@pytest.mark.parametrize(
    ("query", "matching"),
    [
        ({"action": "record.evicted"}, {"action": "record.evicted"}),
        ({"action": "record.added"}, {"action": "record.added"}),
        ({"action": "record.*"}, {"action__startswith": "record."}),
        ({"role": "administrator"}, {"role": "administrator"}),
        ({"actor_kind": "command"}, {"actor_kind": "command"}),
        ({"actor": "test", "actor_kind": "command"}, {"actor": "test"}),
        ({"actor": "test"}, {"actor": "test"}),
        ({"actor_kind": "user"}, {"actor_kind": "user"}),
        ({"target_kind": "record"}, {"target_kind": "record"}),
        ({"reason": "not sure"}, {"reason": "not sure"}),
        ({"text": "SURE not"}, {"reason": "not sure"}),
        ({"text": "100%"}, {"reason__contains": "100%"}),
        ({"partition": "ada"}, {"partition_id__isnull": False}),
    ],
)
def test_filter_shows_what_matches_and_nothing_else(
    auditor: Person, query: dict[str, str], matching: dict[str, Any]
) -> None:
    found = all_ids(auditor, **query)
    assert found == stored(auditor, **matching)
    assert len(found) < len(stored(auditor))


@pytest.mark.parametrize("column", ["action", "actor", "outcome", "target_kind", "role"])
def test_what_is_left_out_and_what_is_shown_are_the_whole(auditor: Person, column: str) -> None:
    with workspace_scope(auditor.access.workspace_id):
        value = Event.objects.exclude(**{column: ""}).values_list(column, flat=True)[0]
    only = all_ids(auditor, **{column: value})
    without = all_ids(auditor, **{f"not_{column}": value})
    assert only
    assert not set(only) & set(without)
    assert set(only) | set(without) == set(stored(auditor))


def test_leaving_out_a_session_keeps_what_has_none(auditor: Person) -> None:
    with workspace_scope(auditor.access.workspace_id):
        session = Event.objects.exclude(session_id=None).values_list("session_id", flat=True)[0]
    found = all_ids(auditor, not_session=str(session))
    assert set(stored(auditor, session_id=None)) <= set(found)
    assert not set(stored(auditor, session_id=session)) & set(found)


def test_numbers_times_targets_and_sessions_narrow(auditor: Person) -> None:
    with workspace_scope(auditor.access.workspace_id):
        one = Event.objects.filter(action="record.evicted").get()
    assert all_ids(auditor, target=str(one.target_id)) == sorted(
        stored(auditor, target_id=one.target_id), reverse=True
    )
    assert all_ids(auditor, session=str(one.session_id or uuid4())) == sorted(
        stored(auditor, session_id=one.session_id) if one.session_id else [], reverse=True
    )
    assert len(all_ids(auditor, first="2", last="4")) == 3
    assert all_ids(auditor, since=one.at.isoformat(), until=one.at.isoformat()) == []
    assert one.id in all_ids(auditor, since=one.at.isoformat())
    assert one.id not in all_ids(auditor, until=one.at.isoformat())
    assert one.id in all_ids(auditor, since=f"{one.at:%Y-%m-%d}", until=f"{one.at:%Y-%m-%d}")
    assert all_ids(auditor, request_id="none-such") == []


def test_operations_and_incidents_gather_their_events(auditor: Person) -> None:
    operation, incident = str(uuid4()), str(uuid4())
    happen(
        auditor,
        Happening("operation.started", details={"operation": operation, "incident": incident}),
        Happening("record.evicted", details={"operation": operation}),
        Happening("incident.opened", details={"incident": incident}),
    )
    assert len(all_ids(auditor, operation=operation)) == 2
    assert len(all_ids(auditor, incident=incident)) == 2
    assert len(all_ids(auditor, operation=operation, incident=incident)) == 1
    assert len(all_ids(auditor, operation=operation, action="record.evicted")) == 1
    stranger = make_person(role=Role.AUDITOR)
    assert all_ids(stranger, operation=operation) == []


def test_only_denied_bulk_and_mine(auditor: Person) -> None:
    auditor.post("jobs/validity/start")
    happen(auditor, Happening("record.reinforced", "records", count=7))
    denied = all_ids(auditor, only="denied")
    assert denied == stored(auditor, outcome="denied")
    assert len(denied) == 1
    bulk = all_ids(auditor, only="bulk")
    assert stored(auditor, count=7)[0] in bulk
    assert not set(stored(auditor, count=1)) & set(bulk)
    mine = all_ids(auditor, only="mine")
    assert mine == stored(auditor, actor=auditor.user.username)
    assert set(denied) <= set(mine)


def test_pages_follow_each_other_without_gap_or_repeat_in_every_order(
    auditor: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    happen(auditor, *[Happening("note.made", "note", reason=f"n{n}") for n in range(130)])
    seals.seal_now(auditor.access.workspace_id)
    assert all_ids(auditor) == stored(auditor)
    notes = stored(auditor, action="note.made")
    assert all_ids(auditor, action="note.made") == notes
    assert len(all_ids(auditor, first="3")) == len(stored(auditor)) - 2
    # What no index knows is looked for piece by piece, and paging on finds all of it.
    monkeypatch.setattr(queries, "BUDGET", 17)
    assert all_ids(auditor, text="n12") == stored(auditor, reason__contains="n12")
    assert all_ids(auditor, role="none-such") == []
    page = auditor.get("trail", text="not sure")
    assert ids(page) == []
    assert "17 events were looked through" in words(page)
    assert "Look further back" in words(page)


def test_unknown_and_malformed_filters_are_warned_of_by_name(auditor: Person) -> None:
    page = auditor.get("trail", colour="red", outcome="odd", target="x", since="soon", first="0")
    said = words(page)
    for name in ("colour", "outcome", "target", "since", "first"):
        assert f"“{name}”" in said
    assert ids(page) == stored(auditor)
    assert "“only” knows" in words(auditor.get("trail", only="odd"))
    assert "is the beginning" not in words(page)
    assert "this is its beginning" in words(auditor.get("trail", after="broken"))


def test_piece_is_the_pages_own_and_costs_few_statements(auditor: Person) -> None:
    whole, piece = auditor.get("trail"), auditor.get("trail", htmx=True)
    assert "<html" not in text(piece)
    root = text(piece).strip()
    assert root.startswith('<div id="trail-table"')
    assert re.sub(r"\s+", " ", root) in re.sub(r"\s+", " ", text(whole))
    happen(auditor, *[Happening("note.made", "note") for _ in range(60)])
    for path in ("trail", "trail/integrity", "trail/exports", "trail/access"):
        with CaptureQueriesContext(connection) as captured:
            assert (
                auditor.get(path, **({"text": "x"} if path == "trail" else {})).status_code == 200
            )
        assert len(_reads(captured)) <= 8, [one["sql"][:80] for one in captured]


def _reads(captured: CaptureQueriesContext) -> list[dict[str, str]]:
    quiet = ("SAVEPOINT", "RELEASE", "BEGIN", "COMMIT")
    return [one for one in captured.captured_queries if not one["sql"].startswith(quiet)]


@pytest.mark.parametrize("role", list(Role))
def test_approvers_auditors_and_administrators_see_the_trail(auditor: Person, role: Role) -> None:
    person = make_person(auditor.access, role)
    may = role in (Role.APPROVER, Role.AUDITOR, Role.ADMINISTRATOR)
    assert person.get("trail").status_code == (200 if may else 403)
    link = f'href="{person.url("trail")}"' in text(person.get("records"))
    assert link == may


def test_event_page_says_all_and_its_proof_holds(auditor: Person) -> None:
    (event_id,) = stored(auditor, action="record.evicted")
    page = auditor.get(f"trail/events/{event_id}")
    said = words(page)
    assert "not sure" in said
    assert "active" in said
    assert "evicted" in said
    assert text(page).count("<del>") == 1
    proof = auditor.get(f"trail/events/{event_id}/proof")
    assert "Proven" in words(proof)
    assert "does not hold" not in words(proof)
    assert f"/events/{event_id}" in words(proof).split("Leaf SHA-256")[1]
    piece = auditor.get(f"trail/events/{event_id}/proof", htmx=True)
    assert piece.headers["HX-Trigger"] == '{"announce": "Proven."}'
    assert "<html" not in text(piece)


def test_event_that_is_not_sealed_says_so(auditor: Person) -> None:
    happen(auditor, Happening("note.made", "note"))
    (event_id,) = stored(auditor, action="note.made")
    assert "Not sealed yet" in words(auditor.get(f"trail/events/{event_id}/proof"))
    assert "not sealed" in words(auditor.get("trail", action="note.made"))


def test_foreign_event_answers_like_an_unknown_one(auditor: Person) -> None:
    stranger = make_person(role=Role.AUDITOR)
    (event_id,) = stored(auditor, action="record.evicted")
    for path in (f"trail/events/{event_id}", f"trail/events/{event_id}/proof"):
        assert stranger.get(path).status_code == 404
        assert stranger.get(path.replace(str(event_id), str(2**70))).status_code == 404
    assert stranger.get("trail/99999999").status_code == 404
    number = auditor.get("trail/1")
    assert number.status_code == 302


def test_hostile_text_in_reason_and_actor_is_inert(auditor: Person) -> None:
    evil = '<img src=x onerror=alert(1)>\u202e<b hx-get="/x">'
    happen(auditor, Happening("note.made", "note", reason=evil, details={"from": evil, "to": "b"}))
    (event_id,) = stored(auditor, action="note.made")
    for path in ("trail", f"trail/events/{event_id}"):
        page = text(auditor.get(path))
        assert "<img src=x" not in page
        assert "<b hx-get" not in page
        assert "chip-hidden" in page
