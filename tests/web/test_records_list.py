"""The record list: filters, pages, counts, warnings, and what hostile text does there."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import unquote
from uuid import UUID, uuid4

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from audits.domain.roles import Role
from audits.queries import records as queries
from audits.templatetags.console import memory_text
from audits.views.components import HOSTILE
from records import curate, policies
from records.domain.facts import HoldReason
from tests import factories

from .conftest import Person, make_person, put, text, words

# What must never reach a page as itself.
LIVE = (
    "<script>alert", "<img src=x", '<b hx-get="/evil"', "\u202e", "\u200b", "\x1b", "\U000e0069",
)  # fmt: skip


def ids_on(page: Any) -> list[UUID]:
    """Return the records a list shows, in order."""
    return [
        UUID(one)
        for one in re.findall(r'data-row-link href="[^"]*/records/([0-9a-f-]{36})"', text(page))
    ]


def next_of(page: Any) -> str | None:
    found = re.search(r'rel="next" href="[^"?]*\?([^"]*)"', text(page))
    return unquote(found.group(1).replace("&amp;", "&")).split("after=")[1] if found else None


@pytest.fixture
def person() -> Person:
    return make_person(role=Role.VIEWER)


def test_list_shows_the_workspace_newest_first_and_no_other(
    person: Person, stranger: Person
) -> None:
    first = put(person.access, "Acme", predicate="allergy")
    second = put(person.access, "Helio", predicate="allergy")
    put(stranger.access, "Foreign", predicate="allergy")
    page = person.get("records")
    assert ids_on(page) == [second.id, first.id]
    assert "Foreign" not in text(page)


def test_each_filter_keeps_what_it_says(person: Person) -> None:
    access = person.access
    plain = put(access, "cashews", predicate="allergy", session="s1", tags=("food",))
    other = put(access, "Hull", predicate="city", session="s2", partition="ben", subject="Ben")
    derived = put(access, "kiwi", predicate="allergy", source="clinic", source_key="ada/1")
    held = put(access, "3 May 1990", predicate="birthday")
    curate.hold([held.id], HoldReason.MANUAL, access=access)
    cases: dict[str, set[Any]] = {
        "status=quarantined": {held.id},
        "status=active": {plain.id, other.id, derived.id},
        "hold_reason=manual": {held.id},
        "partition=ben": {other.id},
        "predicate=allergy": {plain.id, derived.id},
        "predicate=Allergic+To": {plain.id, derived.id},
        "session=s2&partition=ben": {other.id},
        "source=clinic": {derived.id},
        "tag=food": {plain.id},
        "text=cashew": {plain.id},
        "text=ben+hull": {other.id},
        "standing=expired": set(),
        "status=active&predicate=allergy&text=kiwi": {derived.id},
        "text=cashew&tag=food&session=s1&partition=ada": {plain.id},
    }
    if policies.book(access.workspace_id).resolve("Allergic To").predicate != "allergy":
        del cases["predicate=Allergic+To"]
    for query, expected in cases.items():
        page = person.client.get(f"{person.url('records')}?{query}")
        assert set(ids_on(page)) == expected, query
        assert "was ignored" not in text(page), query


def test_pages_by_cursor_show_every_row_once_whatever_arrives_meanwhile(person: Person) -> None:
    made = [put(person.access, f"thing {i}", predicate="owns").id for i in range(120)]
    seen: list[UUID] = []
    after: str | None = None
    for _ in range(4):
        page = person.get("records", **({"after": after} if after else {}), status="active")
        seen += ids_on(page)
        after = next_of(page)
        put(person.access, f"arrival {uuid4()}", predicate="owns")
        if after is None:
            break
    assert seen == list(reversed(made))


def test_cursor_of_another_list_is_a_warning_and_the_first_page(
    person: Person, stranger: Person
) -> None:
    for one in (person, stranger):
        for i in range(51):
            put(one.access, f"thing {i}", predicate="owns")
    cursor = next_of(stranger.get("records"))
    for bad in (cursor, "nonsense", next_of(person.get("records", status="active"))):
        page = person.get("records", after=bad)
        assert page.status_code == 200
        assert "could not be read from the URL" in text(page)
        assert len(ids_on(page)) == 50


@pytest.mark.parametrize(
    ("query", "named"),
    [
        ("colour=red", "colour"),
        ("status=dead", "status"),
        ("status=active&status=evicted", "status"),
        ("session=s1", "session"),
        ("text=" + "x" * 201, "text"),
        ("tag=%00", "tag"),
        ("standing=old", "standing"),
    ],
)
def test_filter_that_is_not_understood_is_named(person: Person, query: str, named: str) -> None:
    put(person.access)
    page = person.client.get(f"{person.url('records')}?{query}")
    assert page.status_code == 200
    assert f"\u201c{named}\u201d" in text(page)
    assert len(ids_on(page)) == 1  # the rest still filters


def test_empty_filtered_empty_and_end_of_the_list_say_different_things(person: Person) -> None:
    nothing = words(person.get("records"))
    put(person.access)
    filtered = words(person.get("records", status="evicted"))
    assert "No records yet" in nothing
    assert "No record matches these filters" in filtered
    assert "Clear the filters" in filtered
    assert "No record matches" not in nothing


def test_count_beside_the_list_is_the_true_number(person: Person, monkeypatch: Any) -> None:
    for i in range(7):
        put(person.access, f"thing {i}", predicate="owns")
    assert 'data-total="7"' in text(person.get("records", predicate="owns"))
    monkeypatch.setattr(queries, "QUICK_CAP", 5)
    assert "5+ records" in text(person.get("records", predicate="owns"))
    assert 'data-total="7"' in text(person.get("records/count", predicate="owns", htmx=True))


def test_partial_is_the_very_piece_of_the_page(person: Person) -> None:
    put(person.access)
    piece = text(person.get("records", htmx=True, status="active"))
    page = text(person.get("records", status="active"))
    assert "<html" not in piece
    assert piece.strip().startswith('<div id="records-table"')
    strip = re.compile(r">[^<]*ago<")
    assert strip.sub("><", piece.strip()) in strip.sub("><", page)


def test_list_costs_eight_statements_however_long_it_is(person: Person) -> None:
    put(person.access)
    counts = []
    for _ in range(2):
        with CaptureQueriesContext(connection) as caught:
            person.get("records", status="active", predicate="owns")
        asked = [one["sql"] for one in caught if one["sql"] not in ("BEGIN", "COMMIT", "ROLLBACK")]
        counts.append(len(asked))
        for i in range(60):
            put(person.access, f"thing {i}", predicate="owns")
    print(counts, asked)
    assert counts[0] == counts[1] <= 8, asked


def test_page_travels_compressed(person: Person) -> None:
    for i in range(50):
        put(person.access, f"thing {i}", predicate="owns")
    plain = person.get("records")
    packed = person.client.get(person.url("records"), headers={"Accept-Encoding": "gzip"})
    assert packed.headers["Content-Encoding"] == "gzip"
    assert "Accept-Encoding" in packed.headers["Vary"]
    assert "HX-Request" in packed.headers["Vary"]
    assert len(packed.content) < 20_000 < len(plain.content)


SAVED = [("records", "status=quarantined"), ("queue", "risk=high")]


@pytest.mark.parametrize(("page", "query"), SAVED)
def test_saved_view_is_its_persons_own(page: str, query: str) -> None:
    person = make_person(role=Role.REVIEWER)
    answer = person.post("views", {"page": page, "name": "my own", "query": query})
    assert answer.status_code == 302
    put(person.access)
    shown = text(person.get(page))
    assert f"?{query}&amp;view=" in shown
    other = next(one for one, _ in SAVED if one != page)
    assert "my own" not in text(person.get(other))
    colleague = make_person(person.access, Role.REVIEWER)
    assert "my own" not in text(colleague.get(page))
    view_id = re.search(r"/views/([0-9a-f-]{36})/delete", shown)
    assert view_id is not None
    assert colleague.post(f"views/{view_id.group(1)}/delete").status_code == 404
    assert person.post(f"views/{view_id.group(1)}/delete").status_code == 302
    assert "my own" not in text(person.get(page))


@pytest.mark.parametrize(("page", "query"), SAVED)
def test_changed_filters_of_a_saved_view_are_marked(page: str, query: str) -> None:
    person = make_person(role=Role.REVIEWER)
    answer = person.post("views", {"page": page, "name": "my own", "query": query})
    view = answer.headers["Location"].rpartition("view=")[2]
    name, _, value = query.partition("=")
    plain = text(person.get(page, **{name: value, "view": view}))
    assert "View: my own" in plain
    assert "(modified)" not in plain
    changed = text(person.get(page, **{name: value, "view": view, "text": "acme"}))
    assert "(modified)" in changed
    assert f'name="view" value="{view}"' in changed  # the next filtering keeps the mark
    assert "View:" not in text(person.get(page, text="acme"))


@pytest.mark.parametrize(
    "given", [{"page": "people"}, {"name": ""}, {"name": "n" * 101}, {"query": "q" * 2_001}]
)
def test_view_that_cannot_be_saved_says_why(person: Person, given: dict[str, str]) -> None:
    posted = {"page": "records", "name": "my own", "query": "status=active", **given}
    answer = person.client.post(f"/w/{person.access.workspace}/views", posted, follow=True)
    shown = text(answer)
    assert "The view was not saved." in shown
    assert next(iter(given)) in shown
    assert "Saved views" not in shown


def test_jump_field_finds_a_record_a_session_or_words(person: Person) -> None:
    made = put(person.access)
    page = text(person.get(f"records/{made.id}"))
    session_id = re.search(r"/sessions/([0-9a-f-]{36})", page)
    assert session_id is not None
    assert person.get("search", q=str(made.id)).headers["Location"].endswith(f"/records/{made.id}")
    to_session = person.get("search", q=session_id.group(1)).headers["Location"]
    assert to_session.endswith(f"/sessions/{session_id.group(1)}")
    assert "?text=acme" in person.get("search", q="acme").headers["Location"]
    assert person.get("search", q="").headers["Location"].endswith("/records")


@pytest.mark.parametrize("hostile", HOSTILE)
def test_hostile_text_is_inert_wherever_it_stands(person: Person, hostile: str) -> None:
    """Rows are put in as they are: what the gate would say of them is not the question here."""
    cleaned = hostile.replace("\x00", "")[:180]
    record_id = factories.make_record(
        person.access, cleaned, subject=cleaned, session=cleaned, tags=[cleaned[:60]]
    )
    detail = text(person.get(f"records/{record_id}"))
    session_id = re.search(r"/sessions/([0-9a-f-]{36})", detail)
    assert session_id is not None
    pages = [person.get("records"), person.get(f"sessions/{session_id.group(1)}")]
    for page in (detail, *(text(one) for one in pages)):
        for live in LIVE:
            assert live not in page
        if "\u202e" in cleaned:
            assert "U+202E right-to-left override" in page


@pytest.mark.parametrize(("over", "is_cut"), [(0, False), (8, False), (9, True), (500, True)])
def test_line_is_cut_only_where_that_saves_room(over: int, is_cut: bool) -> None:
    limit = 16
    drawn = str(memory_text("q" * (limit + over), limit))
    assert ("characters" in drawn) is is_cut
    assert drawn.count("q") == (limit if is_cut else limit + over)
    assert not is_cut or f"+{over} characters" in drawn
