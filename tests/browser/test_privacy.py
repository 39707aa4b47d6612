"""Legal holds, requests of data subjects and memory as of a moment, at a real browser."""

from __future__ import annotations

import itertools
import json
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote
from uuid import UUID

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from audits import subjects
from audits.subjects import Wanted
from records import curate, holds
from records.items import Written
from records.retrieve import RecallRequest, recall
from tests.browser.conftest import NARROW, Window, Windows
from tests.db.test_subjects import Team
from tests.web.conftest import Person, put

from .test_axe import OPTIONS

THEMES, WIDTHS = ("light", "dark"), (360, 768, 1440)


@dataclass
class Seeded:
    """A workspace with facts, a hold, and requests in every state that has a page of its own."""

    team: Team
    person: Person
    record: UUID
    hold: UUID
    access: UUID
    preview: UUID
    done: UUID


def id_of(written: Written) -> UUID:
    assert written.id is not None
    return written.id


def seed() -> Seeded:
    team = Team()
    person = Person(team.ann, team.access)
    kept = put(team.access, "Acme", evidence="I work at Acme")
    put(team.access, "peanuts", predicate="allergy")
    out = put(team.access, "lunch at noon", predicate="plan", session="chat-2")
    put(team.access, "Grace Hopper", predicate="manager", subject="Bob", partition="bob")
    put(team.access, "Navy", subject="Grace Hopper", partition="bob")
    put(team.access, "chess", subject="Grace Hopper-Smith", predicate="hobby", partition="bob")
    curate.evict([id_of(out)], "planted by a page", access=team.access)
    hold = holds.place("record", id_of(kept), "case 7", access=team.as_user(team.ann))
    access = team.request(kind="access", **_partition(team, "ada")).id
    put(team.access, "Helio", partition="zoe", subject="Zoe")
    gone = team.request(**_partition(team, "zoe"))
    team.ask(gone, 1)
    team.answer()
    team.finish()
    preview = team.request(**_partition(team, "ada")).id
    return Seeded(team, person, id_of(kept), hold, access, preview, gone.id)


def _partition(team: Team, name: str) -> dict[str, Any]:
    return {"partition_id": team.access.partition_id(name), "partition": name}


@pytest.fixture(scope="module")
def seeded(django_db_setup: None, django_db_blocker: Any) -> Seeded:
    with django_db_blocker.unblock():
        return seed()


@pytest.fixture
def team(django_db_setup: None) -> Team:
    return Team()


def member(team: Team, who: str) -> Person:
    return Person(getattr(team, who), team.access)


def simple(path: str) -> Callable[[Window, Seeded], None]:
    def visit(window: Window, seeded: Seeded) -> None:
        window.open(path.format(**vars(seeded)))
        window.settle()

    return visit


def _hold_dialog(window: Window, seeded: Seeded) -> None:
    simple("records/{record}")(window, seeded)
    window.page.get_by_role("link", name="Legal hold", exact=True).click()
    expect(window.page.locator("#modal-title")).to_be_focused()


def _error(window: Window, seeded: Seeded) -> None:
    simple("subjects/{preview}")(window, seeded)
    window.page.get_by_label("Reason").fill("letter")
    window.page.get_by_label("Type the number").fill("99")
    # The button waits for the right number; the server says what is wrong without it, too.
    window.page.locator("[data-count-of]").evaluate("button => { button.disabled = false; }")
    window.page.get_by_role("button", name="Ask to erase").click()
    expect(window.page.get_by_role("alert").first).to_be_visible()


