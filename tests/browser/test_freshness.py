"""Freshness in a real browser: by keys to the page, several facts refreshed, every page under axe."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from audits.domain.roles import Role
from records import sources
from records.domain.canonical import source_id
from records.domain.facts import Cardinality, Policy
from records.policies import change
from records.scope import workspace_scope
from tests import factories
from tests.web.conftest import Person, make_person, put

from .conftest import NARROW, WIDE, Windows
from .test_axe import OPTIONS

DAY = timedelta(days=1)


@dataclass
class Place:
    """A workspace with something in every list."""

    person: Person
    record: str
    run: str
    source: str


@pytest.fixture
def place(transactional_db: None) -> Place:
    person = make_person(role=Role.ADMINISTRATOR)
    access, now = person.access, datetime.now(UTC)
    with workspace_scope(access.workspace_id):
        home = Policy("home", cardinality=Cardinality.ONE, dependents=("commute",))
        change(home, reason="test", access=access)
        change(Policy("drinks", ttl_days=40), reason="test", access=access)
    for value in ("tea", "mate", "a very long drink " * 20):
        record = factories.make_record(
            access, value, partition="ada", subject="Ada", predicate="drinks", embed=False,
            seen=now - 60 * DAY, valid_until=now - 20 * DAY,
        )  # fmt: skip
    put(access, "Bonn", predicate="home")
    put(access, "by tram", predicate="commute")
    put(access, "Ulm", predicate="home", confidence=0.9)
    for values in (("boat", "car"), ("boat",)):
        run = sources.start_run("crm", partition="ada", access=access)
        for value in values:
            put(access, value, predicate="owns", source="crm", source_key=value, session="feed")
        sources.finish_run(run.id, access=access)
    source = source_id(access.workspace_id, "crm")
    return Place(person, str(record), str(run.id), str(source))


def test_several_facts_are_extended_by_keyboard_and_leave_the_list(
    windows: Windows, place: Place
) -> None:
    window = windows(place.person)
    page = window.open("")
    page.locator("body").press("g")
    page.locator("body").press("f")
    expect(page.get_by_role("heading", name="What should be refreshed?")).to_be_visible()
    expect(page.locator('[data-count="expired"]')).to_have_text("3")
    page.get_by_role("checkbox", name="Select all rows of this page").check()
    page.get_by_role("button", name="Extend", exact=True).press("Enter")
    expect(page.get_by_role("heading", name="Extend: 3 facts")).to_be_visible()
    page.get_by_label("Reason").fill("they still drink it")
    page.get_by_role("button", name="Extend: 3 facts").press("Enter")
    expect(page.locator("#messages")).to_contain_text("Extend: 3 of 3 facts")
    expect(page.locator('[data-count="expired"]')).to_have_text("0")
    expect(page.get_by_role("heading", name="Nothing to refresh here")).to_be_visible()


def test_a_fact_in_doubt_leads_to_its_cause(windows: Windows, place: Place) -> None:
    window = windows(place.person)
    page = window.open("freshness?tab=recheck")
    row = page.get_by_role("row").filter(has_text="by tram")
    row.get_by_role("link", name="home").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("home")


PAGES = (
    "freshness",
    "freshness?tab=recheck",
    "freshness?tab=unseen&colour=red",
    "freshness/act?verb=extend&all=1&tab=expired",
    "records/{record}/factors",
    "sources/runs/{run}",
    "policies/of/home",
    "policies/edit/drinks",
)
LOOKS: tuple[tuple[str, Any], ...] = (("light", WIDE), ("dark", NARROW))


@pytest.mark.parametrize("path", PAGES)
def test_pages_pass_axe_in_both_themes_and_never_scroll_sideways(
    windows: Windows, place: Place, path: str
) -> None:
    for scheme, viewport in LOOKS:
        window = windows(place.person, color_scheme=scheme, viewport=viewport)
        page = window.open(path.format(**vars(place)))
        window.settle()
        found = Axe().run(page, options=OPTIONS)
        assert found.violations_count == 0, found.generate_report()
        wide = page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
        assert wide <= 0


def test_policy_preview_with_a_validator_passes_axe(windows: Windows, place: Place) -> None:
    window = windows(place.person, color_scheme="dark", viewport=NARROW)
    page = window.open("policies/edit/drinks")
    page.get_by_label("A new validator").select_option("max_length")
    page.get_by_role("button", name="Add a validator").click()
    page.get_by_label("At most").fill("10")
    page.get_by_label("Values at a time").select_option("one")
    page.get_by_label("Reason").fill("one drink at a time")
    page.get_by_role("button", name="Preview").click()
    expect(page.get_by_role("heading", name="The last 3 writes again")).to_be_visible()
    found = Axe().run(page, options=OPTIONS)
    assert found.violations_count == 0, found.generate_report()
    page.get_by_role("button", name="Make version 2").click()
    expect(page.locator("#messages")).to_contain_text("Version 2 rules from now on.")
