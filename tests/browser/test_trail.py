"""The audit trail in a real browser: checks 35 to 38, 40 and 41, by keys and by pointer."""

from __future__ import annotations

import csv
import itertools
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from audits import anchors, jobs, seals
from audits.domain.roles import Role
from audits.export import export_trail
from records import events
from records.access import Access
from records.events import Happening
from records.jobs import runs
from records.models import Event
from records.scope import workspace_scope
from tests.browser.conftest import Window, Windows
from tests.browser.test_axe import OPTIONS
from tests.db.trail import superuser
from tests.web.conftest import Person, make_person, put

EVIL = "=HYPERLINK(1)\u202e"
PAGES = {
    "list": "trail",
    "more filters": "trail?role=nobody&not_action=note.lost",
    "warning": "trail?colour=red",
    "empty": "trail?action=none.such",
    "end": "trail?text=nothing-like-it",
    "event": "trail/events/{event}",
    "proof": "trail/events/{event}/proof",
    "integrity": "trail/integrity",
    "exports": "trail/exports?action=note.made",
    "sample": "trail/sample?seed=a&size=5",
    "sample asked": "trail/sample",
    "access": "trail/access",
    "controls": "trail/controls",
}
COMBINATIONS = list(itertools.product(("light", "dark"), (360, 768, 1440)))


def fill(person: Person, count: int = 70) -> None:
    with workspace_scope(person.access.workspace_id):
        events.append(
            [
                Happening(
                    "note.made" if n % 5 else "note.lost",
                    "note",
                    reason=EVIL if n == 3 else f"n{n}",
                    outcome="denied" if n == 7 else "done",
                )
                for n in range(count)
            ],
            access=person.access,
        )
    seals.seal_now(person.access.workspace_id)


@pytest.fixture
def auditor() -> Person:
    """An auditor of a workspace with some events."""
    person = make_person(role=Role.AUDITOR)
    put(person.access, "Acme")
    fill(person)
    return person


def event_at(access: Access, position: int) -> int:
    with superuser() as database:
        row = database.execute(
            "SELECT event_id FROM sealed_event WHERE workspace_id = %s AND position = %s",
            [access.workspace_id, position],
        ).fetchone()
    assert row is not None
    return int(row[0])


def save(window: Window, press: Any, tmp_path: Path) -> Path:
    """Press what downloads a file, and return where it was saved."""
    with window.page.expect_download() as expected:
        press.click()
    path = tmp_path / expected.value.suggested_filename
    expected.value.save_as(path)
    return path


def script(window: Window, tmp_path: Path) -> list[str]:
    """Download the script and the keys as an auditor does; return how to run it, offline."""
    page = window.open("trail/exports")
    tool = save(window, page.get_by_role("link", name="verify_export.py"), tmp_path)
    keys = save(window, page.get_by_role("link", name="public keys"), tmp_path)
    # No name is looked up and no socket opened: the interpreter itself forbids it.
    guard = (
        "import sys, runpy\n"
        "def forbid(event, arguments):\n"
        "    if event.startswith('socket.'): raise SystemExit('the network was used')\n"
        "sys.addaudithook(forbid)\n"
        "sys.argv = sys.argv[1:]\n"
        "runpy.run_path(sys.argv[0], run_name='__main__')\n"
    )
    return [sys.executable, "-I", "-c", guard, str(tool), "--keys", str(keys)]


