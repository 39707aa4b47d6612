"""The shell in a real browser: policy, themes, keys, focus, errors that lose nothing."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from audits.domain.roles import Role
from audits.models import User
from audits.views.components import HOSTILE
from tests import factories
from tests.browser.conftest import NARROW, Windows
from tests.web.conftest import PASSWORD, make_person, put


def test_log_in_by_hand_and_log_out(windows: Windows) -> None:
    person = make_person(role=Role.ADMINISTRATOR)
    window = windows(person)
    window.context.clear_cookies()
    page = window.open("records")
    expect(page).to_have_url(re.compile(r"/login\?next="))
    page.get_by_label("User name").fill(person.user.username)
    page.get_by_label("Password").fill("wrong")
    page.get_by_role("button", name="Log in").click()
    expect(page.get_by_role("alert")).to_contain_text("do not fit")
    expect(page.get_by_label("User name")).to_have_value(person.user.username)
    page.get_by_label("Password").fill(PASSWORD)
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"/records$"))
    page.get_by_role("button", name="Log out").click()
    expect(page).to_have_url(re.compile(r"/login$"))


def test_policy_is_strict_and_holds_on_every_page(windows: Windows) -> None:
    window = windows()
    put(window.person.access)
    answer = window.page.goto(window.base + window.person.url("records"))
    assert answer is not None
    policy = answer.headers["content-security-policy"]
    assert "unsafe" not in policy
    assert "script-src 'self'" in policy
    assert "style-src 'self'" in policy
    # The collector itself must work, or no violation would ever be seen.
    window.page.evaluate(
        """() => { const one = document.createElement("script"); one.textContent = "window.ran = 1";
                   document.body.append(one); }"""
    )
    window.page.wait_for_timeout(50)
    assert window.page.evaluate("window.ran") is None
    assert any("policy violated" in fault for fault in window.faults)
    window.faults.clear()
    for path in ("", "records", "sessions", "policies", "jobs", "keys", "people"):
        window.open(path)
        window.settle()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_theme_is_there_from_the_first_paint_and_can_be_chosen(
    windows: Windows, scheme: str
) -> None:
    window = windows(color_scheme=scheme)
    page = window.open("records")
    ground = "getComputedStyle(document.body).backgroundColor"
    system = page.evaluate(ground)
    other = "Dark theme" if scheme == "light" else "Light theme"
    with page.expect_request("**/profile/look"):
        page.get_by_role("button", name=other).click()
    assert page.evaluate(ground) != system
    page.wait_for_timeout(100)
    page.reload()
    assert page.evaluate(ground) != system
    assert User.objects.get(id=window.person.user.id).theme == other.split()[0].lower()


def test_density_is_kept(windows: Windows) -> None:
    window = windows()
    page = window.open("records")
    with page.expect_request("**/profile/look"):
        page.get_by_role("button", name="Comfortable rows").click()
    expect(page.locator("html")).to_have_attribute("data-density", "comfortable")
    page.wait_for_timeout(100)
    page.reload()
    expect(page.locator("html")).to_have_attribute("data-density", "comfortable")


def test_keys_go_to_pages_rows_and_search_and_are_silent_while_typing(windows: Windows) -> None:
    window = windows()
    first, second = put(window.person.access, "Acme"), put(window.person.access, "Helio")
    assert first.id
    assert second.id
    page = window.open("")
    page.keyboard.press("g")
    page.keyboard.press("r")
    expect(page).to_have_url(re.compile(r"/records$"))
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("k")
    page.keyboard.press("o")
    expect(page).to_have_url(re.compile(rf"/records/{second.id}$"))
    page.keyboard.press("u")
    expect(page).to_have_url(re.compile(r"/records$"))
    page.keyboard.press("/")
    expect(page.get_by_label("Search memories, or jump to an id")).to_be_focused()
    page.keyboard.type("gs?j")
    expect(page).to_have_url(re.compile(r"/records$"))
    expect(page.locator("#help")).not_to_be_visible()
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"\?text=gs%3Fj$"))


def test_keys_are_silent_in_dialogs_with_modifiers_and_when_switched_off(windows: Windows) -> None:
    window = windows()
    put(window.person.access)
    page = window.open("records")
    page.keyboard.press("?")
    expect(page.locator("#help")).to_be_visible()
    page.keyboard.press("g")
    page.keyboard.press("s")
    expect(page).to_have_url(re.compile(r"/records$"))
    page.keyboard.press("Escape")
    expect(page.locator("#help")).not_to_be_visible()
    page.keyboard.press("Alt+/")
    assert page.evaluate("document.activeElement.id") != "jump"
    User.objects.filter(id=window.person.user.id).update(shortcuts_on=False)
    page.reload()
    for key in ("?", "g", "s"):
        page.keyboard.press(key)
    expect(page).to_have_url(re.compile(r"/records$"))
    expect(page.locator("#help")).not_to_be_visible()


def test_remapped_key_acts_and_the_old_one_does_not(windows: Windows) -> None:
    window = windows()
    put(window.person.access)
    User.objects.filter(id=window.person.user.id).update(remap={"help": "h"})
    page = window.open("records")
    page.keyboard.press("?")
    expect(page.locator("#help")).not_to_be_visible()
    page.keyboard.press("h")
    expect(page.locator("#help")).to_be_visible()
    expect(page.locator("[data-help=help] kbd")).to_have_text("h")


def test_first_tab_stops_skip_to_content_and_filters(windows: Windows) -> None:
    window = windows()
    put(window.person.access)
    page = window.open("records")
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
    page.keyboard.press("Tab")
    skip = page.get_by_role("link", name="Skip to the filters")
    expect(skip).to_be_focused()
    expect(skip).to_be_in_viewport()
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "filters"


def test_filter_swaps_the_list_and_the_url_is_the_state(windows: Windows) -> None:
    window = windows()
    put(window.person.access, "cashews", predicate="allergy")
    put(window.person.access, "Leeds", predicate="city")
    page = window.open("records")
    expect(page.locator("tr[data-row]")).to_have_count(2)
    page.get_by_label("Predicate").fill("city")
    page.keyboard.press("Enter")
    expect(page.locator("tr[data-row]")).to_have_count(1)
    expect(page).to_have_url(re.compile(r"/records\?predicate=city$"))
    page.wait_for_function("document.activeElement.tagName !== 'BODY'")
    page.get_by_label("Status", exact=True).select_option("evicted")
    expect(page.get_by_text("No record matches these filters")).to_be_visible()
    copy = windows(window.person).page
    copy.goto(page.url)
    expect(copy.get_by_text("No record matches these filters")).to_be_visible()
    expect(copy.get_by_label("Predicate")).to_have_value("city")
    page.go_back()
    expect(page.locator("tr[data-row]")).to_have_count(1)


def test_next_page_keeps_the_focus_in_the_list(windows: Windows) -> None:
    window = windows()
    for i in range(55):
        put(window.person.access, f"thing {i}", predicate="owns")
    page = window.open("records")
    page.get_by_role("link", name="Next page").click()
    expect(page.locator("tr[data-row]")).to_have_count(5)
    page.wait_for_function("document.activeElement.id === 'records-table'")
    page.go_back()
    expect(page.locator("tr[data-row]")).to_have_count(50)


def test_act_in_the_dialog_by_keys_alone(windows: Windows) -> None:
    window = windows()
    made = put(window.person.access, "Acme")
    page = window.open(f"records/{made.id}")
    window.settle()
    page.keyboard.press("e")
    expect(page.locator("#modal")).to_be_visible()
    assert page.evaluate("document.activeElement.closest('#modal') !== null")
    page.get_by_role("textbox", name="Value").fill("Acme Holdings")
    page.get_by_label("Reason").fill("full name")
    page.get_by_role("button", name="Edit").click()
    expect(page.locator("#messages")).to_contain_text("Edited.")
    expect(page.locator("#live")).to_contain_text("Edited.")
    expect(page.get_by_role("heading", level=1)).to_contain_text("employer")
    expect(page.locator(".memory-block").first).to_have_text("Acme Holdings")


def test_conflict_in_the_dialog_keeps_what_was_typed(windows: Windows) -> None:
    window = windows()
    made = put(window.person.access, "Acme")
    page = window.open(f"records/{made.id}")
    page.get_by_role("link", name="Hold", exact=True).click()
    page.get_by_label("Reason").fill("a long thought")
    colleague = make_person(window.person.access, Role.RESPONDER)
    done = colleague.post(f"records/{made.id}/retract", {"version": 1, "reason": "wrong"})
    assert done.status_code == 302
    page.locator("#modal").get_by_role("button", name="Hold").click()
    expect(page.get_by_text("has changed since you looked")).to_be_visible()
    expect(page.get_by_label("Reason")).to_have_value("a long thought")


def test_suspending_from_the_list_takes_two_interactions(windows: Windows) -> None:
    window = windows()
    put(window.person.access, "Evil", session="bad")
    page = window.open("sessions")
    page.get_by_role("link", name="Suspend").click()
    page.locator("#modal").get_by_role("button", name="Suspend serving").click()
    expect(page.get_by_role("region", name="Containment")).to_contain_text("1 session suspended")


def test_lost_connection_keeps_the_form_and_offers_a_retry(windows: Windows) -> None:
    window = windows()
    made = put(window.person.access, "Acme")
    page = window.open(f"records/{made.id}")
    window.settle()
    page.get_by_role("link", name="Hold", exact=True).click()
    page.get_by_label("Reason").fill("a long thought")
    window.context.set_offline(True)
    page.locator("#modal").get_by_role("button", name="Hold").click()
    notice = page.locator("#modal .swap-failure")
    expect(notice).to_contain_text("no connection")
    expect(page.get_by_label("Reason")).to_have_value("a long thought")
    window.context.set_offline(False)
    window.faults.clear()  # the browser's own word that it was offline
    notice.get_by_role("button", name="Try again").click()
    expect(page.locator("#messages")).to_contain_text("Held.")


def test_session_that_ended_loses_nothing_that_was_typed(windows: Windows) -> None:
    window = windows()
    made = put(window.person.access, "Acme")
    page = window.open(f"records/{made.id}")
    page.get_by_role("link", name="Hold", exact=True).click()
    page.get_by_label("Reason").fill("a long thought")
    window.context.clear_cookies(name="sessionid")
    page.locator("#modal").get_by_role("button", name="Hold").click()
    expect(page.locator("#modal .swap-failure")).to_contain_text("session has ended")
    expect(page.get_by_label("Reason")).to_have_value("a long thought")


def test_hostile_text_runs_nothing_and_asks_for_nothing(windows: Windows) -> None:
    window = windows()
    asked: list[str] = []
    window.page.on("request", lambda request: asked.append(request.url))
    window.page.on("dialog", lambda dialog: window.faults.append(f"dialog: {dialog.message}"))
    ids = [
        factories.make_record(
            window.person.access, one.replace("\x00", "")[:190], subject=one.replace("\x00", "")[:90],
            session=one.replace("\x00", "")[:90],
        )
        for one in HOSTILE
    ]  # fmt: skip
    for path in ("records", *(f"records/{one}" for one in ids), "sessions"):
        window.open(path)
        window.settle()
    assert all(url.startswith(window.base) and "/evil" not in url for url in asked)
    page = window.open("records")
    chip = page.locator(".chip-hidden", has_text="right-to-left override").first
    expect(chip).to_be_visible()


def test_pages_work_without_scripts(windows: Windows) -> None:
    window = windows(java_script_enabled=False)
    made = put(window.person.access, "Acme")
    page = window.open("records")
    page.get_by_label("Predicate").fill("employer")
    page.get_by_role("button", name="Filter").click()
    expect(page.locator("tr[data-row]")).to_have_count(1)
    page.goto(window.base + window.person.url(f"records/{made.id}"))
    page.get_by_role("link", name="Hold", exact=True).click()
    page.get_by_label("Reason").fill("odd")
    page.get_by_role("button", name="Hold").click()
    expect(page.locator("#messages")).to_contain_text("Held.")
    page.get_by_role("link", name="Open the history").click()
    expect(page.get_by_text("record.held")).to_be_visible()


def test_menu_of_a_small_screen_opens_and_nothing_scrolls_sideways(windows: Windows) -> None:
    window = windows(viewport=NARROW)
    put(window.person.access, "a very long value " * 60, predicate="biography")
    page = window.open("records")
    expect(page.get_by_role("navigation", name="Pages", exact=True)).not_to_be_visible()
    page.get_by_role("button", name="Menu").click()
    expect(page.get_by_role("navigation", name="Pages", exact=True)).to_be_visible()
    page.get_by_role("link", name="Sessions").click()
    expect(page).to_have_url(re.compile(r"/sessions$"))
