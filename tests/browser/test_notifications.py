"""The pages of notifications in a browser: axe, keyboard, and a channel made and tested by hand."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any
from uuid import uuid4

import pytest
from axe_playwright_python.sync_playwright import Axe
from django.utils import timezone
from playwright.sync_api import expect

from audits.domain.notices import ABOUT, Channel, Kind
from audits.domain.roles import Role
from audits.models import Notice
from audits.notices import managing
from audits.notices.managing import Told
from records.access import Access
from records.scope import workspace_scope
from tests.browser.conftest import Window, Windows
from tests.browser.test_axe import OPTIONS
from tests.web.conftest import make_person

COMBINATIONS = list(itertools.product(("light", "dark"), (360, 768, 1440)))


def seed(access: Access) -> Any:
    """Make channels, rules, and notices in every state; return the id of one that failed."""
    hook, _ = managing.make_channel(
        "On call with a rather long name",
        Channel.WEBHOOK,
        "https://hooks.example.org/x",
        access=access,
    )
    chat, _ = managing.make_channel(
        "Team chat",
        Channel.CHAT,
        "slack://TAAAAAAAA/BAAAAAAAA/cccccccccccccccccccccccc",
        access=access,
    )
    for kind in (Kind.ODD_SESSION, Kind.QUARANTINE_AGE, Kind.TRAIL_BROKEN, Kind.CONTAINMENT):
        threshold = ABOUT[kind].default if ABOUT[kind].number else None
        managing.make_rule(Told(kind, hook, threshold, 60), access=access)
    managing.make_rule(Told(Kind.JOB_FAILED, chat, None, 0, is_active=False), access=access)
    failed = uuid4()
    now = timezone.now()
    rows: list[dict[str, Any]] = [
        {"id": failed, "state": "failed", "attempts": 10, "fault": "answered 500"},
        {"id": uuid4(), "state": "sent", "attempts": 1, "sent_at": now},
        {"id": uuid4(), "state": "waiting", "attempts": 2, "fault": "no answer (TimeoutError)"},
        {"id": uuid4(), "state": "waiting"},
        {"id": uuid4(), "state": "sent", "attempts": 1, "sent_at": now, "is_test": True},
    ]
    with workspace_scope(access.workspace_id):
        for row in rows:
            Notice.objects.create(
                workspace_id=access.workspace_id, channel_id=hook, kind="odd_session",
                target_kind="session", target=str(uuid4()), numbers={"score": 84}, more=2,
                created_at=now, next_at=now, **row,
            )  # fmt: skip
    return failed


def show_empty(window: Window) -> None:
    window.open("notifications")


def show_list(window: Window) -> None:
    seed(window.person.access)
    window.open("notifications")


def show_sent(window: Window) -> None:
    seed(window.person.access)
    window.open("notifications/sent?state=odd")


def show_one(window: Window) -> None:
    window.open(f"notifications/sent/{seed(window.person.access)}")


def show_channel(window: Window) -> None:
    page = window.open("notifications/channels/new")
    page.get_by_label("Name").fill("x")
    page.get_by_role("textbox", name="Address").fill("ftp://x")
    page.get_by_label("By", exact=True).select_option("webhook")
    page.get_by_role("button", name="Make the channel").click()
    expect(page.get_by_text("must be an http or https address")).to_be_visible()


def show_rule(window: Window) -> None:
    seed(window.person.access)
    window.open("notifications/rules/new")


def show_removing(window: Window) -> None:
    show_list(window)
    window.page.get_by_role("link", name="Remove Team chat").click()
    expect(window.page.get_by_role("dialog")).to_be_visible()


STATES: dict[str, Callable[[Window], None]] = {
    one.__name__: one
    for one in (show_empty, show_list, show_sent, show_one, show_channel, show_rule, show_removing)
}
ALL = [(name, *shape) for name in STATES for shape in COMBINATIONS]
SAMPLE = [(name, *COMBINATIONS[place % 6]) for place, name in enumerate(STATES)]


def check(windows: Windows, state: str, theme: str, width: int) -> None:
    person = make_person(role=Role.ADMINISTRATOR)
    person.user.theme = theme
    person.user.save()
    window = windows(person, viewport={"width": width, "height": 900})
    STATES[state](window)
    window.settle()
    found = Axe().run(window.page, options=OPTIONS)
    assert found.violations_count == 0, found.generate_report()
    wide = window.page.evaluate("document.documentElement.scrollWidth")
    assert wide <= width


@pytest.mark.parametrize(("state", "theme", "width"), SAMPLE)
def test_notification_pages_pass_axe(windows: Windows, state: str, theme: str, width: int) -> None:
    check(windows, state, theme, width)


@pytest.mark.full
@pytest.mark.parametrize(("state", "theme", "width"), ALL)
def test_every_notification_page_passes_axe(
    windows: Windows, state: str, theme: str, width: int
) -> None:
    check(windows, state, theme, width)


@pytest.fixture
def receiver() -> Iterator[tuple[str, list[bytes]]]:
    """A web server that keeps what it is sent."""
    got: list[bytes] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            got.append(self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(204)
            self.end_headers()

        def log_message(self, *args: Any) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/", got
    server.shutdown()
    server.server_close()
    thread.join()


def test_a_channel_is_made_and_refused_its_test_inside_our_own_network(
    windows: Windows, receiver: tuple[str, list[bytes]]
) -> None:
    url, got = receiver
    window = windows(make_person(role=Role.ADMINISTRATOR))
    page = window.open("notifications")
    page.get_by_role("link", name="New channel").click()
    page.get_by_label("Name").fill("On call")
    page.get_by_label("By", exact=True).select_option("webhook")
    page.get_by_role("textbox", name="Address").fill(url)
    page.get_by_role("button", name="Make the channel").click()
    expect(page.locator("h1")).to_contain_text("The signing key of On call")
    page.get_by_role("button", name="Send a test").click()
    said = page.locator("#messages").get_by_text("The test was not taken: the address is private")
    expect(said).to_be_visible()
    page.get_by_role("link", name="Sent", exact=True).click()
    expect(page.get_by_role("link", name="A test")).to_be_visible()
    assert got == []
