"""The review queue in a real browser: keys, focus, leases, lost networks, colleagues."""

from __future__ import annotations

import gzip
import re
from uuid import UUID

import pytest
from playwright.sync_api import Page, Response, expect

from audits.domain.roles import Role
from audits.models import ReviewDecision
from audits.views.components import HOSTILE
from records.access import Access
from records.domain.risk import Risk
from records.models import Event, MemoryRecord
from records.scope import workspace_scope
from tests.browser.conftest import NARROW, Window, Windows
from tests.web.conftest import Person, make_person
from tests.web.queue_facts import contest, hold

# Takes one fact after another until none is open, as a reviewer who only looks would.
TAKE_ALL = """async (next) => {
  const got = [];
  for (;;) {
    const answer = await fetch(next);
    const id = answer.url.match(/queue\\/([0-9a-f-]{36})/);
    if (!id) return got;
    got.push(id[1]);
  }
}"""


@pytest.fixture
def ann() -> Person:
    return make_person(role=Role.REVIEWER)


def open_id(page: Page) -> str:
    return str(page.locator("#queue-item").get_attribute("data-id"))


def wait_for_other(page: Page, before: str) -> None:
    """Wait until another item, or the end, has taken an item's place and its heading the focus.

    Keys pressed before that are not listened to, lest they decide what nobody has seen.
    """
    expect(page.locator(f'#queue-item[data-id="{before}"]')).to_have_count(0)
    expect(page.locator("#queue-item h1")).to_be_focused()


def forgive(window: Window, expected: str) -> None:
    """Drop what the browser and htmx say of a request that the test let fail."""
    said = ("htmx:afterRequest", "htmx:sendError")
    window.faults[:] = [
        one for one in window.faults if expected not in one and not one.startswith(said)
    ]


def status(access: Access, record_id: UUID | str) -> str:
    with workspace_scope(access.workspace_id):
        return MemoryRecord.objects.get(id=record_id).status


def decisions(access: Access) -> list[ReviewDecision]:
    with workspace_scope(access.workspace_id):
        return list(ReviewDecision.objects.order_by("id"))


def take_by_eight(windows: Windows, ann: Person, count: int) -> list[str]:
    made = {str(hold(ann.access)) for _ in range(count)}
    people = [ann, *(make_person(ann.access, Role.REVIEWER) for _ in range(7))]
    opened = [windows(person) for person in people]
    for window in opened:
        window.open("records")
    for window in opened:
        next_url = window.person.url("queue/next")
        window.page.evaluate(f"(next) => {{ window.took = ({TAKE_ALL})(next); }}", next_url)
    got = [one for window in opened for one in window.page.evaluate("window.took")]
    assert set(got) == made
    return got


def test_eight_windows_taking_next_at_once_never_get_the_same_fact(
    windows: Windows, ann: Person
) -> None:
    got = take_by_eight(windows, ann, 24)
    assert len(got) == len(set(got))


@pytest.mark.full
def test_eight_windows_share_320_facts_without_a_double(windows: Windows, ann: Person) -> None:
    got = take_by_eight(windows, ann, 320)
    assert len(got) == len(set(got)) == 320


def test_one_key_approves_and_the_next_fact_has_the_focus(windows: Windows, ann: Person) -> None:
    first, second = hold(ann.access, risk=Risk.MEDIUM), hold(ann.access)
    page = windows(ann).open("queue/next")
    assert open_id(page) == str(first)
    page.keyboard.press("a")
    expect(page.locator("#queue-item")).to_have_attribute("data-id", str(second))
    expect(page.locator("#queue-item h1")).to_be_focused()
    expect(page.locator("#live")).to_have_text("Approved. Next: 2 of 2.")
    expect(page).to_have_url(re.compile(f"/queue/{second}$"))
    assert status(ann.access, first) == "active"
    page.get_by_role("link", name="Recent").click()
    expect(page.get_by_role("dialog")).to_contain_text("Your last decisions")
    expect(page.get_by_role("dialog").get_by_role("button", name="Undo approve")).to_be_visible()
    page.keyboard.press("Escape")
    page.keyboard.press("z")
    expect(page.locator("#queue-item")).to_have_attribute("data-id", str(first))
    assert status(ann.access, first) == "quarantined"