def verdict(command: list[str], file: Path, *more: str) -> tuple[int, str]:
    done = subprocess.run(
        [*command, str(file), *more],
        env={"PATH": os.environ["PATH"]},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


def test_35_one_changed_byte_and_a_cut_end_are_named(windows: Windows) -> None:
    person = make_person(role=Role.AUDITOR)
    fill(person)
    window = windows(person)
    page = window.open("trail/integrity")
    page.get_by_role("button", name="Check now").click()
    expect(page.locator("#trail-check")).to_contain_text("are as they were sealed")
    expect(page.locator(".chain-chip")).to_contain_text("Trail ok")
    with superuser() as database:
        event_id = event_at(person.access, 20)
        before = database.execute("SELECT reason FROM event WHERE id = %s", [event_id]).fetchone()
        assert before is not None
        database.execute(
            "UPDATE event SET reason = overlay(reason placing 'm' from 1 for 1) WHERE id = %s",
            [event_id],
        )
    page.get_by_role("button", name="Check now").click()
    expect(page.get_by_role("alert").first).to_contain_text("The trail is broken at #20.")
    expect(page.locator(".chain-chip")).to_contain_text("Trail broken at #20")
    page.locator(".chain-chip").click()
    page.get_by_role("link", name="Look at the event").click()
    page.get_by_role("link", name="Verify this event").click()
    expect(page.get_by_role("heading", name="Not proven")).to_be_focused()
    page = window.open("trail")
    expect(page.locator("tr[data-row]")).to_have_count(50)
    expect(page.get_by_role("alert")).to_contain_text("broken at #20")
    with superuser() as database:
        database.execute("UPDATE event SET reason = %s WHERE id = %s", [before[0], event_id])
    runs.perform(jobs.ANCHORING, person.access.workspace_id, anchors.anchor_head)
    note = anchors.newest_note(person.access.workspace_id)
    assert note is not None
    with superuser() as database:
        database.execute(
            """WITH gone AS (DELETE FROM sealed_event WHERE workspace_id = %s AND position > %s
                             RETURNING event_id)
               DELETE FROM event WHERE id IN (SELECT event_id FROM gone)""",
            [person.access.workspace_id, note.last - 10],
        )
        database.execute(
            "DELETE FROM seal WHERE workspace_id = %s AND last > %s",
            [person.access.workspace_id, note.last - 10],
        )
    page = window.open("trail/integrity")
    page.get_by_role("button", name="Check now").click()
    expect(page.locator("#trail-check")).to_contain_text("Broken at #")
    # The checkpoint speaks whether a whole seal went or only its last ten events.
    expect(page.locator(".chain-chip")).to_contain_text("Trail broken at #")


def test_36_and_38_file_is_what_paging_the_url_shows(
    windows: Windows, auditor: Person, tmp_path: Path
) -> None:
    window = windows(auditor)
    page = window.open("trail")
    page.get_by_label("Action", exact=True).fill("note.made")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"action=note.made"))
    shown: list[str] = []
    while True:
        expect(page.locator("tr[data-row]").first).to_be_visible()
        shown += page.locator("[data-row-link]").all_inner_texts()
        more = page.locator("a[rel=next]")
        if not more.count():
            break
        last = shown[-1]
        more.click()
        expect(page.get_by_role("link", name=last, exact=True)).to_have_count(0)
    window.open("trail?action=note.made")
    page.get_by_role("link", name="Export what this shows").click()
    page.get_by_role("radio", name="CSV").check()
    file = save(window, page.get_by_role("button", name="Export"), tmp_path)
    with file.open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert [f"#{row['number']}" for row in rows] == shown[::-1]
    (evil,) = [row for row in rows if "HYPERLINK" in row["reason"]]
    assert evil["reason"] == f"'{EVIL}"
    assert all(re.fullmatch(r"[\d-]+T[\d:.]+Z", row["time_utc"]) for row in rows)
    page.reload()
    manifest = save(window, page.get_by_role("link", name="Manifest").first, tmp_path)
    command = script(window, tmp_path)
    code, said = verdict(command, file, "--manifest", str(manifest))
    assert (code, said[:9]) == (0, "AS SIGNED"), said
    assert json.loads(manifest.read_text())["files"][0]["rows"] == len(rows)
    page = window.open("trail?target_kind=export")
    expect(page.locator("#trail-table")).to_contain_text("export.finished")


def test_37_script_accepts_the_export_and_no_edit_of_one_character(
    windows: Windows, auditor: Person, tmp_path: Path
) -> None:
    window = windows(auditor)
    page = window.open("trail/exports")
    page.get_by_role("radio", name="JSONL").check()
    file = save(window, page.get_by_role("button", name="Export"), tmp_path)
    command = script(window, tmp_path)
    code, said = verdict(command, file)
    assert code == 0, said
    assert said.startswith("PROVEN")
    whole = file.read_text("utf-8")
    file.write_text(whole.replace('"n30"', '"n31"', 1), encoding="utf-8")
    code, said = verdict(command, file)
    assert (code, said[:14]) == (1, "BROKEN at line")
    page = window.open("trail/integrity")
    page.get_by_label("Exported file").set_input_files(str(file))
    page.get_by_role("button", name="Check the file").click()
    expect(page.get_by_role("alert")).to_contain_text("not proven")
    file.write_text(whole, encoding="utf-8")
    page.get_by_label("Exported file").set_input_files(str(file))
    page.get_by_role("button", name="Check the file").click()
    expect(page.get_by_role("alert")).to_contain_text("PROVEN")


def test_40_auditor_filters_verifies_and_exports_but_changes_nothing(
    windows: Windows, auditor: Person
) -> None:
    made = put(auditor.access, "Helio")
    window = windows(auditor)
    allowed = re.compile(r"/trail/|/profile|/logout|/views")
    for path in ("", "records", f"records/{made.id}", "sessions", "trail", "trail/integrity"):
        page = window.open(path)
        window.settle()
        targets = page.locator("form[method=post]").evaluate_all(
            "forms => forms.map((one) => one.getAttribute('action'))"
        )
        assert [one for one in targets if not allowed.search(one)] == []
    answer = page.evaluate(
        """async ([url]) => {
            const token = JSON.parse(document.body.getAttribute("hx-headers"))["X-CSRFToken"];
            const body = new URLSearchParams({reason: "x", version: "1"});
            const sent = await fetch(url, {method: "POST", body, headers: {"X-CSRFToken": token}});
            return sent.status;
        }""",
        [auditor.url(f"records/{made.id}/evict")],
    )
    assert answer == 403
    page = window.open("trail?only=denied&only=mine")
    expect(page.locator("#trail-table")).to_contain_text("console.refused")
    with workspace_scope(auditor.access.workspace_id):
        (denied,) = Event.objects.filter(action="console.refused")
    assert (denied.actor, denied.role) == (auditor.user.username, "auditor")


