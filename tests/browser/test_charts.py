"""Charts in a real browser: drawn after the words, in the theme at hand, and not needed.

``windows`` fails a test on any violation of the content security policy, inline script or eval.
"""

from __future__ import annotations

import gzip
from typing import Any
from uuid import UUID

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, Route, expect

from audits.domain.roles import Role
from memconsole import plotly
from records import curate
from records.domain.canonical import session_id as id_of
from records.retrieve.recall import recall
from records.retrieve.request import RecallRequest
from tests.browser.conftest import NARROW, WIDE, Windows
from tests.browser.test_axe import OPTIONS
from tests.web.conftest import Person, make_person, put

PLOT = ".chart-plot .main-svg"
FAILED = "The chart cannot be drawn here."


@pytest.fixture(scope="module")
def place(django_db_setup: None, django_db_blocker: Any) -> dict[str, Any]:
    """A person whose workspace has one evicted fact that was served, and who wrote after it."""
    with django_db_blocker.unblock():
        person = make_person(role=Role.ADMINISTRATOR)
        access = person.access
        made = put(access, "billing@evil.example", predicate="invoice_email", session="bad")
        hostile = "<img src=x onerror=alert(1)>\u202e invoice email"
        for name in ("writer", "writer", "reader <b>", None):
            request = RecallRequest(partition="ada", query=hostile, session=name)
            found = recall(request, access=access)
        put(access, "pays billing@evil.example", predicate="habit", session="writer")
        put(access, "tea", predicate="favourite_drink", session="writer")
        assert isinstance(made.id, UUID)
        curate.evict([made.id], "poison", access=access)
        session = id_of(access.workspace_id, access.partition_id("ada"), "bad")
        return {
            "person": person,
            "record": made.id,
            "session": session,
            "recall": found.recall_id,
        }


PAGES = (
    "records/{record}",
    "records/{record}/exposure",
    "records/{record}/exposed",
    "records/{record}/derived",
    "sessions/{session}/exposed",
    "sessions/{session}/exposed/chart",
    "sessions/{session}/derived",
    "recalls/{recall}",
)
CHARTED = tuple(path for path in PAGES if "derived" not in path and "recalls" not in path)


def in_view(page: Page) -> None:
    page.locator("[data-chart]").first.scroll_into_view_if_needed()


@pytest.mark.parametrize("path", CHARTED)
def test_chart_has_its_question_its_answer_its_table_and_its_figure(
    windows: Windows, place: dict[str, Any], path: str
) -> None:
    window = windows(place["person"])
    page = window.open(path.format(**place))
    in_view(page)
    chart = page.locator("[data-chart]").first
    expect(chart.locator("h2")).to_contain_text("?")
    expect(chart.locator("[data-chart-answer]")).not_to_be_empty()
    expect(chart.locator(PLOT).first).to_be_visible()
    bars = chart.locator(".bars .point")
    rows = chart.locator(".chart-numbers tbody tr")
    assert bars.count() >= 1
    assert rows.count() >= bars.count()
    chart.get_by_text("The numbers as a table").click()
    expect(rows.first).to_be_visible()


@pytest.mark.parametrize("path", CHARTED)
def test_page_answers_with_plotly_blocked(
    windows: Windows, place: dict[str, Any], path: str
) -> None:
    window = windows(place["person"])
    window.page.route("**/vendor/plotly*", lambda route: route.abort())
    page = window.open(path.format(**place))
    in_view(page)
    chart = page.locator("[data-chart]").first
    expect(chart.get_by_text(FAILED)).to_be_visible()
    expect(chart.locator("[data-chart-answer]")).not_to_be_empty()
    expect(chart.locator(".chart-numbers tbody tr").first).to_be_visible()
    expect(page.locator(PLOT)).to_have_count(0)
    # The blocked request itself is the only thing that went wrong.
    assert [one for one in window.faults if "ERR_FAILED" not in one] == []
    window.faults.clear()


def test_page_answers_without_any_script(windows: Windows, place: dict[str, Any]) -> None:
    window = windows(place["person"], java_script_enabled=False)
    page = window.open("records/{record}/exposure".format(**place))
    expect(page.get_by_text("Yes: it was served 4 times to 2 sessions")).to_be_visible()
    page.get_by_text("The numbers as a table").click()
    expect(page.locator(".chart-numbers tbody tr").first).to_be_visible()
    expect(page.locator(".chart-plot")).to_be_hidden()
    page = window.open("sessions/{session}/exposed".format(**place))
    page.get_by_role("link", name="When were they served?").click()
    expect(page.locator("[data-chart-answer]")).to_contain_text("4 times")


def test_script_is_fetched_after_the_first_paint_and_once(
    windows: Windows, place: dict[str, Any]
) -> None:
    window = windows(place["person"])
    fetched: list[bool] = []

    def note(route: Route) -> None:
        painted = "performance.getEntriesByName('first-contentful-paint').length > 0"
        fetched.append(bool(window.page.evaluate(painted)))
        route.continue_()

    window.page.route("**/vendor/plotly*", note)
    page = window.open("records/{record}/exposure".format(**place))
    expect(page.locator(PLOT).first).to_be_visible()
    assert fetched == [True]
    head = window.open("records/{record}/derived".format(**place))
    expect(head.locator("#derived-list")).to_be_visible()
    assert fetched == [True]


