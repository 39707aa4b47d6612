"""A real Chromium in front of the real server, and people who are logged in to it.

Every test fails on a violation of the content security policy, a script error
or a failed request of a page's own parts: ``page`` collects them.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from django.conf import settings
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from django.contrib.sessions.backends.db import SessionStore
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, sync_playwright

from audits.domain.roles import Role
from tests.web.conftest import Person, make_person

# Playwright's synchronous interface keeps an event loop in this thread, which Django would
# take for an asynchronous program.
os.environ.setdefault("DJANGO_ALLOW_ASYNC_UNSAFE", "1")
CHROMIUM = next(
    (
        path
        for name in ("chromium", "chromium-browser", "google-chrome")
        if (path := shutil.which(name))
    ),
    None,
)
WIDE, NARROW = {"width": 1440, "height": 900}, {"width": 390, "height": 844}
# Answers that a page may bring on purpose; everything else in the console is a fault.
EXPECTED = ("the server responded with a status of 4", "Response Status Error Code 4")


@pytest.fixture(scope="session")
def browser(django_db_setup: None) -> Iterator[Browser]:
    """One Chromium for the session."""
    if CHROMIUM is None:
        pytest.skip("there is no Chromium here")
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox", "--disable-dev-shm-usage"]
        )
        yield started
        started.close()


@dataclass
class Window:
    """One person at a browser of their own."""

    person: Person
    context: BrowserContext
    page: Page
    base: str
    faults: list[str] = field(default_factory=list)

    def open(self, path: str = "") -> Page:
        """Open a page of the person's workspace."""
        self.page.goto(self.base + self.person.url(path))
        return self.page

    def settle(self) -> None:
        """Wait until what loads after the page has come."""
        self.page.wait_for_load_state("networkidle")


class Windows:
    """Opens windows and looks at their faults when the test ends."""

    def __init__(self, browser: Browser, base: str) -> None:
        self.browser, self.base = browser, base
        self.opened: list[Window] = []

    def __call__(self, person: Person | None = None, **options: Any) -> Window:
        """Open a window for a person, logged in; by default a fresh administrator."""
        person = person or make_person(role=Role.ADMINISTRATOR)
        options.setdefault("viewport", WIDE)
        context = self.browser.new_context(**options)
        context.add_cookies(
            [
                {
                    "name": settings.SESSION_COOKIE_NAME,
                    "value": session_of(person),
                    "url": self.base,
                }
            ]
        )
        window = Window(person, context, context.new_page(), self.base)
        watch(window)
        self.opened.append(window)
        return window

    def close(self) -> list[str]:
        faults = [fault for window in self.opened for fault in window.faults]
        for window in self.opened:
            window.context.close()
        return faults


@pytest.fixture
def windows(browser: Browser, live_server_url: str) -> Iterator[Windows]:
    """Windows of people who are logged in; no page may have broken its policy or its scripts."""
    found = Windows(browser, live_server_url)
    yield found
    assert found.close() == []


def session_of(person: Person) -> str:
    """Log a person in behind the browser's back."""
    session = SessionStore()
    session[SESSION_KEY] = str(person.user.pk)
    session[BACKEND_SESSION_KEY] = "django.contrib.auth.backends.ModelBackend"
    session[HASH_SESSION_KEY] = person.user.get_session_auth_hash()
    session.save()
    assert session.session_key
    return session.session_key


def watch(window: Window) -> None:
    """Note violations, script errors and failed parts of every page of a window."""

    def note_console(message: ConsoleMessage) -> None:
        if message.type == "error" and not any(one in message.text for one in EXPECTED):
            window.faults.append(message.text)

    window.page.on("console", note_console)
    window.page.on("pageerror", lambda error: window.faults.append(f"script error: {error}"))
    window.page.add_init_script(
        """document.addEventListener("securitypolicyviolation", (event) =>
             console.error("policy violated:", event.violatedDirective, event.blockedURI));"""
    )
