"""Exposure pages: sentences equal to what was served, lists, recalls, the file of people to notify."""

from __future__ import annotations

import csv
import io
import json
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from audits.domain.roles import Role
from audits.models import Export
from records import curate
from records.domain.canonical import session_id as id_of
from records.models import Event, Workspace
from records.retrieve.recall import recall
from records.retrieve.request import RecallRequest
from records.scope import workspace_scope
from tests.factories import _insert

from .conftest import Person, make_person, put, text, words


@pytest.fixture
def responder() -> Person:
    return make_person(role=Role.RESPONDER)


def session_of(person: Person, name: str, partition: str = "ada") -> UUID:
    return id_of(person.access.workspace_id, person.access.partition_id(partition), name)


def ask(person: Person, query: str, session: str | None = "reader", partition: str = "ada") -> UUID:
    request = RecallRequest(partition=partition, query=query, session=session)
    return recall(request, access=person.access).recall_id


def poisoned(person: Person) -> str:
    """Write one poisoned fact, serve it to three sessions, and let one of them write after it."""
    made = put(person.access, "billing@evil.example", predicate="invoice_email", session="bad")
    ask(person, "invoice email", "writer")
    ask(person, "invoice email", "writer")
    ask(person, "invoice email", "=cmd()")
    ask(person, "invoice email", None)
    put(
        person.access,
        "Ada pays to billing@evil.example",
        subject="Ada",
        predicate="habit",
        session="writer",
    )
    put(person.access, "tea", predicate="favourite_drink", session="writer")
    return str(made.id)


def test_sentence_of_session_and_record_equals_the_serve_log(
    responder: Person, stranger: Person
) -> None:
    for one in (responder, stranger):
        poisoned(one)
    with workspace_scope(responder.access.workspace_id), connection.cursor() as cursor:
        cursor.execute(
            """SELECT count(DISTINCT v.record_id), count(*), count(DISTINCT v.session_id),
                      min(v.record_id::text)
               FROM serve v JOIN claim c USING (record_id) WHERE c.session_id = %s""",
            [session_of(responder, "bad")],
        )
        facts, serves, sessions, record = cursor.fetchone() or (0, 0, 0, "")
    assert (facts, serves, sessions) == (1, 4, 2)
    said = f"{facts} of 1 fact was served {serves} times to {sessions} sessions and 1 time without"
    for path in (
        f"sessions/{session_of(responder, 'bad')}/exposure",
        f"records/{record}/exposure",
    ):
        assert said in words(responder.get(path, htmx=True)), path
        assert said in words(responder.get(path)), path
    tainted = words(responder.get(f"sessions/{session_of(responder, 'bad')}/exposure"))
    assert "2 records were written afterwards by 1 session." in tainted


def test_exposed_tab_lists_who_was_served_and_what_they_wrote(responder: Person) -> None:
    poisoned(responder)
    page = responder.get(f"sessions/{session_of(responder, 'bad')}/exposed")
    body = text(page)
    rows = body.split("<tr data-row>")[1:]
    assert len(rows) == 3
    writer = next(one for one in rows if ">writer<" in one)
    assert 'data-label="Wrote then" class="numeric">2' in writer
    assert 'data-label="Serves" class="numeric">2' in writer
    assert any("no session named" in one for one in rows)
    assert any("only reads" in one and "=cmd()" in one for one in rows)
    assert 'aria-current="page">Exposed' in body
    piece = text(responder.get(f"sessions/{session_of(responder, 'bad')}/exposed", htmx=True))
    assert "<html" not in piece
    assert piece.strip().startswith('<div id="exposed-list">')


def test_derived_tab_shows_what_repeats_the_poison_first(responder: Person) -> None:
    poisoned(responder)
    path = f"sessions/{session_of(responder, 'bad')}/derived"
    rows = text(responder.get(path)).split("<tr data-row>")[1:]
    assert ["repeats it" in one for one in rows] == [True, False]
    assert "Ada pays to billing@evil.example" in rows[0]
    assert "/recalls/" in rows[0]
    only = text(responder.get(path, evidence="repeats")).split("<tr data-row>")[1:]
    assert len(only) == 1
    assert "it was ignored" in words(responder.get(path, evidence="perhaps"))
    assert "it was ignored" in words(responder.get(path, colour="red"))
    assert "2 records were written afterwards" in words(responder.get(path, after="forged"))


