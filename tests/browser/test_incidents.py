"""An incident in a real browser: opened from sessions, contained, refused to close, closed, reported."""

from __future__ import annotations

import itertools
import re
from typing import Any
from uuid import UUID

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from audits import incidents
from audits.domain.incidents import ScopeKind, Severity
from audits.domain.roles import Role
from audits.incidents import Details, Member, Part
from records import curate
from records.domain.canonical import session_id as id_of
from records.retrieve.recall import recall
from records.retrieve.request import RecallRequest
from tests.browser.conftest import NARROW, Window, Windows
from tests.browser.test_axe import OPTIONS
from tests.web.conftest import Person, make_person, put


def session_of(person: Person, name: str) -> UUID:
    return id_of(person.access.workspace_id, person.access.partition_id("ada"), name)


def asked(person: Person) -> list[str]:
    answer = recall(
        RecallRequest(partition="ada", query="employer", session="reader"), access=person.access
    )
    return [one.value for one in answer.items]


def poisoned(person: Person) -> list[UUID]:
    """Write two odd sessions whose facts are served; return their records."""
    made = [
        put(person.access, "Helio", session="odd", agent="concierge"),
        put(person.access, "pay \u202egnp.evil\u202c now", predicate="note", session="odder"),
    ]
    put(person.access, "red", predicate="colour", session="fine")
    for _ in range(4):
        asked(person)
    return [one.id for one in made if one.id is not None]


def focused(page: Page) -> None:
    """Wait until the dialog has the focus: keys and clicks before that go astray."""
    expect(page.locator("#modal")).to_be_visible()
    expect(page.locator("#modal-title")).to_be_focused()


def test_incident_is_opened_contained_evicted_closed_and_reported(windows: Windows) -> None:
    person = make_person(role=Role.RESPONDER)
    records = poisoned(person)
    window = windows(person)
    odd, odder = (session_of(person, one) for one in ("odd", "odder"))
    page = window.open(f"incidents/new?session={odd}&session={odder}")
    expect(page.get_by_label("Title")).to_have_value("Odd facts from 2 sessions")
    page.get_by_label("Severity").select_option("high")
    page.get_by_label("Summary").fill("The agent names the wrong employer.")
    page.get_by_role("checkbox", name="I take it").uncheck()
    page.get_by_role("button", name="Open the incident").click()
    expect(page.locator("#verdict")).to_contain_text("1 of 2 facts in scope is served")
    window.settle()

    page.keyboard.press("Shift+A")
    expect(page.get_by_text(f"· acknowledged by {person.user.username}")).to_be_visible()
    page.keyboard.press("m")
    focused(page)
    expect(page.locator("#modal-body")).to_contain_text("odder")
    page.locator("#modal").get_by_role("button", name="Suspend all in scope").click()
    expect(page.locator("#verdict")).to_contain_text("Nothing of it is served.")
    assert not {"Helio"} & set(asked(person))

    page.keyboard.press("n")
    expect(page.get_by_role("textbox", name="Note")).to_be_focused()
    page.keyboard.type("Mark: apse is open")  # the letters are text here, not keys
    page.get_by_role("button", name="Keep the note").click()
    expect(page.locator("#notes")).to_contain_text("Mark: apse is open")

    page.get_by_role("link", name="Close …").click()
    focused(page)
    dialog = page.locator("#modal-body")
    dialog.get_by_label("Reason").fill("over")
    dialog.get_by_role("button", name="Close the incident").click()
    refused = page.locator("#refused")
    expect(refused).to_contain_text("suspended, but not evicted")
    expect(refused).to_contain_text("5 tasks are not done.")
    expect(refused).to_contain_text("The cause is not written down.")
    expect(dialog.get_by_label("Reason")).to_have_value("over")
    refused.get_by_role("link", name="Go there").click()
    expect(page).to_have_url(re.compile(r"#tasks$"))

    if page.locator("#modal").is_visible():
        page.keyboard.press("Escape")
    for _ in range(5):
        button = page.get_by_role("button", name=re.compile(r"^Done "))
        left = button.count()
        button.first.click()
        expect(page.get_by_role("button", name=re.compile(r"^Done "))).to_have_count(left - 1)
    curate.evict(records, "poison", access=person.access)
    page.reload()
    expect(page.locator("#verdict")).to_contain_text("all taken out")
    page.get_by_role("link", name="Close …").click()
    focused(page)
    dialog.get_by_label("Cause").fill("A page that the agent read.")
    dialog.get_by_label("Reason").fill("over")
    dialog.get_by_role("button", name="Close the incident").click()
    expect(page.get_by_text(f"Closed by {person.user.username}")).to_be_visible()

    page.get_by_role("link", name="Report").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Odd facts from 2 sessions")
    expect(page.get_by_text("A page that the agent read.")).to_be_visible()
    with page.expect_download() as download:
        page.get_by_role("link", name="Markdown").click()
    assert download.value.suggested_filename == "incident-1.md"