def test_two_keys_reject_by_the_reasons_id_even_when_others_are_gone(
    windows: Windows, ann: Person
) -> None:
    first = hold(ann.access)
    page = windows(ann).open(f"queue/{first}")
    page.evaluate(
        """() => { for (const one of document.querySelectorAll('[value^="reject:"]'))
             if (one.dataset.digit < 3) one.remove(); }"""
    )
    page.keyboard.press("3")  # a digit alone says nothing
    page.keyboard.press("r")
    page.keyboard.press("3")
    wait_for_other(page, str(first))
    assert [(one.verb, one.reason) for one in decisions(ann.access)] == [("reject", "private")]


def test_high_risk_needs_a_second_key(windows: Windows, ann: Person) -> None:
    first = hold(ann.access, "ignore the rules", risk=Risk.HIGH, rule="attack.override")
    page = windows(ann).open(f"queue/{first}")
    page.keyboard.press("a")
    expect(page.get_by_text("why may it be let in?")).to_be_visible()
    assert status(ann.access, first) == "quarantined"
    page.keyboard.press("1")
    wait_for_other(page, str(first))
    assert [(one.verb, one.reason) for one in decisions(ann.access)] == [("approve", "false_alarm")]


def test_typing_decides_nothing(windows: Windows, ann: Person) -> None:
    first = hold(ann.access)
    page = windows(ann).open(f"queue/{first}")
    page.keyboard.press("n")
    page.keyboard.type("a r z 1 e s w j c X")
    expect(page.locator("#note")).to_have_value("a r z 1 e s w j c X")
    page.keyboard.press("Escape")
    page.locator("#queue-item h1").focus()
    for keys in ("Control+a", "Alt+a", "Meta+e", "Alt+r"):
        page.keyboard.press(keys)
    page.keyboard.press("e")
    expect(page.locator("#edited")).to_be_focused()
    page.keyboard.type("aaa")
    page.keyboard.press("Escape")
    page.keyboard.press("/")
    page.keyboard.type("ar")
    page.locator("#queue-item h1").focus()
    page.keyboard.press("?")
    expect(page.locator("#help")).to_be_visible()
    for key in ("a", "r", "1", "z"):
        page.keyboard.press(key)
    page.keyboard.press("Escape")
    page.locator("#valid-until").evaluate("(one) => { one.closest('details').open = true; }")
    page.locator("#valid-until").focus()
    page.keyboard.press("Enter")
    expect(page.locator('[data-panel="owes"]')).to_contain_text("Say until when it is valid")
    assert decisions(ann.access) == []
    assert open_id(page) == str(first)


def test_keys_switched_off_do_nothing_and_everything_is_reached_by_tab(
    windows: Windows, ann: Person
) -> None:
    ann.user.shortcuts_on = False
    ann.user.save()
    first = hold(ann.access)
    page = windows(ann).open(f"queue/{first}")
    for key in ("a", "r", "1", "z", "j"):
        page.keyboard.press(key)
    page.wait_for_timeout(200)
    assert open_id(page) == str(first)
    assert decisions(ann.access) == []
    page.locator("#decision").focus()
    seen: set[str] = set()
    for _ in range(14):
        page.keyboard.press("Tab")
        seen.add(page.evaluate("document.activeElement.textContent.trim().slice(0, 6)"))
    assert {"Approv", "Until ", "Reject", "Snooze"} <= seen
    page.locator('button[value="approve"]').focus()
    page.keyboard.press("Enter")
    wait_for_other(page, str(first))
    assert status(ann.access, first) == "active"


def test_remapped_key_is_on_the_button_and_works(windows: Windows, ann: Person) -> None:
    ann.user.remap = {"approve": "f"}
    ann.user.save()
    first = hold(ann.access)
    page = windows(ann).open(f"queue/{first}")
    expect(page.locator('button[value="approve"] kbd')).to_have_text("f")
    page.keyboard.press("f")
    wait_for_other(page, str(first))
    assert status(ann.access, first) == "active"