def test_record_pages_show_the_same_radius(responder: Person) -> None:
    record = poisoned(responder)
    exposed = words(responder.get(f"records/{record}/exposed"))
    assert "Who was served" in exposed
    assert "writer" in exposed
    assert "repeats it" in words(responder.get(f"records/{record}/derived"))
    nothing = put(responder.access, "chess", predicate="hobby", session="quiet")
    assert "Nobody was served" in words(responder.get(f"records/{nothing.id}/exposed"))
    assert "Nothing has followed" in words(responder.get(f"records/{nothing.id}/derived"))


def test_record_page_answers_whether_it_was_used_while_wrong(responder: Person) -> None:
    record = poisoned(responder)
    path = f"records/{record}/exposure"
    page = text(responder.get(path, htmx=True))
    assert "Was it used while wrong?" in page
    assert "No: it was current each of the 4 times" in words(responder.get(path))
    curate.evict([UUID(record)], "poison", access=responder.access)
    said = words(responder.get(path))
    assert "Yes: it was served 4 times to 2 sessions before it was evicted, and not since." in said
    assert "evicted" in text(responder.get(path)).split("<tbody>")[1]
    figure = text(responder.get(path)).split('data-figure="')[1].split('"')[0]
    assert "evicted" in figure


def test_chart_is_in_the_workspaces_time_zone(responder: Person) -> None:
    record = poisoned(responder)
    with workspace_scope(responder.access.workspace_id):
        Workspace.objects.filter(id=responder.access.workspace_id).update(time_zone="Asia/Tokyo")
    assert "Asia/Tokyo" in text(responder.get(f"records/{record}/exposure"))
    chart = f"sessions/{session_of(responder, 'bad')}/exposed/chart"
    assert "Asia/Tokyo" in text(responder.get(chart))
    assert "When did its facts reach agents?" in text(responder.get(chart, htmx=True))


def test_recall_page_shows_who_asked_and_who_stands_behind_the_answer(
    responder: Person, stranger: Person
) -> None:
    put(responder.access, "billing@evil.example", predicate="invoice_email", session="bad")
    hostile = "<script>alert(1)</script> invoice email \u202ex"
    found = ask(responder, hostile, "writer")
    page = text(responder.get(f"recalls/{found}"))
    assert "<script>alert(1)" not in page
    assert "&lt;script&gt;alert(1)" in page
    assert "chip-hidden" in page
    assert f"sessions/{session_of(responder, 'bad')}" in page
    assert "billing@evil.example" in page
    assert "has written nothing" in page
    assert stranger.get(f"recalls/{found}").status_code == 404
    assert responder.get(f"recalls/{uuid4()}").status_code == 404
    serves = text(responder.get(f"records/{_record(responder)}/serves"))
    assert f"recalls/{found}" in serves


def _record(person: Person) -> UUID:
    with workspace_scope(person.access.workspace_id):
        event = Event.objects.filter(
            workspace_id=person.access.workspace_id, action="record.added"
        ).first()
    assert event is not None
    assert event.target_id is not None
    return event.target_id


PATHS = (
    "sessions/{session}/exposure",
    "sessions/{session}/exposed",
    "sessions/{session}/exposed/chart",
    "sessions/{session}/derived",
    "records/{record}/exposure",
    "records/{record}/exposed",
    "records/{record}/derived",
    "recalls/{recall}",
)


def test_pages_cost_eight_statements_whatever_their_rows(responder: Person) -> None:
    record = poisoned(responder)
    for number in range(20):
        ask(responder, "invoice email", f"r{number}")
        put(responder.access, f"thing {number}", predicate="owns", session=f"r{number}")
    found = ask(responder, "invoice email")
    names = {"session": session_of(responder, "bad"), "record": record, "recall": found}
    for path in PATHS:
        with CaptureQueriesContext(connection) as caught:
            assert responder.get(path.format(**names)).status_code == 200
        asked = [one["sql"] for one in caught if one["sql"] not in ("BEGIN", "COMMIT")]
        assert len(asked) <= 8, (path, asked)


def test_stranger_finds_none_of_the_pages(responder: Person, stranger: Person) -> None:
    record = poisoned(responder)
    poisoned(stranger)
    names = {
        "session": session_of(responder, "bad"),
        "record": record,
        "recall": ask(responder, "invoice email"),
    }
    paths = [*PATHS, "sessions/{session}/exposed/export", "records/{record}/exposed/export"]
    for path in paths:
        assert responder.get(path.format(**names)).status_code == 200, path
        assert stranger.get(path.format(**names)).status_code == 404, path


