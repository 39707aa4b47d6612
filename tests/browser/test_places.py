"""A URL is a place: copied it shows the same, and Back returns to the row one left."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from audits.domain.roles import Role
from tests import factories
from tests.web.conftest import make_person, put

from .conftest import NARROW, WIDE, Window, Windows

ROWS = 120


@pytest.fixture
def window(windows: Windows) -> Window:
    """A window on a workspace with three pages of records."""
    person = make_person(role=Role.ADMINISTRATOR)
    for number in range(ROWS):
        factories.make_record(
            person.access, f"value {number:03}", subject=f"subject {number:03}", predicate="likes"
        )
    return windows(person)


def rows(page: Page) -> list[str]:
    return page.locator("[data-row] [data-row-link]").evaluate_all(
        "all => all.map(one => one.getAttribute('href'))"
    )


def deep(window: Window, path: str = "records?predicate=likes") -> Page:
    page = window.open(path)
    page.get_by_role("link", name="Next page").click()
    page.wait_for_url(re.compile("after="))
    window.settle()
    return page


def test_copied_url_shows_the_same_rows_in_another_browser(
    window: Window, windows: Windows
) -> None:
    page = deep(window)
    shown = rows(page)
    assert len(shown) == 50
    other = windows(window.person).page
    other.goto(page.url)
    assert rows(other) == shown
    expect(other.locator("#f-predicate")).to_have_value("likes")
    # What has been written since moves nothing: the cursor is a place between rows.
    for number in range(3):
        factories.make_record(
            window.person.access, f"later {number}", subject="later", predicate="likes"
        )
    other.reload()
    assert rows(other) == shown


@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["wide", "narrow"])
@pytest.mark.parametrize("way", ["browser", "key"])
def test_back_returns_to_the_same_row_and_scroll(window: Window, size: dict, way: str) -> None:
    window.page.set_viewport_size(size)  # type: ignore[arg-type]
    page = deep(window)
    listed = page.url
    link = page.locator("[data-row] [data-row-link]").nth(31)
    target = link.get_attribute("href")
    link.scroll_into_view_if_needed()
    top = page.evaluate("window.scrollY")
    assert top > 0
    link.click()
    page.wait_for_url(re.compile(re.escape(str(target))))
    expect(page.locator("h1")).to_be_visible()
    if way == "browser":
        page.go_back()
    else:
        page.keyboard.press("u")
    page.wait_for_url(listed)
    focused = page.locator("[data-row-link]:focus")
    expect(focused).to_have_attribute("href", str(target))
    assert abs(page.evaluate("window.scrollY") - top) <= 2


def test_way_up_passes_over_the_pages_turned_meanwhile(window: Window) -> None:
    for number in range(60):
        put(window.person.access, f"plant {number}", predicate="allergy", session="long")
    page = window.open("sessions?sort=recent")
    listed = page.url
    page.locator("[data-row-link]", has_text="long").click()
    window.settle()
    page.get_by_role("link", name="Next page").click()
    page.wait_for_url(re.compile("after="))
    window.settle()
    page.keyboard.press("u")
    page.wait_for_url(listed)
    expect(page.locator("[data-row-link]:focus")).to_have_text("long")


def test_way_up_from_a_copied_link_is_the_plain_list(window: Window) -> None:
    record = factories.make_record(window.person.access, "alone", subject="alone")
    page = window.open(f"records/{record}")
    page.keyboard.press("u")
    page.wait_for_url(re.compile(r"/records$"))


def test_selected_tab_is_in_the_url(window: Window, windows: Windows) -> None:
    record = factories.make_record(window.person.access, "tab", subject="tab", session="tabbed")
    page = window.open(f"records/{record}")
    page.get_by_role("link", name="tabbed").first.click()
    page.get_by_role("link", name="Timeline").click()
    page.wait_for_url(re.compile("/timeline$"))
    other = windows(window.person).page
    other.goto(page.url)
    expect(other.locator(".tabs [aria-current=page]")).to_have_text("Timeline")