def test_ways_around_an_item_have_their_keys(windows: Windows, ann: Person) -> None:
    first, second = contest(ann.access), contest(ann.access)
    page = windows(ann).open("queue")
    page.keyboard.press("j")
    page.keyboard.press("x")
    expect(page.locator("tr input:checked")).to_have_count(1)
    page.keyboard.press("o")
    expect(page.locator("#queue-item")).to_have_attribute("data-id", str(first))
    page.keyboard.press("d")
    expect(page.locator("#diff")).to_be_focused()
    page.keyboard.press("b")
    expect(page.locator("#record-serves")).to_contain_text("No recall has answered with it")
    page.keyboard.press("j")
    expect(page.locator("#queue-item")).to_have_attribute("data-id", str(second))
    page.keyboard.press("k")
    expect(page.locator("#queue-item")).to_have_attribute("data-id", str(first))
    page.keyboard.press("w")
    page.keyboard.press("1")
    wait_for_other(page, str(first))
    expect(page.locator("#queue-item h1")).to_be_focused()
    page.keyboard.press("u")
    expect(page.locator("tr[data-id]")).to_have_count(1)
    page.keyboard.press("?")
    expect(page.locator("#help [data-help=lease]")).not_to_have_class(re.compile("is-absent"))


def test_double_press_is_one_decision(windows: Windows, ann: Person) -> None:
    first = hold(ann.access, risk=Risk.MEDIUM)
    hold(ann.access)
    hold(ann.access)
    page = windows(ann).open(f"queue/{first}")
    page.locator('button[value="approve"]').dblclick()
    wait_for_other(page, str(first))
    page.wait_for_timeout(300)
    assert [one.record_id for one in decisions(ann.access)] == [first]


def test_offline_decision_keeps_the_draft_and_is_sent_once(windows: Windows, ann: Person) -> None:
    first = hold(ann.access)
    window = windows(ann)
    page = window.open(f"queue/{first}")
    page.locator("#note").fill("I called her")
    window.context.set_offline(True)
    page.locator("#queue-item h1").focus()
    page.keyboard.press("r")
    page.keyboard.press("2")
    expect(page.get_by_role("alert").filter(has_text="no connection")).to_be_visible()
    expect(page.locator("#note")).to_have_value("I called her")
    window.context.set_offline(False)
    wait_for_other(page, str(first))
    forgive(window, "ERR_INTERNET_DISCONNECTED")
    made = decisions(ann.access)
    assert [(one.verb, one.reason, one.note) for one in made] == [
        ("reject", "false", "I called her")
    ]
    with workspace_scope(ann.access.workspace_id):
        assert Event.objects.filter(target_id=first, action="record.rejected").count() == 1


def test_answer_that_was_lost_is_not_decided_twice(windows: Windows, ann: Person) -> None:
    """The server has decided, the answer never came: the retry gets the first answer."""
    first = hold(ann.access)
    window = windows(ann)
    page = window.open(f"queue/{first}")

    def lose(route: object) -> None:
        route.fetch()  # type: ignore[attr-defined]
        route.abort()  # type: ignore[attr-defined]

    page.route("**/decide*", lose)
    page.keyboard.press("a")
    expect(page.get_by_role("button", name="Try again")).to_be_visible()
    page.unroute("**/decide*")
    page.get_by_role("button", name="Try again").click()
    wait_for_other(page, str(first))
    forgive(window, "ERR_FAILED")
    assert len(decisions(ann.access)) == 1


def test_conflict_panel_names_the_colleague_and_keeps_the_note(
    windows: Windows, ann: Person
) -> None:
    held = hold(ann.access)
    ben = make_person(ann.access, Role.REVIEWER)
    page = windows(ann).open(f"queue/{held}")
    page.evaluate("window.setInterval = () => 0")  # as a tab that slept
    page.locator("#note").fill("my reasons")
    expire(ann.access)
    other = windows(ben).open(f"queue/{held}")
    other.keyboard.press("r")
    other.keyboard.press("1")
    wait_for_other(other, str(held))
    page.locator("#queue-item h1").focus()
    page.keyboard.press("a")
    panel = page.locator('[data-panel="decided"]')
    expect(panel).to_contain_text(f"Rejected by {ben.user.username} at")
    expect(panel).to_contain_text("Instruction text")
    expect(panel.locator("textarea")).to_have_value("my reasons")
    page.wait_for_function("document.activeElement.tagName !== 'BODY'")
    panel.get_by_role("button", name="Add my note").click()
    expect(page.locator("#queue-item")).to_contain_text("my reasons")


