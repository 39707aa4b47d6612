"""The pages of notifications: made, changed, tested, sent again; secrets shown once or never."""

from __future__ import annotations

import html
import re
from typing import Any
from uuid import uuid4

import pytest
from django.utils import timezone

from audits.domain.notices import ABOUT, Channel, Kind
from audits.domain.roles import Role
from audits.models import Notice, NoticeChannel, NoticeRule
from audits.notices import managing, outgoing
from audits.notices.managing import Told
from records.access import Access
from records.models import Event
from records.scope import workspace_scope

from .conftest import Person, make_person, text, words

HOOK = {"name": "On call", "kind": "webhook", "address": "https://hooks.example.org/T0K3N-part"}


@pytest.fixture(autouse=True)
def posted(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, bytes]]:
    """Take what would be posted; these tests are about pages."""
    taken: list[tuple[str, bytes]] = []
    monkeypatch.setattr(
        outgoing, "post", lambda url, body, *args, **more: taken.append((url, body))
    )
    return taken


def channel(person: Person) -> Any:
    return managing.make_channel("On call", Channel.WEBHOOK, HOOK["address"], access=person.access)[
        0
    ]


def rule(person: Person, channel_id: Any, kind: Kind = Kind.ODD_SESSION) -> Any:
    threshold = ABOUT[kind].default if ABOUT[kind].number else None
    return managing.make_rule(Told(kind, channel_id, threshold, 60), access=person.access)


def failed(access: Access, channel_id: Any) -> Any:
    notice_id = uuid4()
    with workspace_scope(access.workspace_id):
        Notice.objects.create(
            id=notice_id, workspace_id=access.workspace_id, channel_id=channel_id,
            kind="job_failed", target_kind="job", target="rescan", numbers={"count": 1},
            state="failed", attempts=10, fault="answered 500", next_at=timezone.now(),
        )  # fmt: skip
    return notice_id


def test_empty_page_says_what_to_do_first(admin: Person) -> None:
    page = words(admin.get("notifications"))
    assert "Make a channel first" in page
    assert "Nothing was sent yet" in words(admin.get("notifications/sent"))
    assert "There is no channel yet" in words(admin.get("notifications/rules/new"))


def test_a_webhooks_key_is_shown_once_and_its_address_never_again(admin: Person) -> None:
    made = admin.post("notifications/channels/new", HOOK)
    assert made.status_code == 200
    (key,) = re.findall(r'id="signing-key">([^<]+)<', text(made))
    assert len(key) >= 40
    for path in ("notifications", "notifications/sent"):
        page = text(admin.get(path))
        assert key not in page
        assert "T0K3N" not in page
    assert "https://hooks.example.org/…" in words(admin.get("notifications"))
    with workspace_scope(admin.access.workspace_id):
        found = NoticeChannel.objects.get()
        details = str([one.details for one in Event.objects.filter(action__startswith="notice.")])
    assert "T0K3N" not in text(admin.get(f"notifications/channels/{found.id}"))
    assert "T0K3N" not in details
    assert key not in details


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("address", "ftp://x", "must be an http or https address"),
        ("name", "", "required"),
        ("kind", "pigeon", "valid choice"),
        ("name", "x" * 101, "at most 100"),
    ],
)
def test_a_malformed_channel_is_refused_beside_its_field(
    admin: Person, field: str, value: str, said: str
) -> None:
    answer = admin.post("notifications/channels/new", HOOK | {field: value})
    assert answer.status_code == 422
    assert said in words(answer)
    with workspace_scope(admin.access.workspace_id):
        assert not NoticeChannel.objects.exists()


def test_a_rule_is_made_changed_and_removed_and_each_is_an_event(admin: Person) -> None:
    channel_id = channel(admin)
    data = {"kind": "odd_session", "channel": channel_id, "quiet_minutes": 30, "is_active": "on"}
    assert admin.post("notifications/rules/new", data).status_code == 302
    with workspace_scope(admin.access.workspace_id):
        made = NoticeRule.objects.get()
    assert made.threshold == ABOUT[Kind.ODD_SESSION].default
    assert "A session looks odd" in words(admin.get("notifications"))
    path = f"notifications/rules/{made.id}"
    change = {"channel": channel_id, "threshold": 85, "quiet_minutes": 0}
    assert admin.post(path, change).status_code == 302
    wrong = admin.post(path, change | {"threshold": 101})
    assert wrong.status_code == 422
    assert "from 1 to 100" in words(wrong)
    with workspace_scope(admin.access.workspace_id):
        made.refresh_from_db()
    assert (made.threshold, made.quiet_minutes, made.is_active) == (85, 0, False)
    assert admin.post(f"{path}/remove", {}).status_code == 422
    assert admin.post(f"{path}/remove", {"reason": "enough"}).status_code == 302
    assert admin.get(path).status_code == 404
    with workspace_scope(admin.access.workspace_id):
        actions = [one.action for one in Event.objects.filter(target_id=made.id).order_by("id")]
    assert actions == ["notice.rule_made", "notice.rule_changed", "notice.rule_removed"]


