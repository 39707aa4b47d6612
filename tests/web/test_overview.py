"""The overview: every number opens the list behind it and equals its count."""

from __future__ import annotations

import re
from html import unescape

from django.db import connection
from django.test.utils import CaptureQueriesContext

from audits.domain.roles import Role
from records import curate
from records.domain.facts import HoldReason

from .conftest import Person, make_person, put, text, words


def seeded() -> Person:
    person = make_person(role=Role.RESPONDER)
    access = person.access
    old = put(access, "Acme")
    put(access, "Acme", session="s2")
    put(access, "Helio", session="s2")
    for value in ("cashews", "kiwi"):
        held = put(access, value, predicate="allergy")
        curate.hold([held.id], HoldReason.MANUAL, access=access)  # type: ignore[list-item]
    wrong = put(access, "Hull", predicate="city")
    curate.retract([wrong.id], "wrong", access=access)  # type: ignore[list-item]
    out = put(access, "red", predicate="favourite_colour")
    curate.evict([out.id], "poison", access=access)  # type: ignore[list-item]
    assert old.id
    return person


def test_every_number_equals_the_list_that_it_opens() -> None:
    person = seeded()
    page = text(person.get(""))
    tiles = re.findall(
        r'<a class="tile" href="([^"]+)" data-count="(\w+)">\s*<span class="tile-number">([\d,]+)<',
        page,
    )
    numbers = {name: int(number.replace(",", "")) for _, name, number in tiles}
    assert numbers["active"] == 1
    assert numbers["quarantined"] == 2
    assert numbers["superseded"] == 1
    assert numbers["retracted"] == 1
    assert numbers["evicted"] == 1
    assert numbers["sessions"] == 2
    for href, name, _ in tiles:
        listed = text(person.client.get(unescape(href)))
        rows = len(re.findall(r"<tr data-row", listed))
        assert rows == numbers[name], name
        if rows and name != "sessions":
            assert f'data-total="{rows}"' in listed
    assert len(tiles) == 10  # two rows of five, five rows of two: none is ragged


def test_day_counts_writes_by_decision_and_not_acts_of_people() -> None:
    person = seeded()
    piece = text(person.get("day", htmx=True))
    counts = dict(re.findall(r'<tr><td>(\w+)</td><td class="numeric">(\d+)</td>', piece))
    assert counts["added"] == "5"
    assert counts["reinforced"] == "1"
    assert counts["updated"] == "1"
    assert counts["rejected"] == "0"
    assert counts["quarantined"] == "0"
    assert 'data-duplicates="0.0"' in piece


def test_empty_workspace_shows_how_to_begin() -> None:
    person = make_person(role=Role.ADMINISTRATOR)
    page = words(person.get(""))
    assert "Nothing is remembered here yet" in page
    assert "curl" in page
    assert "/api/v1/memories" in page
    put(person.access)
    assert "Nothing is remembered here yet" not in words(person.get(""))


def test_overview_costs_eight_statements() -> None:
    person = seeded()
    person.get("")
    with CaptureQueriesContext(connection) as caught:
        person.get("")
    control = ("BEGIN", "COMMIT", "SAVEPOINT", "RELEASE")
    asked = [one["sql"] for one in caught if not one["sql"].startswith(control)]
    assert len(asked) <= 8, asked


def test_suspension_is_announced_on_every_page() -> None:
    person = seeded()
    page = text(person.get("sessions"))
    session_id = re.search(r"/sessions/([0-9a-f-]{36})", page)
    assert session_id is not None
    assert "Containment" not in page
    person.post(f"sessions/{session_id.group(1)}/suspend", {"reason": ""})
    for path in ("", "records", "policies", "jobs"):
        assert "1 session suspended" in words(person.get(path)), path