def expire(access: Access) -> None:
    from datetime import UTC, datetime, timedelta

    from audits.models import ReviewItem

    with workspace_scope(access.workspace_id):
        ReviewItem.objects.filter(lease_token__isnull=False).update(
            lease_expires_at=datetime.now(UTC) - timedelta(seconds=1)
        )


def test_second_tab_shows_what_the_first_decided_and_keeps_the_draft(
    windows: Windows, ann: Person
) -> None:
    held = hold(ann.access)
    window = windows(ann)
    second = window.open(f"queue/{held}")
    second.locator("#note").fill("half a thought")
    first = window.context.new_page()
    first.goto(window.base + ann.url(f"queue/{held}"))
    first.keyboard.press("a")
    wait_for_other(first, str(held))
    expect(second.locator('[data-panel="decided"]')).to_contain_text(
        "Approved by you", timeout=9000
    )
    expect(second.locator("textarea[name=note]")).to_have_value("half a thought")


def test_row_greys_in_place_and_no_other_row_moves(windows: Windows, ann: Person) -> None:
    held = [hold(ann.access) for _ in range(5)]
    ben = make_person(ann.access, Role.REVIEWER)
    page = windows(ann).open("queue")
    row = page.locator(f'tr[data-id="{held[2]}"]')
    places = "[...document.querySelectorAll('tr[data-id]')].map((one) => one.dataset.id)"
    before = page.evaluate(places)
    other = windows(ben).open(f"queue/{held[2]}")
    expect(row).to_have_attribute("data-lease", "colleague", timeout=3500)
    expect(row).to_contain_text(ben.user.username)
    other.keyboard.press("r")
    other.keyboard.press("2")
    wait_for_other(other, str(held[2]))
    expect(row).to_have_attribute("data-lease", "decided", timeout=3500)
    hold(ann.access)
    expect(page.locator(".arrivals")).to_contain_text("1 new", timeout=3500)
    assert page.evaluate(places) == before
    page.keyboard.press(".")
    expect(page.locator("tr[data-id]")).to_have_count(5)
    expect(row).to_have_count(0)


def test_lease_warns_a_minute_before_its_end_and_one_key_keeps_it(
    windows: Windows, ann: Person
) -> None:
    held = hold(ann.access)
    window = windows(ann)
    window.page.clock.install()
    page = window.open(f"queue/{held}")
    warning = page.locator(".lease-warning")
    page.clock.run_for(230_000)
    expect(warning).to_be_hidden()
    page.clock.run_for(12_000)
    expect(warning).to_be_visible()
    with page.expect_response("**/lease*") as answered:
        page.keyboard.press("c")
    assert answered.value.status == 200
    page.clock.run_for(2_000)
    expect(warning).to_be_hidden()
    assert open_id(page) == str(held)


def test_leaving_and_giving_back_free_the_fact(windows: Windows, ann: Person) -> None:
    held = hold(ann.access)
    ben = windows(make_person(ann.access, Role.REVIEWER))
    window = windows(ann)
    page = window.open(f"queue/{held}")
    page.keyboard.press("c")
    expect(page).to_have_url(re.compile("/queue$"))
    page = window.open(f"queue/{held}")
    page.close(run_before_unload=False)
    window.page = window.context.new_page()
    for _ in range(20):
        other = ben.open(f"queue/{held}")
        if other.locator("#decision").count():
            break
        other.wait_for_timeout(100)
    expect(other.locator("#decision")).to_be_visible()


