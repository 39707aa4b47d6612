"""The API's reference page in a real browser, under the strict content security policy."""

from __future__ import annotations

from playwright.sync_api import Browser, expect

from records import keys
from records.access import Actor, ActorKind
from records.workspaces import make_workspace

FIRST_LOAD_MS = 30_000  # the script is 1.5 MB, and the document is made at the first call


def test_the_reference_page_needs_nothing_from_elsewhere(
    browser: Browser, live_server_url: str
) -> None:
    access = make_workspace("reference", actor=Actor(ActorKind.COMMAND, "test"))
    key = keys.make_key(access=access)
    faults: list[str] = []
    page = browser.new_page()
    page.on("console", lambda said: faults.append(said.text) if said.type == "error" else None)
    page.on("pageerror", lambda error: faults.append(str(error)))
    ours = (live_server_url, "data:")
    page.on("request", lambda sent: None if sent.url.startswith(ours) else faults.append(sent.url))
    page.goto(f"{live_server_url}/api/v1/docs")
    doors = page.locator(".opblock")
    expect(doors.first).to_be_visible(timeout=FIRST_LOAD_MS)
    assert doors.count() > 15
    page.get_by_role("button", name="Authorize").first.click()
    page.get_by_label("auth-bearer-value").fill(key)
    page.locator(".auth-btn-wrapper button[type=submit]").click()
    page.locator(".btn-done").click()
    whoami = page.locator(".opblock", has_text="/api/v1/whoami")
    whoami.locator(".opblock-summary-control").click()
    whoami.get_by_role("button", name="Try it out").click()
    whoami.get_by_role("button", name="Execute").click()
    answers = whoami.locator(".live-responses-table")
    expect(answers).to_contain_text("reference", timeout=FIRST_LOAD_MS)
    page.close()
    assert faults == []