STATES: dict[str, Callable[[Window, Seeded], None]] = {
    "holds": simple("holds"),
    "holds empty": simple("holds?state=released"),
    "holds warning": simple("holds?colour=red"),
    "hold form": simple("holds/new"),
    "hold dialog": _hold_dialog,
    "release": simple("holds/{hold}/release"),
    "subjects": simple("subjects"),
    "subjects empty": simple("subjects?state=failed"),
    "find partition": simple("subjects/find?by=partition&name=a"),
    "find subject": simple("subjects/find?by=subject&name=Grace%20Hopper"),
    "find nothing": simple("subjects/find?by=subject&name=nobody"),
    "access": simple("subjects/{access}"),
    "erasure": simple("subjects/{preview}"),
    "erasure error": _error,
    "certificate": simple("subjects/{done}"),
    "as of": simple("as-of?partition=ada&asked=where%20does%20Ada%20work"),
    "as of start": simple("as-of"),
    "as of warning": simple("as-of?partition=ada&at=yesterday&text=quince"),
}
COMBINATIONS = list(itertools.product(THEMES, WIDTHS))
ALL = [
    pytest.param(state, theme, width, id=f"{state} {theme} {width}", marks=marks)
    for place, state in enumerate(STATES)
    for turn, (theme, width) in enumerate(COMBINATIONS)
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


def test_hold_is_placed_from_a_record_and_marked_beside_its_status(
    windows: Windows, team: Team
) -> None:
    made = put(team.access, "Acme")
    window = windows(member(team, "ann"))
    page = window.open(f"records/{made.id}")
    page.get_by_role("link", name="Legal hold", exact=True).click()
    expect(page.locator("#modal-title")).to_be_focused()
    expect(page.locator("#modal .memory-quote")).to_contain_text("Acme")
    page.locator("#modal").get_by_label("Reason").fill("case 7")
    page.get_by_role("button", name="Place the hold").click()
    expect(page.get_by_role("heading", name="Legal holds")).to_be_visible()
    expect(page.locator("#holds-table")).to_contain_text("case 7")
    window.open(f"records/{made.id}")
    expect(page.locator("#record-body .page-head .marks")).to_contain_text("legal hold")


def test_erasing_a_person_leaves_nothing_to_see_search_serve_or_export(
    windows: Windows, team: Team, tmp_path: Path
) -> None:
    """Acceptance check 39, and the part of 31 that is about erasing."""
    made = put(team.access, "Quetzal Works", evidence="I work at Quetzal Works")
    kept = put(team.access, "Ibis House", predicate="home")
    recall(RecallRequest("ada", "where is Quetzal Works"), access=team.access)
    holds.place("record", id_of(kept), "case 7", access=team.as_user(team.ann))
    ann = windows(member(team, "ann"))
    page = ann.open("subjects")
    page.get_by_label("Name", exact=True).fill("ada")
    page.get_by_role("button", name="Find").click()
    page.get_by_role("button", name="Preview an erasure").click()
    expect(page.get_by_text("On legal hold: stays")).to_be_visible()
    expect(page.locator('[data-group="erase"] .tile-number')).to_have_text("1")
    expect(page.locator('[data-group="hold"] .tile-number')).to_have_text("1")
    page.get_by_label("Reason").fill("letter of 3 March")
    page.get_by_label("Type the number").fill("2")
    expect(page.get_by_role("button", name="Ask to erase 1 record")).to_be_disabled()
    page.get_by_label("Type the number").fill("1")
    page.get_by_role("button", name="Ask to erase 1 record").click()
    expect(page.locator(".page-head")).to_contain_text("waits for a second person")
    team.answer()
    team.finish()
    request = page.url.rsplit("/", 1)[1]
    ann.open(f"subjects/{request}")
    expect(page.get_by_text("signature holds")).to_be_visible()
    expect(page.get_by_text("1 record kept")).to_be_visible()
    with page.expect_download() as download:
        page.get_by_role("link", name="JSON").click()
    file = tmp_path / "certificate.json"
    download.value.save_as(file)
    assert json.loads(file.read_text())["records"]["erased"] == 1
    for path in (
        f"records/{made.id}", "records?text=quetzal", "records?partition=ada", "as-of?partition=ada",
        "subjects", "sessions", "trail", f"as-of?partition=ada&asked={quote('Quetzal Works')}",
    ):  # fmt: skip
        ann.open(path)
        ann.settle()
        shown = page.locator("main").inner_text().replace("Quetzal Works\nAsked", "")
        asked = path.endswith(quote("Quetzal Works"))
        assert shown.count("Quetzal") <= (1 if asked else 0), path  # the question typed just now
    answer = recall(RecallRequest("ada", "where does Ada work"), access=team.access)
    assert all("Quetzal" not in str(one) for one in answer.items)
    copy = subjects.make_request(
        Wanted("access", team.access.partition_id("ada"), "ada"),
        access=team.as_user(team.ann), user_id=team.ann.id,
    )  # fmt: skip
    ann.open(f"subjects/{copy.id}")
    with page.expect_download() as download:
        page.get_by_role("button", name="Download the copy").click()
    archive = tmp_path / "copy.zip"
    download.value.save_as(archive)
    with zipfile.ZipFile(archive) as bundle:
        assert b"Ibis House" in bundle.read("records.jsonl")
        for name in bundle.namelist():
            assert b"Quetzal" not in bundle.read(name), name


def test_as_of_shows_the_past_and_its_url_reproduces_it(windows: Windows, team: Team) -> None:
    put(team.access, "Acme")
    then = datetime.now(UTC)
    put(team.access, "Helio")
    window = windows(member(team, "ann"), viewport=NARROW)
    at = then.isoformat().replace("+00:00", "Z")
    page = window.open(f"as-of?partition=ada&at={quote(at)}")
    table = page.locator("#as-of-table")
    expect(table).to_contain_text("Acme")
    expect(table).not_to_contain_text("Helio")
    expect(table).to_contain_text("record.superseded")
    other = windows(member(team, "bob"))
    again = other.page
    again.goto(page.url)
    expect(again.locator("#as-of-table")).to_contain_text("Acme")
    again.get_by_role("link", name="What replaced it").click()
    expect(again.locator("#record-body")).to_contain_text("Helio")
