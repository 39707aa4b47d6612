"""Bulk operations in a real browser: from a session to its receipt, by keys, by two people."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from audits import approvals, operations
from audits.domain.roles import Role
from audits.domain.scope import Scope
from audits.jobs import APPROVALS
from audits.models import Approval, Operation
from audits.operations import running
from records import holds
from records.jobs import runs
from records.models import MemoryRecord
from records.retrieve.recall import recall
from records.retrieve.request import RecallRequest
from records.scope import workspace_scope
from tests import factories
from tests.browser.conftest import Window, Windows
from tests.browser.test_axe import COMBINATIONS, OPTIONS
from tests.web.conftest import Person, make_person, put
from tests.web.test_operation_pages import session_of, settle, statuses, stored, work


@pytest.fixture
def responder() -> Person:
    return make_person(role=Role.RESPONDER)


def fill(person: Person, count: int, session: str = "bad") -> None:
    for i in range(count):
        put(person.access, f"thing {i}", predicate="owns", session=session)


def open_preview(window: Window, session: str = "bad") -> Page:
    """Make a preview of a session, as its page leads to it."""
    page = window.open(f"operations/new?session={session_of(window.person, session)}")
    page.get_by_role("button", name="Make the preview").click()
    expect(page.locator("[data-group=total]")).to_be_visible()
    return page


def submit(page: Page, reason: str = "poison") -> None:
    page.get_by_label("Reason").fill(reason)
    page.locator("#acts button[type=submit]").click()


def path_of(page: Page, person: Person) -> str:
    return page.url.split(person.url(), 1)[1].split("?")[0]


def number(page: Page, group: str) -> int:
    tile = page.locator(f"[data-group={group}] .tile-number")
    return int(tile.get_attribute("data-count") or 0) if tile.count() else 0


class Counted:
    """Counts what a person does: a key or a press is one, filling a field is one."""

    def __init__(self, page: Page) -> None:
        self.page, self.interactions = page, 0

    def key(self, name: str) -> None:
        self.interactions += 1
        self.page.keyboard.press(name)

    def fill(self, label: str, text: str) -> None:
        self.interactions += 1
        self.page.get_by_label(label).fill(text)

    def press(self, name: str) -> None:
        self.interactions += 1
        self.page.locator("#acts").get_by_role("button", name=name).click()


def test_five_hundred_facts_are_evicted_in_at_most_six_interactions(
    windows: Windows, responder: Person
) -> None:
    access = responder.access
    factories.make_many(
        access,
        500,
        "evil",
        factories.make_partition(access, "ada"),
        factories.make_source(access),
        factories.make_session(access, "ada", "bad"),
    )
    window = windows(responder)
    page = window.open(f"sessions/{session_of(responder, 'bad')}")
    window.settle()
    person = Counted(page)
    person.key("p")
    expect(page.get_by_role("button", name="Make the preview")).to_be_focused()
    person.key("Enter")
    expect(page.get_by_role("heading", name="Evict 500 facts?")).to_be_visible()
    person.fill("Reason", "poisoned session")
    person.press("Evict 500 facts")
    expect(page.locator("#operation-progress")).to_be_visible()
    work(responder)
    expect(page.get_by_role("heading", name="Evicted 500 of 500 facts")).to_be_visible()
    assert person.interactions <= 6
    assert set(statuses(responder).values()) == {"evicted"}


def test_counts_of_button_preview_and_result_agree_and_gone_ones_stand_apart(
    windows: Windows, responder: Person
) -> None:
    fill(responder, 6)
    other = make_person(responder.access, Role.RESPONDER)
    window = windows(responder)
    first = open_preview(window)
    first.goto(f"{first.url}/rows?group=evict")
    first.locator("input[name=tick]").nth(0).uncheck()
    expect(first.locator("[data-asked='5']")).to_be_visible()
    first.get_by_role("link", name="Back to the preview").click()
    submit(first)
    work(responder)
    theirs = windows(other)
    page = open_preview(theirs)
    assert (number(page, "evict"), number(page, "gone"), number(page, "total")) == (1, 5, 6)
    expect(page.get_by_role("button", name="Evict 1 fact")).to_be_visible()
    submit(page)
    work(responder)
    page.reload()
    expect(page.locator("[data-receipt=changed]")).to_have_text("1")


def test_groups_of_a_preview_add_up_with_shared_held_and_gone(
    windows: Windows, responder: Person
) -> None:
    fill(responder, 4)
    put(responder.access, "thing 0", predicate="owns", session="good")
    with workspace_scope(responder.access.workspace_id):
        rows = MemoryRecord.objects.filter(workspace_id=responder.access.workspace_id)
        ids = {row.value: row.id for row in rows}
    holds.place("record", ids["thing 1"], "court", access=responder.access)
    page = open_preview(windows(responder))
    found = {name: number(page, name) for name in ("evict", "shared", "hold", "gone")}
    assert found == {"evict": 2, "shared": 1, "hold": 1, "gone": 0}
    assert sum(found.values()) == number(page, "total")
    expect(page.locator("[data-sum]")).to_contain_text(
        "2 will be evicted + 1 also asserted by others + 1 on legal hold = 4 in all"
    )
    expect(page.get_by_role("region", name="On legal hold", exact=True)).to_contain_text("thing 1")
    page.get_by_label("Evict them all the same").check()
    page.get_by_role("button", name="Preview it this way").click()
    expect(page.get_by_role("heading", name="Evict 3 facts?")).to_be_visible()


def test_fact_added_between_preview_and_run_stops_it_and_shows_plus_one(
    windows: Windows, responder: Person
) -> None:
    fill(responder, 3)
    page = open_preview(windows(responder))
    put(responder.access, "one more", predicate="owns", session="bad")
    submit(page)
    work(responder)
    expect(page.locator("[data-drift]")).to_contain_text("+1 new")
    assert set(statuses(responder).values()) == {"active"}
    page.get_by_role("button", name="Make a new preview").click()
    expect(page.get_by_role("heading", name="Evict 4 facts?")).to_be_visible()
    expect(page.get_by_label("Reason")).to_have_value("poison")


def test_five_unticked_rows_over_two_pages_stay_and_exactly_the_rest_goes(
    windows: Windows, responder: Person
) -> None:
    fill(responder, 60)
    page = open_preview(windows(responder))
    page.get_by_role("link", name=re.compile("See all and leave some out")).click()
    for place in range(4):
        page.locator("input[name=tick]").nth(place).uncheck()
        expect(page.locator(f"[data-asked='{59 - place}']")).to_be_visible()
    page.get_by_role("link", name="Next page").click()
    expect(page.locator("input[name=tick]")).to_have_count(10)
    page.locator("input[name=tick]").nth(0).uncheck()
    expect(page.locator("[data-asked='55']")).to_be_visible()
    page.get_by_role("link", name="Back to the preview").click()
    expect(page.get_by_role("heading", name="Evict 55 facts?")).to_be_visible()
    submit(page)
    work(responder)
    assert sorted(statuses(responder).values()).count("active") == 5
    assert sorted(statuses(responder).values()).count("evicted") == 55


def test_over_the_threshold_it_waits_for_another_and_not_for_the_one_who_asked(
    windows: Windows,
) -> None:
    asker = make_person(role=Role.APPROVER)
    second = make_person(asker.access, Role.APPROVER)
    settle(asker, four_eyes={"bulk": 3})
    fill(asker, 5)
    page = open_preview(windows(asker))
    expect(page.get_by_text("needs a second person, because")).to_be_visible()
    submit(page)
    expect(page.get_by_role("heading", name="A second person must agree")).to_be_visible()
    page.get_by_role("link", name="To the request").click()
    expect(page.get_by_text("You asked for it: somebody else must agree.")).to_be_visible()
    assert page.locator("[name=answer]").count() == 0
    with workspace_scope(asker.access.workspace_id):
        approval = Approval.objects.get(workspace_id=asker.access.workspace_id)
    assert asker.post(f"approvals/{approval.id}/decide", {"answer": "approve"}).status_code == 403
    theirs = windows(second).open("approvals")
    theirs.get_by_role("link", name=re.compile("5 facts")).click()
    expect(theirs.locator("[data-drift]")).to_contain_text("Nothing has changed")
    assert number(theirs, "evict") == 5
    theirs.keyboard.press("a")
    expect(theirs.locator("#operation-progress")).to_be_visible()
    work(asker)
    expect(theirs.get_by_role("heading", name="Evicted 5 of 5 facts")).to_be_visible()


def test_request_that_nobody_answered_expires(windows: Windows) -> None:
    asker = make_person(role=Role.APPROVER)
    second = make_person(asker.access, Role.APPROVER)
    settle(asker, four_eyes={"bulk": 1})
    fill(asker, 2)
    made = operations.preview(
        "evict",
        Scope(session_ids=(session_of(asker, "bad"),)),
        access=asker.access,
        user_id=asker.user.id,
    )
    late = operations.submit(
        made.id,
        digest=made.digest,
        reason="poison",
        access=asker.access,
        user_id=asker.user.id,
        now=datetime.now(UTC) - timedelta(hours=73),
    )
    theirs = windows(second).open("approvals")
    expect(theirs.locator("tr.is-dimmed")).to_contain_text("expired")
    theirs.get_by_role("link", name=re.compile("2 facts")).click()
    expect(theirs.get_by_text("nobody answered")).to_be_visible()
    assert theirs.locator("[name=answer]").count() == 0
    answer = second.post(f"approvals/{late.approval_id}/decide", {"answer": "approve"})
    assert answer.status_code == 409
    runs.perform(APPROVALS, asker.access.workspace_id, approvals.expire_approvals)
    page = windows(asker).open(f"operations/{late.id}")
    expect(page.get_by_role("heading", name="Nobody agreed in time")).to_be_visible()
    assert set(statuses(asker).values()) == {"active"}


def test_progress_is_announced_and_refresh_and_return_show_the_same(
    windows: Windows, responder: Person, monkeypatch: Any
) -> None:
    fill(responder, 8)
    window = windows(responder)
    page = open_preview(window)
    submit(page)
    address = page.url
    expect(page.locator("#operation-progress")).to_contain_text("0 of 8")
    with page.expect_response(re.compile("/progress")):
        pass
    focused = "document.activeElement.closest('#operation-progress')"
    assert page.evaluate(f"{focused} === null"), "what polls takes the focus from nobody"
    monkeypatch.setattr(running, "BATCH", 4)
    act = running.act  # type: ignore[attr-defined]
    seen: list[str] = []

    def watch(*args: Any, **named: Any) -> Any:
        if seen:  # half of it is done and committed
            expect(page.locator("#operation-progress [data-done='4']")).to_be_visible()
            expect(page.locator("#live")).to_contain_text("4 of 8")
            page.reload()
            expect(page.locator("#operation-progress [data-done='4']")).to_be_visible()
            window.open("operations")
            expect(page.locator("tbody tr").first).to_contain_text("running")
            page.goto(address)
        seen.append("batch")
        return act(*args, **named)

    monkeypatch.setattr(running, "act", watch)
    work(responder)
    expect(page.get_by_role("heading", name="Evicted 8 of 8 facts")).to_be_focused()
    assert len(seen) == 2


@pytest.mark.full
def test_fifty_thousand_facts_run_while_pages_stay_usable(
    windows: Windows, responder: Person
) -> None:
    from threading import Thread

    from django.db import connections

    access = responder.access
    factories.make_many(
        access,
        50_000,
        "evil",
        factories.make_partition(access, "ada"),
        factories.make_source(access),
        factories.make_session(access, "ada", "bad"),
    )
    settle(responder, four_eyes={"bulk": 1_000_000})
    window = windows(responder)
    page = open_preview(window)
    page.get_by_label("How many facts are these?").fill("50000")
    submit(page)
    address = page.url

    def run() -> None:
        try:
            work(responder)
        finally:
            connections.close_all()

    worker = Thread(target=run)
    worker.start()
    for path in ("records", "sessions", "operations"):
        window.open(path)
        expect(page.locator("h1")).to_be_visible()
    page.goto(address)
    worker.join()
    page.reload()
    expect(page.get_by_role("heading", name="Evicted 50,000 of 50,000 facts")).to_be_visible()
    expect(page.locator("[data-receipt=residue]")).to_have_text("0")


def test_after_it_nothing_is_found_by_text_id_or_likeness_and_a_replay_is_counted(
    windows: Windows, responder: Person
) -> None:
    put(responder.access, "Evil Corp", session="bad")
    page = open_preview(windows(responder))
    submit(page)
    work(responder)
    expect(page.locator("[data-receipt=residue]")).to_have_text("0")
    for query in ("Evil Corp", "who does Ada work for, which employer"):
        request = RecallRequest(partition="ada", query=query, session="reader")
        assert [one.value for one in recall(request, access=responder.access).items] == []
    again = put_again(responder)
    assert again == "fenced"
    page.reload()
    expect(page.locator("[data-receipt=attempts]")).to_have_text("1")


def put_again(person: Person) -> str:
    """Let the same session assert the same fact once more."""
    return str(put(person.access, "Evil Corp", session="bad").decision)


def test_undo_restores_all_but_what_changed_since_and_lists_it(
    windows: Windows, responder: Person
) -> None:
    fill(responder, 5)
    page = open_preview(windows(responder))
    submit(page)
    work(responder)
    expect(page.get_by_role("heading", name="Evicted 5 of 5 facts")).to_be_visible()
    put(responder.access, "thing 0", predicate="owns", session="other")
    page.keyboard.press("z")
    expect(page.get_by_role("heading", name="Restore 4 facts?")).to_be_visible()
    expect(page.get_by_role("region", name="Stored anew since", exact=True)).to_contain_text(
        "thing 0"
    )
    submit(page, "it was right")
    work(responder)
    expect(page.get_by_role("heading", name="Restored 4 of 4 facts")).to_be_visible()
    with workspace_scope(responder.access.workspace_id):
        undone = Operation.objects.filter(
            workspace_id=responder.access.workspace_id, kind="restore", state="done"
        )
        assert undone.count() == 1


def test_cancelled_run_leaves_a_truthful_receipt_that_goes_on(
    windows: Windows, responder: Person, monkeypatch: Any
) -> None:
    fill(responder, 6)
    page = open_preview(windows(responder))
    submit(page)
    expect(page.locator("#operation-progress")).to_be_visible()
    monkeypatch.setattr(running, "BATCH", 2)
    act = running.act  # type: ignore[attr-defined]

    def cancel(*args: Any, **named: Any) -> Any:
        done = act(*args, **named)
        operations.cancel(args[0].id, access=responder.access)
        return done

    monkeypatch.setattr(running, "act", cancel)
    work(responder)
    expect(page.get_by_role("heading", name="Cancelled after 2 of 6 facts")).to_be_visible()
    expect(page.get_by_role("button", name="Undo")).to_be_visible()
    assert sorted(statuses(responder).values()).count("evicted") == 2
    monkeypatch.setattr(running, "act", act)
    page.get_by_role("button", name="Go on with the rest").click()
    work(responder)
    expect(page.get_by_role("heading", name="Evicted 6 of 6 facts")).to_be_visible()


def test_erasure_waits_for_the_right_number_and_names_what_is_on_hold(windows: Windows) -> None:
    approver = make_person(role=Role.APPROVER)
    path = erasure(approver)
    page = windows(approver).open(path)
    expect(page.get_by_role("region", name="On legal hold", exact=True)).to_contain_text("thing 1")
    button = page.locator("#acts button[type=submit]")
    expect(button).to_be_disabled()
    page.get_by_label("How many facts are these?").fill("3")
    expect(button).to_be_disabled()
    page.get_by_label("How many facts are these?").fill("2")
    expect(button).to_be_enabled()


def erasure(person: Person) -> str:
    fill(person, 3)
    with workspace_scope(person.access.workspace_id):
        kept = MemoryRecord.objects.get(workspace_id=person.access.workspace_id, value="thing 1")
    holds.place("record", kept.id, "court", access=person.access)
    made = operations.preview(
        "erase",
        Scope(session_ids=(session_of(person, "bad"),)),
        access=person.access,
        user_id=person.user.id,
    )
    return f"operations/{made.id}"


def test_colleague_sees_a_notice_of_the_bulk_act_and_dismisses_it(
    windows: Windows, responder: Person
) -> None:
    colleague = make_person(responder.access, Role.ADMINISTRATOR)
    fill(responder, 2)
    page = open_preview(windows(responder))
    submit(page)
    work(responder)
    theirs = windows(colleague)
    other = theirs.open("records")
    notice = other.locator(".bulk-notice")
    expect(notice).to_contain_text(f"{responder.user.username} evicted 2 facts")
    notice.get_by_role("button", name="I have seen it").click()
    expect(notice).to_have_count(0)
    other.reload()
    expect(other.get_by_role("heading", name="Records")).to_be_visible()
    expect(notice).to_have_count(0)


def test_keyboard_alone_leads_from_a_session_to_its_eviction_and_the_list(
    windows: Windows, responder: Person
) -> None:
    fill(responder, 2)
    window = windows(responder)
    page = window.open(f"sessions/{session_of(responder, 'bad')}")
    window.settle()
    page.keyboard.press("p")
    expect(page.get_by_role("button", name="Make the preview")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Evict 2 facts?")).to_be_visible()
    reach(page, page.get_by_label("Reason"))
    page.keyboard.type("poison")
    reach(page, page.locator("#acts button[type=submit]"))
    page.keyboard.press("Enter")
    expect(page.locator("#operation-progress")).to_be_visible()
    work(responder)
    expect(page.get_by_role("heading", name="Evicted 2 of 2 facts")).to_be_visible()
    page.keyboard.press("u")
    expect(page.get_by_role("heading", name="Operations")).to_be_visible()
    page.keyboard.press("j")
    page.keyboard.press("o")
    expect(page.get_by_role("heading", name="Evicted 2 of 2 facts")).to_be_visible()


def reach(page: Page, target: Any) -> None:
    """Press Tab until a control has the focus."""
    for _ in range(80):
        if target.evaluate("one => one === document.activeElement"):
            return
        page.keyboard.press("Tab")
    raise AssertionError("Tab does not reach it")


# Axe: every page and state.
class Seeded:
    """A workspace with an operation in every state."""

    def __init__(self) -> None:
        self.person = make_person(role=Role.ADMINISTRATOR)
        self.second = make_person(self.person.access, Role.APPROVER)
        person = self.person
        put(person.access, "Acme", session="good", confidence=0.7)
        put(person.access, "Evil \u202ecorp\u200b", session="bad", confidence=0.9)
        put(person.access, "Leeds", predicate="city", session="bad")
        put(person.access, "Leeds", predicate="city", session="good")
        fill(person, 4)
        self.paths = {"preview": self.preview()}
        self.paths["drifted"] = self.submit(self.preview())
        put(person.access, "late", predicate="owns", session="bad")
        work(person)
        self.paths["done"] = self.submit(self.preview())
        work(person)
        undo = operations.preview_undo(
            stored(self.paths["done"], person).id,
            access=person.access,
            user_id=person.user.id,
        )
        self.paths["restore"] = f"operations/{undo.id}"
        settle(person, four_eyes={"bulk": 1})
        fill(person, 3, "worse")
        self.paths["waiting"] = self.submit(self.preview("worse"))
        self.approval = stored(self.paths["waiting"], person).approval_id
        fill(person, 3, "worst")
        self.paths["refused"] = self.submit(self.preview("worst"))
        refused = stored(self.paths["refused"], person).approval_id
        self.second.post(f"approvals/{refused}/decide", {"answer": "refuse", "reason": "no"})
        settle(person, four_eyes={"bulk": 1000})
        fill(person, 2, "last")
        self.paths["queued"] = self.submit(self.preview("last"))

    def preview(self, session: str = "bad") -> str:
        made = operations.preview(
            "evict",
            Scope(session_ids=(session_of(self.person, session),)),
            access=self.person.access,
            user_id=self.person.user.id,
        )
        return f"operations/{made.id}"

    def submit(self, path: str) -> str:
        operation = stored(path, self.person)
        operations.submit(
            operation.id,
            digest=operation.digest,
            reason="poison",
            note="seen at 14:02",
            access=self.person.access,
            user_id=self.person.user.id,
        )
        return path


@pytest.fixture(scope="module")
def seeded(django_db_setup: None, django_db_blocker: Any) -> Seeded:
    with django_db_blocker.unblock():
        return Seeded()


def _at(name: str, rest: str = "") -> Callable[[Window, Seeded], None]:
    return lambda window, seeded: _open(window, seeded.paths[name] + rest)


def _simple(path: str) -> Callable[[Window, Seeded], None]:
    return lambda window, seeded: _open(window, path.format(approval=seeded.approval))


def _open(window: Window, path: str) -> None:
    window.open(path)
    window.settle()


def _queued(window: Window, seeded: Seeded) -> None:
    window.open(seeded.paths["queued"])
    expect(window.page.locator("#operation-progress")).to_be_visible()


def _no_reason(window: Window, seeded: Seeded) -> None:
    window.open(seeded.preview("good"))
    window.page.get_by_label("Reason").fill(" ")
    window.page.locator("#acts button[type=submit]").click()
    expect(window.page.locator(".field-error")).to_be_visible()


STATES: dict[str, Callable[[Window, Seeded], None]] = {
    "new": _simple("operations/new"),
    "new wrong": _simple("operations/new?colour=red&status=blue&since=x"),
    "preview": _at("preview"),
    "preview error": _no_reason,
    "rows": _at("preview", "/rows"),
    "rows end": _at("preview", "/rows?group=gone"),
    "drifted": _at("drifted"),
    "done": _at("done"),
    "restore": _at("restore"),
    "waiting": _at("waiting"),
    "refused": _at("refused"),
    "queued": _queued,
    "operations": _simple("operations"),
    "operations empty": _simple("operations?kind=erase&colour=red"),
    "approvals": _simple("approvals"),
    "approvals history": _simple("approvals?state=any"),
    "approval": _simple("approvals/{approval}"),
    "four eyes": _simple("four-eyes"),
}
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
    who = seeded.second if state == "approval" else seeded.person
    window = windows(who, viewport={"width": width, "height": 900}, color_scheme=theme)
    STATES[state](window, seeded)
    found = Axe().run(window.page, options=OPTIONS)
    assert found.violations_count == 0, found.generate_report()
    overflow = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    assert window.page.evaluate(overflow) <= 0