def test_only_pages_with_charts_allow_inline_styles_and_none_inline_scripts(
    responder: Person,
) -> None:
    record = poisoned(responder)
    session = session_of(responder, "bad")
    charted = [f"sessions/{session}/exposed", f"records/{record}", f"records/{record}/exposed"]
    for path in [*charted, "records", f"sessions/{session}/derived"]:
        policy = responder.get(path).headers["Content-Security-Policy"]
        rules = dict(one.strip().split(" ", 1) for one in policy.split(";"))
        assert rules["script-src"] == "'self'", path
        assert ("'unsafe-inline'" in rules["style-src"]) == (path in charted), path


def download(person: Person, path: str) -> tuple[Any, bytes]:
    answer = person.client.get(person.url(path))
    return answer, b"".join(answer.streaming_content)


def test_file_of_people_to_notify_is_whole_neutral_and_on_record(responder: Person) -> None:
    poisoned(responder)
    path = f"sessions/{session_of(responder, 'bad')}/exposed/export"
    answer, data = download(responder, f"{path}?by=session&format=csv")
    assert answer.headers["Content-Disposition"].endswith('.csv"')
    rows = list(csv.DictReader(io.StringIO(data.decode(), newline="")))
    assert {row["session"]: row["serves"] for row in rows} == {
        "writer": "2",
        "'=cmd()": "1",
        "": "1",
    }
    assert {row["partition"] for row in rows} == {"ada"}
    assert all(row["first_served_at"].endswith("Z") for row in rows)
    assert next(row for row in rows if row["session"] == "writer")["wrote_afterwards"] == "2"
    with workspace_scope(responder.access.workspace_id):
        kept = Export.objects.get(workspace_id=responder.access.workspace_id, kind="exposure")
        found = Event.objects.filter(action="exposure.exported")
        (event,) = [one for one in found if one.details["export"] == str(kept.id)]
    assert (kept.state, kept.rows, kept.size) == ("finished", 3, len(data))
    assert kept.sha256 == sha256(data).hexdigest()
    assert (event.target_kind, event.target_id) == ("session", session_of(responder, "bad"))
    assert event.actor == responder.user.username
    _, lines = download(responder, f"{path}?by=partition&format=jsonl")
    head, person, end = [json.loads(one) for one in lines.decode().splitlines()]
    assert (head["type"], head["about"], end["rows"]) == ("header", "session", 1)
    assert (person["partition"], person["serves"], person["sessions"]) == ("ada", 4, 2)
    assert responder.client.get(responder.url(f"{path}?by=planet")).status_code == 404


def test_file_has_everybody_in_whatever_pieces_it_is_read(
    responder: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    from audits import exposure

    monkeypatch.setattr(exposure, "PIECE", 3)
    made = put(responder.access, "poison", session="bad")
    access = responder.access
    start = datetime.now(UTC) - timedelta(hours=1)
    with workspace_scope(access.workspace_id):
        for number in range(10):
            row = {"recall_id": uuid4(), "at": start + timedelta(minutes=number % 4)}
            row |= {"workspace_id": access.workspace_id, "partition_id": access.partition_id("ada")}
            row |= {"session_id": uuid4(), "record_id": made.id, "rank": 1, "score": 0.5}
            _insert("serve", {**row, "current": True})
    path = f"records/{made.id}/exposed/export?by=session&format=csv"
    answer = responder.client.get(responder.url(path))
    lines = b"".join(answer.streaming_content).decode().splitlines()
    assert len(lines) == 11
    assert len({one.rsplit(",", 1)[1] for one in lines[1:]}) == 10


def test_serve_that_comes_during_the_export_moves_nobody_out_of_it(
    responder: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    from audits import exposure

    monkeypatch.setattr(exposure, "PIECE", 1)
    made = put(responder.access, "poison", session="bad")
    for name in ("r1", "r2", "r3"):
        ask(responder, "poison", name)
    path = f"records/{made.id}/exposed/export?by=session&format=csv"
    answer = responder.client.get(responder.url(path))
    for name in ("r3", "r1", "r2", "r4"):
        ask(responder, "poison", name)
    rows = list(
        csv.DictReader(io.StringIO(b"".join(answer.streaming_content).decode(), newline=""))
    )
    assert {row["session"]: row["serves"] for row in rows} == {"r1": "1", "r2": "1", "r3": "1"}
