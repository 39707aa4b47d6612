"""Possible duplicates in a real browser: by keys to a merge and back, and axe."""

from __future__ import annotations

import re
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from audits import duplicates, jobs, measures
from audits.domain.roles import Role
from records.jobs.runs import perform
from tests.web.conftest import Person, make_person, put

from .conftest import NARROW, WIDE, Window, Windows

OPTIONS: dict[str, Any] = {
    "runOnly": {"type": "tag", "values": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]},
    "resultTypes": ["violations"],
}
GROUPS = (
    ("likes", "red bicycles", "bicycles that are red"),
    ("home_town", "lives in Berlin", "resides in Berlin"),
    ("note", "Ada prefers short answers", "Ada prefers brief replies"),
)


@pytest.fixture
def responder() -> Person:
    person = make_person(role=Role.RESPONDER)
    for number, (predicate, *values) in enumerate(GROUPS):
        for value in values:
            put(person.access, value, predicate=predicate, session=f"{number} {value}"[:40])
    put(person.access, GROUPS[0][1], predicate="likes", session="again")
    put(person.access, "bikes, red", predicate="likes", source="crm", source_key="k")
    perform(jobs.DUPLICATES, person.access.workspace_id, duplicates.find_duplicates)
    perform(jobs.MEASURES, person.access.workspace_id, measures.measure)
    return person


@pytest.fixture
def window(windows: Windows, responder: Person) -> Window:
    return windows(responder)


def test_a_group_is_merged_by_keys_and_parted_again(window: Window) -> None:
    page = window.open("duplicates")
    links = page.locator("[data-row] [data-row-link]")
    expect(links).to_have_count(3)
    page.keyboard.press("j")
    expect(links.nth(0)).to_be_focused()
    page.keyboard.press("j")
    page.keyboard.press("j")
    expect(links.nth(2)).to_be_focused()
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile(r"/duplicates/[0-9a-f-]+$"))
    expect(page.get_by_role("heading", level=1)).to_have_text("Do these say the same?")
    expect(page.locator("[data-count=leaving]")).to_have_text("2")
    page.get_by_label("Reason").fill("one bike")
    page.get_by_role("button", name="Merge 2 into the kept one").click()
    page.wait_for_url(re.compile(r"/duplicates/merges/"))
    expect(page.get_by_role("heading", level=1)).to_have_text("Merged into one fact")
    page.get_by_label("Reason").fill("two bikes")
    page.get_by_role("button", name="Undo the merge").click()
    page.wait_for_url(re.compile(r"/duplicates$"))
    expect(page.locator("[data-row] [data-row-link]")).to_have_count(3)


def test_another_record_is_kept_and_one_left_out(window: Window) -> None:
    page = window.open("duplicates")
    page.locator("[data-row]", has_text="bicycles").locator("[data-row-link]").click()
    page.wait_for_url(re.compile(r"/duplicates/[0-9a-f-]+$"))
    rows = page.locator("#choice [data-row]")
    crm = rows.filter(has_text="bikes, red")
    crm.get_by_role("radio").check()
    rows.filter(has_text="bicycles that are red").get_by_role("checkbox").uncheck()
    page.get_by_role("button", name="Preview this choice").click()
    page.wait_for_url(re.compile(r"keep="))
    expect(page.locator("[data-preview] dd").first).to_contain_text("bikes, red")
    expect(page.locator("[data-count=leaving]")).to_have_text("1")


@pytest.mark.parametrize(("size", "theme"), [(WIDE, "light"), (NARROW, "dark")])
def test_pages_are_clean_under_axe(
    windows: Windows, responder: Person, size: dict[str, int], theme: str
) -> None:
    window = windows(responder, viewport=size, color_scheme=theme)
    page = window.open("duplicates")
    cluster = page.locator("[data-row] [data-row-link]").last.get_attribute("href")
    assert cluster is not None
    for path in ("duplicates", f"duplicates/{cluster.split('/')[-1]}", "duplicates?state=apart"):
        page = window.open(path)
        window.settle()
        found = Axe().run(page, options=OPTIONS).response["violations"]
        assert found == [], [(one["id"], one["nodes"][0]["html"]) for one in found]
        overflow = page.evaluate("document.documentElement.scrollWidth > window.innerWidth")
        assert overflow is False
