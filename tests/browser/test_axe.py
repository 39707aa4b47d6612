"""Every page of the console under axe: page x theme x width x state, no violation.

``make test`` runs a sample of the matrix that meets every page and every theme
and width; ``make test-full`` runs all of it.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from audits import people
from audits.domain.roles import Role
from records import curate
from records.domain.canonical import session_id as id_of
from records.domain.facts import HoldReason
from tests.browser.conftest import Window, Windows
from tests.web.conftest import Person, make_access, make_person, put

OPTIONS: dict[str, Any] = {
    "runOnly": {"type": "tag", "values": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]},
    "resultTypes": ["violations"],
}
WIDTHS = (360, 768, 1440)
THEMES = ("light", "dark")
COMBINATIONS = list(itertools.product(THEMES, WIDTHS))


@dataclass
class Seeded:
    """A workspace with one of everything."""

    person: Person
    record: str
    held: str
    session: str
    empty: Person


@pytest.fixture(scope="module")
def seeded(django_db_setup: None, django_db_blocker: Any) -> Seeded:
    with django_db_blocker.unblock():
        person = make_person(role=Role.ADMINISTRATOR)
        access = person.access
        put(access, "Acme", evidence="I work at Acme", tags=("job",))
        made = put(access, "Helio", session="chat-2", agent="concierge", confidence=0.9)
        put(
            access,
            "paid to \u202egnp.evil\u202c today \u200b\u200b",
            predicate="note",
            session="evil\u202e",
        )
        held = put(access, "3 May 1990", predicate="birthday", evidence="born on 3 May 1990")
        curate.hold([held.id], HoldReason.MANUAL, access=access)  # type: ignore[list-item]
        out = put(access, "red", predicate="favourite_colour")
        curate.evict([out.id], "poison", access=access)  # type: ignore[list-item]
        put(access, "a very long value " * 60, predicate="biography")
        session = id_of(access.workspace_id, access.partition_id("ada"), "chat-2")
        curate.suspend("session", session, "looks odd", access=access)
        make_person(access, Role.AUDITOR)
        people.invite("somebody@example.org", Role.REVIEWER, access=access)
        return Seeded(
            person,
            str(made.id),
            str(held.id),
            str(session),
            make_person(make_access(), Role.VIEWER),
        )


def simple(path: str) -> Callable[[Window, Seeded], None]:
    return lambda window, seeded: _open(window, path.format(**vars(seeded)))


def _open(window: Window, path: str) -> Page:
    page = window.open(path)
    window.settle()
    return page


def _dialog(window: Window, seeded: Seeded) -> None:
    page = _open(window, f"records/{seeded.record}")
    page.get_by_role("link", name="Edit").click()
    expect(page.locator("#modal")).to_be_visible()


def _error(window: Window, seeded: Seeded) -> None:
    _dialog(window, seeded)
    window.page.get_by_role("textbox", name="Value").fill("Helio")
    window.page.get_by_label("Reason").fill("r")
    window.page.get_by_role("button", name="Edit").click()
    expect(window.page.get_by_text("says the same")).to_be_visible()


def _help(window: Window, seeded: Seeded) -> None:
    page = _open(window, "records")
    page.get_by_role("button", name="Help and keys").click()
    expect(page.locator("#help")).to_be_visible()


def _failure(window: Window, seeded: Seeded) -> None:
    page = _open(window, "records")
    page.route(re.compile(r"/records(\?|$)"), lambda route: route.fulfill(status=503, body="no"))
    if page.get_by_role("button", name="Filters").is_visible():
        page.get_by_role("button", name="Filters").click()
    page.get_by_role("button", name="Filter", exact=True).click()
    expect(page.locator(".swap-failure")).to_be_visible()
    window.faults.clear()


def _outside(path: str) -> Callable[[Window, Seeded], None]:
    def visit(window: Window, seeded: Seeded) -> None:
        window.page.goto(window.base + path)

    return visit


def _log_in(window: Window, seeded: Seeded) -> None:
    window.context.clear_cookies()
    window.page.goto(f"{window.base}/login")
    window.page.get_by_label("User name").fill("nobody")
    window.page.get_by_label("Password").fill("wrong")
    window.page.get_by_role("button", name="Log in").click()
    expect(window.page.get_by_role("alert")).to_be_visible()


STATES: dict[str, Callable[[Window, Seeded], None]] = {
    "overview": simple(""),
    "records": simple("records"),
    "records empty": simple("records?status=erased"),
    "records warning": simple("records?colour=red"),
    "records failure": _failure,
    "record": simple("records/{record}"),
    "record held": simple("records/{held}"),
    "record dialog": _dialog,
    "record error": _error,
    "history": simple("records/{record}/history"),
    "sessions": simple("sessions"),
    "sessions empty": simple("sessions?agent=nobody"),
    "session": simple("sessions/{session}"),
    "timeline": simple("sessions/{session}/timeline"),
    "neighbours": simple("sessions/{session}/neighbours"),
    "session notes": simple("sessions/{session}/notes"),
    "sources": simple("sources"),
    "policies": simple("policies"),
    "policy": simple("policies/of/employer"),
    "policy edit": simple("policies/edit/employer"),
    "jobs": simple("jobs"),
    "keys": simple("keys"),
    "key new": simple("keys/new"),
    "people": simple("people"),
    "invite": simple("people/invite"),
    "help": _help,
    "profile": _outside("/profile"),
    "components": _outside("/components"),
    "not found": simple(f"records/{uuid4()}"),
    "log in": _log_in,
}
ALL = [
    pytest.param(state, theme, width, id=f"{state} {theme} {width}", marks=marks)
    for place, state in enumerate(STATES)
    for turn, (theme, width) in enumerate(COMBINATIONS)
    # The sample: each state once, walking through themes and widths.
    for marks in [() if turn == place % len(COMBINATIONS) else pytest.mark.full]
]


@pytest.mark.parametrize(("state", "theme", "width"), ALL)
def test_page_has_no_violation_and_no_sideways_scroll(
    windows: Windows, seeded: Seeded, state: str, theme: str, width: int
) -> None:
    window = windows(seeded.person, viewport={"width": width, "height": 900}, color_scheme=theme)
    STATES[state](window, seeded)
    found = Axe().run(window.page, options=OPTIONS)
    assert found.violations_count == 0, found.generate_report()
    overflow = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    assert window.page.evaluate(overflow) <= 0


def test_empty_workspace_has_no_violation(windows: Windows, seeded: Seeded) -> None:
    window = windows(seeded.empty)
    for path in ("", "records", "sessions", "jobs"):
        _open(window, path)
        found = Axe().run(window.page, options=OPTIONS)
        assert found.violations_count == 0, found.generate_report()


@pytest.mark.parametrize("path", ["", "records", "sessions", "records/{record}"])
def test_page_at_320_pixels_scrolls_in_one_direction(
    windows: Windows, seeded: Seeded, path: str
) -> None:
    window = windows(seeded.person, viewport={"width": 320, "height": 640})
    _open(window, path.format(**vars(seeded)))
    overflow = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    assert window.page.evaluate(overflow) <= 0