def test_41_same_seed_and_range_give_the_same_sample(windows: Windows, auditor: Person) -> None:
    first, second = windows(auditor), windows(make_person(auditor.access, Role.ADMINISTRATOR))
    found = []
    for window in (first, second):
        page = window.open("trail/sample")
        page.get_by_label("Seed").fill("3 March, Ann")
        page.get_by_label("Size").fill("12")
        page.get_by_label("To #").fill("60")
        page.get_by_role("button", name="Draw").click()
        expect(page.locator("tr[data-row]")).to_have_count(12)
        expect(page.get_by_text("12 of 60 events")).to_be_visible()
        found.append(page.locator("[data-row-link]").all_inner_texts())
        fill(auditor, 5)
    assert found[0] == found[1]


def test_cells_are_filters_by_keys(windows: Windows, auditor: Person) -> None:
    window = windows(auditor)
    page = window.open("trail?action=note.*")
    page.keyboard.press("j")
    expect(page.locator("[data-row-link]").first).to_be_focused()
    page.keyboard.press("f")
    expect(page.locator("#live")).to_contain_text("arrow keys")
    _to_cell(page, "outcome")
    page.keyboard.press("Shift+F")
    expect(page).to_have_url(re.compile(r"not_outcome=done"))
    expect(page.locator("tr[data-row]")).to_have_count(1)
    page.get_by_role("link", name="Take in again: outcome done").click()
    expect(page.locator("tr[data-row]")).to_have_count(50)
    page.keyboard.press("j")
    expect(page.locator("[data-row-link]").first).to_be_focused()
    _to_cell(page, "action")
    page.keyboard.press("f")
    expect(page).to_have_url(re.compile(r"\?action=note\.(made|lost)$"))
    page.keyboard.press("j")
    expect(page.locator("[data-row-link]").first).to_be_focused()
    page.keyboard.press("o")
    expect(page.get_by_role("heading", level=1)).to_contain_text("note.")


def _to_cell(page: Page, name: str) -> None:
    cell = page.locator(f"tr[data-row] [data-cell={name}]").first
    for _ in range(12):
        page.keyboard.press("ArrowRight")
        if cell.evaluate("one => one === document.activeElement"):
            return
    raise AssertionError(f"the arrows do not reach {name}")


def test_event_is_proven_in_place_and_cited(windows: Windows, auditor: Person) -> None:
    window = windows(auditor)
    window.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page = window.open(f"trail/events/{event_at(auditor.access, 9)}")
    page.get_by_role("link", name="Verify this event").click()
    expect(page.get_by_role("heading", name="Proven")).to_be_focused()
    expect(page.locator(".steps li")).to_have_count(5)
    page.get_by_role("button", name="Copy citation").click()
    expect(page.locator("#live")).to_contain_text("Copied")
    assert "event #9: " in page.evaluate("navigator.clipboard.readText()")
    page.get_by_role("link", name="#10").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("#10")


@pytest.fixture(scope="module")
def looked_at(django_db_setup: None, django_db_blocker: Any) -> tuple[Person, int]:
    """An administrator's trail with one of everything, for the states under axe."""
    with django_db_blocker.unblock():
        person = make_person(role=Role.ADMINISTRATOR)
        put(person.access, "Acme")
        fill(person)
        for line in export_trail(person.access):
            assert line
        runs.perform(jobs.ANCHORING, person.access.workspace_id, anchors.anchor_head)
        person.post("trail/integrity/check")
        answer = person.post("trail/exports/start", {"format": "csv"})
        b"".join(answer.streaming_content)
        return person, event_at(person.access, 5)


@pytest.mark.parametrize(
    ("state", "theme", "width"),
    [
        pytest.param(state, theme, width, id=f"{state} {theme} {width}", marks=marks)
        for place, state in enumerate(PAGES)
        for turn, (theme, width) in enumerate(COMBINATIONS)
        for marks in [() if turn == place % len(COMBINATIONS) else pytest.mark.full]
    ],
)
def test_page_has_no_violation_and_no_sideways_scroll(
    windows: Windows, looked_at: tuple[Person, int], state: str, theme: str, width: int
) -> None:
    person, event = looked_at
    window = windows(person, viewport={"width": width, "height": 900}, color_scheme=theme)
    page = window.open(PAGES[state].format(event=event))
    window.settle()
    found = Axe().run(page, options=OPTIONS)
    assert found.violations_count == 0, found.generate_report()
    overflow = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    assert page.evaluate(overflow) <= 0
    assert page.evaluate("document.querySelectorAll('*').length") <= 2_200