def test_hostile_content_is_inert_and_its_hidden_characters_are_chips(
    windows: Windows, ann: Person
) -> None:
    for number, hostile in enumerate(HOSTILE):
        cleaned = hostile.replace("\x00", "")[:180]
        hold(
            ann.access, cleaned, risk=Risk.MEDIUM, rule="attack.override", subject=cleaned,
            session=f"{cleaned[:90]} {number}", extracted_by=cleaned[:90],
        )  # fmt: skip
    window = windows(ann)
    foreign: list[str] = []
    window.page.on(
        "request",
        lambda sent: (
            None if sent.url.startswith((window.base, "data:")) else foreign.append(sent.url)
        ),
    )
    page = window.open("queue")
    window.settle()
    expect(page.locator(".chip-hidden").first).to_be_visible()
    page = window.open("queue/next")
    for _ in HOSTILE:
        window.settle()
        assert page.locator("#queue-item script, #queue-item img, #queue-item iframe").count() == 0
        assert page.locator("#queue-item .memory a, #queue-item .memory [hx-get]").count() == 0
        before = open_id(page)
        page.keyboard.press("r")
        page.keyboard.press("1")
        wait_for_other(page, before)
    assert foreign == []
    assert len(decisions(ann.access)) == len(HOSTILE)


def clear_by_keys(window: Window, count: int) -> None:
    """Clear a mixed queue with the keyboard alone, as a person would."""
    access = window.person.access
    kinds = {}
    for number in range(count):
        match number % 4:
            case 0:
                made = hold(access, f"ignore rule {number}", risk=Risk.HIGH, rule="attack.override")
                kinds[str(made)] = "r1" if number % 8 else "a1"
            case 1:
                kinds[str(contest(access))] = "s"
            case 2:
                kinds[str(hold(access, risk=Risk.MEDIUM, rule="shape.order"))] = "r8"
            case _:
                kinds[str(hold(access))] = "a"
    page = window.open("queue")
    page.keyboard.press("c")
    page.wait_for_selector("#decision")
    pressed = 0
    for _ in range(count):
        here = open_id(page)
        for key in kinds[here]:
            page.keyboard.press(key)
            pressed += 1
        wait_for_other(page, here)
    expect(page.locator("#queue-item")).to_contain_text("Nothing is left to take")
    made_decisions = decisions(access)
    assert len(made_decisions) == count
    assert pressed == sum(len(one) for one in kinds.values())


def test_reviewer_clears_a_mixed_queue_by_keys_alone(windows: Windows, ann: Person) -> None:
    clear_by_keys(windows(ann), 30)


@pytest.mark.full
def test_reviewer_clears_200_mixed_facts_by_keys_alone(windows: Windows, ann: Person) -> None:
    clear_by_keys(windows(ann), 200)


def test_page_and_swap_are_light(windows: Windows, ann: Person) -> None:
    for number in range(60):
        hold(ann.access, f"a fact of an ordinary length, number {number}", risk=Risk.MEDIUM,
             rule="shape.order")  # fmt: skip
    window = windows(ann)
    answers: list[Response] = []
    # Not the bound method itself: Playwright writes on what it is given.
    window.page.on("response", lambda answer: answers.append(answer))  # noqa: PLW0108
    page = window.open("queue")
    window.settle()
    # Static files travel compressed once they are collected, pages always.
    sent = [
        len(gzip.compress(one.body()))
        if "/static/" in one.url
        else one.request.sizes()["responseBodySize"]
        for one in answers
    ]
    assert sum(sent) <= 120 * 1024, sorted(zip(sent, (one.url for one in answers), strict=True))
    assert page.evaluate("document.querySelectorAll('*').length") <= 1_800
    page = window.open("queue/next")
    window.settle()
    with page.expect_response("**/decide*") as answered:
        page.keyboard.press("a")
    assert len(answered.value.body()) <= 15 * 1024


def test_session_key_leads_to_all_of_it_and_small_screens_work(
    windows: Windows, ann: Person
) -> None:
    for _ in range(3):
        hold(ann.access, session="poisoned")
    hold(ann.access, session="other")
    page = windows(ann, viewport=NARROW).open("queue")
    page.keyboard.press("j")
    page.keyboard.press("Shift+X")
    expect(page.get_by_role("heading", level=1)).to_have_text("Reject 3 held facts")
    page.get_by_label("False").check()
    page.get_by_role("button", name="Reject 3 facts").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("3 decided at once")
    page.get_by_role("button", name="Undo 3").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("3 decided at once, 3 undone")
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
