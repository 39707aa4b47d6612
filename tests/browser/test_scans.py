"""Scans in a real browser: start one, watch it end, read what it found, send it to the queue."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from django.db import connections

from audits.operations.running import perform_waiting
from records import scans
from records.scans import planning
from tests.web.test_scans_pages import HOSTILE, fill

from .conftest import NARROW, WIDE, Windows
from .test_axe import OPTIONS


def elsewhere(work: Callable[[], Any]) -> None:
    """Do what a worker does, in a thread of its own."""

    def run() -> None:
        work()
        connections.close_all()

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()


def test_scan_is_started_watched_and_its_hits_are_sent_and_undone(
    windows: Windows, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(planning, "RANGE", 2)
    window = windows()
    person = window.person
    fill(person, bad=2, says=HOSTILE)
    page = window.open("scans")
    page.get_by_role("link", name="Start the first scan").click()
    page.get_by_text("6 facts").wait_for()
    page.get_by_role("button", name="Start this scan").click()
    page.get_by_role("heading", name="Waits for a worker").wait_for()
    page.get_by_role("button", name="Pause").click()
    page.get_by_role("heading", name="Paused").wait_for()
    page.get_by_role("button", name="Resume").click()
    page.get_by_role("heading", name="Waits for a worker").wait_for()
    elsewhere(lambda: scans.work(person.access.workspace_id))
    page.get_by_role("heading", name="All of it was judged").wait_for()
    page.get_by_role("heading", name="Hits by rule").wait_for()
    page.locator("details[data-rule] > summary").first.click()
    page.locator("details[data-rule] td a[data-row-link]").first.wait_for()
    assert "<script>alert(1)</script>" in page.locator("details[data-rule]").first.inner_text()
    page.get_by_role("button", name="Make the preview").click()
    page.get_by_role("heading", name="Hold 2 facts?").wait_for()
    page.get_by_label("Reason").fill("old poison")
    page.get_by_role("button", name="Hold 2 facts").click()
    elsewhere(lambda: perform_waiting(person.access.workspace_id))
    page.get_by_role("heading", name="Held 2 of 2 facts").wait_for()
    page.get_by_role("button", name="Undo").click()
    page.get_by_role("heading", name="Restore 2 facts?").wait_for()


@pytest.mark.parametrize("look", ["light", "dark"])
def test_pages_of_scans_are_accessible_wide_and_narrow(windows: Windows, look: str) -> None:
    window = windows(color_scheme=look)
    fill(window.person)
    window.open("scans/new")
    window.page.get_by_role("button", name="Start this scan").click()
    window.page.get_by_role("heading", name="Waits for a worker").wait_for()
    path = "scans/" + window.page.url.rsplit("/", 1)[1]
    elsewhere(lambda: scans.work(window.person.access.workspace_id))
    for view in (WIDE, NARROW):
        window.page.set_viewport_size(view)  # type: ignore[arg-type]
        for each in ("scans", "scans/new", path, f"{path}/hits", f"{path}/agreement"):
            window.open(each)
            window.settle()
            found = Axe().run(window.page, options=OPTIONS)
            assert found.violations_count == 0, (each, found.generate_report())
            overflow = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
            assert window.page.evaluate(overflow) <= 0, each
            if folder := os.environ.get("SCANS_SHOTS"):
                name = each.replace(path, "scan").replace("/", "-")
                window.page.screenshot(
                    path=f"{folder}/{name}-{look}-{view['width']}.png", full_page=True
                )


def test_g_c_goes_to_the_scans(windows: Windows) -> None:
    window = windows()
    page = window.open()
    page.locator("body").focus()
    page.keyboard.press("g")
    page.keyboard.press("c")
    page.wait_for_url("**/scans")