def test_a_test_says_whether_it_was_taken(
    admin: Person, posted: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    channel_id = channel(admin)
    path = f"notifications/channels/{channel_id}/test"
    answer = admin.client.post(admin.url(path), follow=True)
    assert "The test was taken." in words(answer)
    ((url, body),) = posted
    assert url == HOOK["address"]
    assert b'"test": true' in body

    def refuses(*args: Any, **more: Any) -> None:
        raise outgoing.UnreachableError("answered 404")

    monkeypatch.setattr(outgoing, "post", refuses)
    answer = admin.client.post(admin.url(path), follow=True)
    assert "The test was not taken: answered 404." in words(answer)


def test_a_notice_that_was_given_up_is_listed_with_why_and_goes_again(admin: Person) -> None:
    notice_id = failed(admin.access, channel(admin))
    for path in ("notifications/sent", f"notifications/sent/{notice_id}"):
        assert "given up" in words(admin.get(path))
    assert f'href="{admin.url("jobs")}"' in text(admin.get(f"notifications/sent/{notice_id}"))
    assert "answered 500" in words(admin.get("notifications/sent", state="failed"))
    assert "No notice is in this state" in words(admin.get("notifications/sent", state="sent"))
    answer = admin.client.post(admin.url(f"notifications/sent/{notice_id}/retry"), follow=True)
    assert "goes again" in words(answer)
    again = admin.client.post(admin.url(f"notifications/sent/{notice_id}/retry"), follow=True)
    assert "Nothing changed" in words(again)


def test_unknown_filters_become_visible_warnings(admin: Person) -> None:
    assert "There is no state odd" in words(admin.get("notifications/sent", state="odd"))
    assert "begin again" in words(admin.get("notifications/sent", after="made-up"))


def test_the_list_goes_on_page_by_page_without_repeating(admin: Person) -> None:
    channel_id = channel(admin)
    for _ in range(60):
        failed(admin.access, channel_id)
    seen: list[str] = []
    path = "notifications/sent"
    for _ in range(2):
        page = text(admin.client.get(admin.url(path)))
        seen += re.findall(r"/sent/([0-9a-f-]{36})\"", page)
        older = re.search(r'rel="next" href="[^"?]*\?([^"]+)"', page)
        path = f"notifications/sent?{html.unescape(older[1])}" if older else ""
    assert path == ""
    assert len(seen) == len(set(seen)) == 60


def test_who_may_see_may_not_change(admin: Person) -> None:
    channel_id = channel(admin)
    rule(admin, channel_id)
    failed(admin.access, channel_id)
    auditor = make_person(admin.access, Role.AUDITOR)
    for path in ("notifications", "notifications/sent"):
        page = text(auditor.get(path))
        assert "On call" in page
        for act in ("/test", "/retry", "/new", "/remove"):
            assert f'{act}"' not in page
    assert auditor.post(f"notifications/channels/{channel_id}/test").status_code == 403
    assert make_person(admin.access, Role.VIEWER).get("notifications").status_code == 403


def test_a_foreign_workspace_sees_and_reaches_nothing(admin: Person, stranger: Person) -> None:
    channel_id = channel(admin)
    rule_id, notice_id = rule(admin, channel_id), failed(admin.access, channel_id)
    assert "On call" not in text(stranger.get("notifications"))
    for path in (
        f"notifications/channels/{channel_id}",
        f"notifications/rules/{rule_id}",
        f"notifications/sent/{notice_id}",
    ):
        assert stranger.get(path).status_code == 404
        assert admin.get(path).status_code == 200
    for path in (
        f"notifications/channels/{channel_id}/test",
        f"notifications/sent/{notice_id}/retry",
    ):
        assert stranger.post(path).status_code == 404
    data = {"kind": "duplicates", "channel": channel_id, "quiet_minutes": 5}
    assert stranger.post("notifications/rules/new", data).status_code in (200, 422)
    with workspace_scope(stranger.access.workspace_id):
        assert not NoticeRule.objects.exists()


def test_pages_ask_few_questions_however_much_there_is(admin: Person) -> None:
    from django.db import connections
    from django.test.utils import CaptureQueriesContext

    channel_id = channel(admin)

    def asked(path: str) -> int:
        with CaptureQueriesContext(connections["default"]) as captured:
            admin.get(path)
        return len(captured)

    first = {path: asked(path) for path in ("notifications", "notifications/sent")}
    for kind in (Kind.ODD_SESSION, Kind.DUPLICATES, Kind.JOB_FAILED):
        rule(admin, channel_id, kind)
        failed(admin.access, channel_id)
    for path, number in first.items():
        assert asked(path) == number
        assert number <= 14  # log-in, membership, scope and shell among them
