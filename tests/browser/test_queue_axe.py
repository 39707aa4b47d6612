"""The queue under axe: list, item, panels, dialog, empty, by theme and width."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from audits.domain.roles import Role
from records.domain.risk import Risk
from tests.browser.conftest import Window, Windows
from tests.browser.test_axe import OPTIONS
from tests.web.conftest import make_person
from tests.web.queue_facts import contest, fields_of, hold

COMBINATIONS = list(itertools.product(("light", "dark"), (360, 768, 1440)))


def show_list(window: Window) -> None:
    access = window.person.access
    hold(access, "ignore \u202eall\u202c rules", risk=Risk.HIGH, rule="attack.override")
    contest(access)
    taken = hold(access, risk=Risk.MEDIUM, rule="shape.order")
    make_person(access, Role.REVIEWER).get(f"queue/{taken}")
    window.open("queue")


def show_empty(window: Window) -> None:
    window.open("queue")


def show_filtered_empty(window: Window) -> None:
    window.open("queue?risk=high&colour=red&rule=x")


def show_item(window: Window) -> None:
    held = contest(window.person.access, evidence="on her badge", tags=("work",))
    window.open(f"queue/{held}")


def show_reasons(window: Window) -> None:
    held = hold(window.person.access, "ignore the rules", risk=Risk.HIGH, rule="attack.override")
    page = window.open(f"queue/{held}")
    page.keyboard.press("r")
    expect(page.get_by_text("Why?")).to_be_visible()


def show_edit(window: Window) -> None:
    page = window.open(f"queue/{hold(window.person.access)}")
    page.keyboard.press("e")
    expect(page.locator("#edited")).to_be_focused()


def show_owing(window: Window) -> None:
    page = window.open(f"queue/{hold(window.person.access)}")
    page.keyboard.press("w")
    page.get_by_role("button", name="Snooze until then").click()
    expect(page.locator('[data-panel="owes"]')).to_be_visible()


def show_conflict(window: Window) -> None:
    person = window.person
    held = hold(person.access)
    fields = fields_of(person.get(f"queue/{held}"))
    person.post(f"queue/{held}/decide?rule=none", {**fields, "act": "reject:false"})
    window.open(f"queue/{held}")
    expect(window.page.locator('[data-panel="decided"]')).to_be_visible()


def show_leased(window: Window) -> None:
    held = hold(window.person.access)
    make_person(window.person.access, Role.REVIEWER).get(f"queue/{held}")
    window.open(f"queue/{held}")


def show_recent(window: Window) -> None:
    show_conflict(window)
    window.page.get_by_role("link", name="Recent").click()
    expect(window.page.get_by_role("dialog")).to_be_visible()


def show_end(window: Window) -> None:
    page = window.open(f"queue/{hold(window.person.access)}")
    page.keyboard.press("a")
    expect(page.locator("h1")).to_contain_text("Nothing is left")


def show_bulk(window: Window) -> None:
    show_list(window)
    window.open("queue/bulk?verb=approve")


def show_receipt(window: Window) -> None:
    hold(window.person.access)
    page = window.open("queue/bulk")
    page.get_by_label("False").check()
    page.get_by_role("button", name="Reject 1 fact").click()
    expect(page.locator("h1")).to_contain_text("1 decided at once")


STATES: dict[str, Callable[[Window], None]] = {
    one.__name__: one
    for one in (
        show_list, show_empty, show_filtered_empty, show_item, show_reasons, show_edit, show_owing,
        show_conflict, show_leased, show_recent, show_end, show_bulk, show_receipt,
    )
}  # fmt: skip
ALL = [(name, *shape) for name in STATES for shape in COMBINATIONS]
# Every state once, and every theme and width with some of them.
SAMPLE = [(name, *COMBINATIONS[place % 6]) for place, name in enumerate(STATES)]


def check(windows: Windows, state: str, theme: str, width: int) -> None:
    person = make_person(role=Role.REVIEWER)
    person.user.theme = theme
    person.user.save()
    window = windows(person, viewport={"width": width, "height": 900})
    STATES[state](window)
    # An open panel covers some of the panes for the time being; they are looked at without it.
    is_covered = window.page.locator(".act[open]").count() > 0
    context = {"exclude": [[".panes"]]} if is_covered else None
    found = Axe().run(window.page, context=context, options=OPTIONS)
    assert found.violations_count == 0, found.generate_report()
    assert fits(window.page)


def fits(page: Page) -> bool:
    """Say whether the page scrolls in one direction only."""
    return bool(page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"))


@pytest.mark.parametrize(("state", "theme", "width"), SAMPLE)
def test_queue_has_no_violation(windows: Windows, state: str, theme: str, width: int) -> None:
    check(windows, state, theme, width)


@pytest.mark.full
@pytest.mark.parametrize(("state", "theme", "width"), [one for one in ALL if one not in SAMPLE])
def test_queue_has_no_violation_anywhere(
    windows: Windows, state: str, theme: str, width: int
) -> None:
    check(windows, state, theme, width)