def test_chart_follows_the_theme(windows: Windows, place: dict[str, Any]) -> None:
    window = windows(place["person"], color_scheme="light")
    page = window.open("records/{record}/exposure".format(**place))
    expect(page.locator(PLOT).first).to_be_visible()
    bar = page.locator(".bars .point path").first

    def colours() -> list[str]:
        shown = "(one) => [getComputedStyle(one).fill, getComputedStyle(document.body).color]"
        found: list[str] = bar.evaluate(shown)
        return found

    light = colours()
    page.emulate_media(color_scheme="dark")
    page.wait_for_function(
        "(was) => getComputedStyle(document.querySelector('.bars .point path')).fill !== was",
        arg=light[0],
    )
    assert colours()[1] != light[1]
    page.evaluate("document.documentElement.dataset.theme = 'light'")
    page.wait_for_function(
        "(was) => getComputedStyle(document.querySelector('.bars .point path')).fill === was",
        arg=light[0],
    )


def test_arrow_keys_read_the_bars(windows: Windows, place: dict[str, Any]) -> None:
    window = windows(place["person"])
    page = window.open("records/{record}/exposure".format(**place))
    plot = page.locator(".chart-plot[tabindex='0']")
    expect(plot).to_be_visible()
    plot.focus()
    page.keyboard.press("ArrowRight")
    first = page.locator(".chart-numbers tbody tr").first.locator("td").first.text_content()
    expect(page.locator("#live")).to_contain_text(first or "none")
    expect(plot).to_be_focused()


VIEWPORTS = (WIDE, NARROW, {"width": 320, "height": 640})
LOOKS = [(viewport, theme) for theme in ("light", "dark") for viewport in VIEWPORTS]
MATRIX = [
    pytest.param(path, *look, id=f"{path} {look[0]['width']} {look[1]}", marks=marks)
    for place, path in enumerate(PAGES)
    for turn, look in enumerate(LOOKS)
    # The sample: each page once, walking through themes and widths.
    for marks in [() if turn == place % len(LOOKS) else pytest.mark.full]
]


@pytest.mark.parametrize(("path", "viewport", "theme"), MATRIX)
def test_page_has_no_violation_and_no_sideways_scroll(
    windows: Windows, place: dict[str, Any], path: str, viewport: dict[str, int], theme: str
) -> None:
    window = windows(place["person"], viewport=viewport, color_scheme=theme)
    page = window.open(path.format(**place))
    if path in CHARTED:
        in_view(page)
        expect(page.locator(PLOT).first).to_be_visible()
    window.settle()
    found = Axe().run(page, options=OPTIONS)
    assert found.violations_count == 0, found.generate_report()
    overflow = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    assert page.evaluate(overflow) <= 0


def test_chart_pages_stay_light(windows: Windows, place: dict[str, Any]) -> None:
    script = plotly.script()
    assert script is not None
    if script.name == "plotly.min.js":
        pytest.skip("only the package's full build is here: .ci/plotly needs npm")
    window = windows(place["person"])
    sizes: dict[str, int] = {}

    def weigh(response: Any) -> None:
        if response.url.startswith("http"):
            sizes[response.url.split("?")[0]] = len(gzip.compress(response.body(), 6))

    window.page.on("response", weigh)
    page = window.open("sessions/{session}/exposed".format(**place))
    in_view(page)
    expect(page.locator(PLOT).first).to_be_visible()
    window.settle()
    assert any("plotly" in one for one in sizes)
    assert sum(sizes.values()) <= 560 * 1024, sizes


def test_nothing_of_a_question_runs(windows: Windows, place: dict[str, Any]) -> None:
    window = windows(place["person"])
    page = window.open("recalls/{recall}".format(**place))
    expect(page.get_by_text("<img src=x onerror=alert(1)>")).to_be_visible()
    expect(page.locator(".chip-hidden").first).to_be_visible()
    assert page.locator("main img").count() == 0


def test_from_a_session_to_a_recall_and_back(windows: Windows, place: dict[str, Any]) -> None:
    person: Person = place["person"]
    window = windows(person)
    page = window.open("sessions/{session}".format(**place))
    page.get_by_role("link", name="Who was served").click()
    expect(page.get_by_role("heading", name="Who was served")).to_be_visible()
    page.get_by_role("link", name="Derived").click()
    expect(page.get_by_role("heading", name="2 records were written afterwards")).to_be_visible()
    page.get_by_role("link", name="Repeats it 1").click()
    expect(page.locator("#derived-list tbody tr")).to_have_count(1)
    page.get_by_role("link", name="rank 1").click()
    expect(page.get_by_role("heading", name="The question")).to_be_visible()
    page.get_by_role("link", name="bad").first.click()
    expect(page).to_have_url(window.base + person.url(f"sessions/{place['session']}"))