def test_closing_is_refused_while_facts_are_served(windows: Windows) -> None:
    person = make_person(role=Role.RESPONDER)
    poisoned(person)
    part = Part(ScopeKind.SESSION, session_of(person, "odd"))
    opened = incidents.open_incident(Details("t", Severity.LOW), [part], access=person.access)
    window = windows(person)
    page = window.open(f"incidents/{opened.id}/close")
    page.get_by_label("Reason").fill("over")
    page.get_by_role("button", name="Close the incident").click()
    expect(page.locator("#refused")).to_contain_text("1 fact in scope is still served.")
    link = page.locator("#refused").get_by_role("link", name="Preview their eviction")
    expect(link).to_have_attribute("href", re.compile(rf"operations/new\?incident={opened.id}"))


def test_chart_asks_answers_and_has_its_table_without_plotly(windows: Windows) -> None:
    person = make_person(role=Role.RESPONDER)
    poisoned(person)
    part = Part(ScopeKind.SESSION, session_of(person, "odd"))
    opened = incidents.open_incident(Details("t", Severity.LOW), [part], access=person.access)
    incidents.contain_scope(opened.id, "x", access=person.access)
    window = windows(person)
    window.page.route(re.compile("plotly"), lambda route: route.abort())
    page = window.open(f"incidents/{opened.id}")
    chart = page.locator("#harm")
    expect(chart).to_contain_text("Did harm stop when we acted?")
    expect(chart).to_contain_text("Yes: they were served 4 times before they were contained")
    expect(chart).to_contain_text("The chart cannot be drawn here.")
    expect(chart.get_by_role("columnheader", name="Serves so far")).to_be_visible()
    window.settle()
    window.faults.clear()  # the blocked script


@pytest.fixture(scope="module")
def seeded(django_db_setup: None, django_db_blocker: Any) -> dict[str, Any]:
    with django_db_blocker.unblock():
        person = make_person(role=Role.ADMINISTRATOR)
        poisoned(person)
        parts = [
            Part(ScopeKind.SESSION, session_of(person, "odd")),
            Part(ScopeKind.SESSION, session_of(person, "odder")),
            Part(ScopeKind.TEXT, None, "evil"),
        ]
        opened = incidents.open_incident(
            Details("Agents name the wrong employer", Severity.CRITICAL, "Told by a customer."),
            parts,
            access=person.access,
            owner=Member(person.user.id, person.user.username),
        )
        incidents.contain_scope(opened.id, "stop it first", access=person.access)
        asked(person)
        incidents.add_note(opened.id, "Called the owner.", is_pinned=True, access=person.access)
        incidents.open_incident(
            Details("Another one", Severity.LOW), parts[:1], access=person.access
        )
        return {
            "person": person,
            "id": opened.id,
            "session": session_of(person, "odd"),
            "empty": make_person(role=Role.VIEWER),
        }


def _dialog(verb: str) -> Any:
    def visit(window: Window, seeded: dict[str, Any]) -> None:
        page = window.open(f"incidents/{seeded['id']}")
        window.settle()
        page.locator(f"#acts a[href$='/{verb}']").click()
        focused(page)

    return visit


def _page(path: str) -> Any:
    def visit(window: Window, seeded: dict[str, Any]) -> None:
        window.open(path.format(**seeded))
        window.settle()

    return visit


STATES = {
    "list": _page("incidents"),
    "list empty": _page("incidents?state=closed"),
    "new": _page("incidents/new?session={session}"),
    "incident": _page("incidents/{id}"),
    "timeline": _page("incidents/{id}/timeline"),
    "exposure": _page("incidents/{id}/exposure"),
    "exposed": _page("incidents/{id}/exposed"),
    "similar": _page("incidents/{id}/similar"),
    "report": _page("incidents/{id}/report"),
    "close": _dialog("close"),
    "contain": _dialog("release"),
    "edit": _dialog("edit"),
    "assign": _dialog("assign"),
}
COMBINATIONS = list(itertools.product(("light", "dark"), (360, 768, 1440)))
ALL = [
    pytest.param(state, theme, width, id=f"{state} {theme} {width}", marks=marks)
    for place, state in enumerate(STATES)
    for turn, (theme, width) in enumerate(COMBINATIONS)
    for marks in [() if turn == place % len(COMBINATIONS) else pytest.mark.full]
]


@pytest.mark.parametrize(("state", "theme", "width"), ALL)
def test_incident_pages_have_no_violation_and_no_sideways_scroll(
    windows: Windows, seeded: dict[str, Any], state: str, theme: str, width: int
) -> None:
    window = windows(seeded["person"], viewport={"width": width, "height": 900}, color_scheme=theme)
    STATES[state](window, seeded)
    found = Axe().run(window.page, options=OPTIONS)
    assert found.violations_count == 0, found.generate_report()
    overflow = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    assert window.page.evaluate(overflow) <= 0


def test_incident_is_worked_without_scripts_on_a_phone(
    windows: Windows, seeded: dict[str, Any]
) -> None:
    window = windows(seeded["person"], viewport=NARROW, java_script_enabled=False)
    page = window.open(f"incidents/{seeded['id']}")
    page.get_by_role("textbox", name="New task").fill("tell the bank")
    page.get_by_role("button", name="Add the task").click()
    expect(page.get_by_text("tell the bank").first).to_be_visible()
    page.get_by_role("link", name="Who was served it, and did that stop?").click()
    expect(page.get_by_role("heading", name="Did harm stop when we acted?")).to_be_visible()
