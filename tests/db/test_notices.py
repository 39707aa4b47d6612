"""Notices: raised with their event, kept quiet, delivered at least once, signed, and silent."""

from __future__ import annotations

import hmac
import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest
from aiosmtpd.controller import Controller
from django.db import connections
from django.utils import timezone

from audits import jobs
from audits.domain.notices import ATTEMPTS, STORM, Channel, Kind
from audits.models import Incident, SessionSuspicion
from audits.notices import channels, delivering, managing, outgoing, raising, secrets, watching
from audits.notices.managing import Told
from audits.notices.raising import Signal
from records import curate, events, queries
from records.access import Access
from records.events import Happening
from records.items import BadRequest, NotFound
from records.jobs.runs import perform
from records.models import JobRun
from records.scope import workspace_scope
from tests.factories import make_session, select

SOON = timedelta(hours=2)


class Place:
    """A web server that keeps what it is sent and answers what it is told to."""

    def __init__(self) -> None:
        self.answers: list[int] = []
        self.got: list[tuple[dict[str, str], bytes]] = []
        self.redirect = ""
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                outer.got.append((dict(self.headers), body))
                status = outer.answers.pop(0) if outer.answers else 204
                self.send_response(status)
                if 300 <= status < 400:
                    self.send_header("Location", outer.redirect)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *args: Any) -> None:
                pass

        self.server = HTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/hook?token=hidden"

    @property
    def bodies(self) -> list[dict[str, Any]]:
        return [json.loads(body) for _, body in self.got]


@contextmanager
def serving() -> Iterator[Place]:
    place = Place()
    thread = threading.Thread(target=place.server.serve_forever, daemon=True)
    thread.start()
    try:
        yield place
    finally:
        place.server.shutdown()
        place.server.server_close()
        thread.join()


@pytest.fixture(autouse=True)
def _private_is_meant(settings: Any) -> None:
    settings.NOTICES_PRIVATE = True
    settings.PUBLIC_URL = "https://memory.example"


@pytest.fixture
def place() -> Iterator[Place]:
    with serving() as found:
        yield found


def hook(access: Access, place: Place) -> tuple[UUID, str]:
    return managing.make_channel("on call", Channel.WEBHOOK, place.url, access=access)


def rule(
    access: Access,
    channel_id: UUID,
    kind: Kind = Kind.CONTAINMENT,
    *,
    threshold: float | None = None,
    quiet: int = 60,
) -> UUID:
    return managing.make_rule(Told(kind, channel_id, threshold, quiet), access=access)


def notices(access: Access) -> list[tuple[Any, ...]]:
    return select(
        access,
        "SELECT kind, target, state, attempts, more, fault FROM notice ORDER BY id",
        [],
    )


def suspended(access: Access, name: str = "s1") -> UUID:
    session_id = make_session(access, "alice", name)
    curate.suspend("session", session_id, "looks odd", access=access)
    return session_id


def deliver(access: Access, *, later: timedelta = timedelta()) -> int:
    """Send what is due, as a worker would at that time."""
    with workspace_scope(access.workspace_id):
        claimed = delivering.claim(access.workspace_id, now=timezone.now() + later)
    for one in claimed:
        delivering.attempt(one, access=access)
    return len(claimed)


def actions(access: Access) -> list[str]:
    return [
        row[0]
        for row in select(
            access, "SELECT action FROM event WHERE action LIKE 'notice.%%' ORDER BY id", []
        )
    ]


def test_a_notice_is_written_with_its_event_or_not_at_all(access: Access, place: Place) -> None:
    rule(access, hook(access, place)[0])

    def broken_off() -> None:
        with workspace_scope(access.workspace_id):
            events.append([Happening("session.suspended", "session")], access=access)
            assert raising.load_rules(access.workspace_id, [Kind.CONTAINMENT])
            raise RuntimeError

    with pytest.raises(RuntimeError):
        broken_off()
    assert notices(access) == []
    session_id = suspended(access)
    assert notices(access) == [("containment", str(session_id), "waiting", 0, 0, "")]


def test_other_events_denied_ones_and_other_workspaces_raise_nothing(
    access: Access, stranger: Access, place: Place
) -> None:
    rule(access, hook(access, place)[0])
    suspended(stranger)
    with workspace_scope(access.workspace_id):
        events.append(
            [
                Happening("session.suspended", "session", outcome="denied"),
                Happening("record.added", "record"),
            ],
            access=access,
        )
    assert notices(access) == []
    assert notices(stranger) == []


def test_what_a_key_of_one_partition_does_is_told_as_well(access: Access, place: Place) -> None:
    rule(access, hook(access, place)[0])
    session_id = make_session(access, "alice", "s1")
    curate.suspend("session", session_id, "odd", access=replace(access, partition="alice"))
    assert [row[1] for row in notices(access)] == [str(session_id)]


def test_a_webhook_gets_a_signed_notice_with_ids_counts_and_a_link_alone(
    access: Access, place: Place
) -> None:
    channel_id, key = hook(access, place)
    rule(access, channel_id)
    session_id = suspended(access)
    assert deliver(access) == 1
    ((headers, body),) = place.got
    said = json.loads(body)
    expected = hmac.digest(
        key.encode(), headers["MemConsole-Timestamp"].encode() + b"." + body, "sha256"
    ).hex()
    assert headers["MemConsole-Signature"] == f"sha256={expected}"
    assert headers["MemConsole-Delivery"] == said["id"]
    assert abs(int(headers["MemConsole-Timestamp"]) - datetime.now(UTC).timestamp()) < 60
    assert said["target"] == {"kind": "session", "id": str(session_id)}
    assert said["url"] == f"https://memory.example/w/{access.workspace}/sessions/{session_id}"
    assert "looks odd" not in body.decode()  # what people wrote stays inside as well
    assert notices(access)[0][2:4] == ("sent", 1)
    assert deliver(access) == 0


def test_what_is_not_taken_goes_again_later_under_the_same_id_and_is_given_up_with_an_event(
    access: Access, place: Place
) -> None:
    rule(access, hook(access, place)[0])
    suspended(access)
    place.answers = [500] * ATTEMPTS
    assert deliver(access) == 1
    assert notices(access)[0][2:6] == ("waiting", 1, 0, "answered 500")
    assert deliver(access) == 0  # not before its pause is over
    for _ in range(ATTEMPTS - 1):
        assert deliver(access, later=SOON) == 1
    assert notices(access)[0][2:4] == ("failed", ATTEMPTS)
    assert len({one["id"] for one in place.bodies}) == 1
    assert len(place.got) == ATTEMPTS
    assert actions(access)[-1] == "notice.failed"
    assert select(access, "SELECT count(*) FROM notice_attempt", []) == [(ATTEMPTS,)]


def test_a_notice_that_was_given_up_goes_again_when_somebody_asks(
    access: Access, stranger: Access, place: Place
) -> None:
    rule(access, hook(access, place)[0])
    suspended(access)
    place.answers = [500] * ATTEMPTS
    for _ in range(ATTEMPTS):
        deliver(access, later=SOON)
    ((notice_id,),) = select(access, "SELECT id FROM notice", [])
    with pytest.raises(NotFound):
        managing.retry(notice_id, access=stranger)
    managing.retry(notice_id, access=access)
    assert deliver(access) == 1
    assert notices(access)[0][2] == "sent"
    assert place.bodies[-1]["id"] == str(notice_id)


def test_two_workers_at_once_send_each_notice_once(access: Access, place: Place) -> None:
    channel_id, _ = hook(access, place)
    rule(access, channel_id, quiet=0)
    for number in range(6):
        suspended(access, f"s{number}")
    taken: list[UUID] = []
    with workspace_scope(access.workspace_id):
        mine = delivering.claim(access.workspace_id, now=timezone.now(), batch=4)
        other = threading.Thread(target=lambda: taken.extend(_claim(access)))
        other.start()
        other.join()
    assert len(taken) == 2
    assert not {one.delivery.id for one in mine} & set(taken)


def _claim(access: Access) -> list[UUID]:
    try:
        with workspace_scope(access.workspace_id):
            return [
                one.delivery.id for one in delivering.claim(access.workspace_id, now=timezone.now())
            ]
    finally:
        connections.close_all()


def test_what_a_dead_worker_had_claimed_is_sent_by_another(access: Access, place: Place) -> None:
    rule(access, hook(access, place)[0])
    suspended(access)
    with workspace_scope(access.workspace_id):
        assert delivering.claim(access.workspace_id, now=timezone.now())
    assert deliver(access) == 0
    with workspace_scope(access.workspace_id):
        queries.cursor().execute("UPDATE notice SET claimed_at = claimed_at - interval '3 minutes'")
    assert deliver(access) == 1
    assert notices(access)[0][2:4] == ("sent", 2)


def test_a_late_worker_does_not_undo_what_another_has_sent(access: Access, place: Place) -> None:
    rule(access, hook(access, place)[0])
    suspended(access)
    with workspace_scope(access.workspace_id):
        (late,) = delivering.claim(access.workspace_id, now=timezone.now())
        queries.cursor().execute("UPDATE notice SET claimed_at = claimed_at - interval '3 minutes'")
    deliver(access)
    place.answers = [500]
    delivering.attempt(late, access=access)
    assert notices(access)[0][2] == "sent"


def test_a_target_is_told_of_once_in_a_quiet_period_and_the_rest_is_counted(
    access: Access, place: Place
) -> None:
    rule(access, hook(access, place)[0])
    session_id = suspended(access)
    for _ in range(2):
        curate.release("session", session_id, "fine", access=access)
        curate.suspend("session", session_id, "odd", access=access)
    suspended(access, "another")
    assert len(notices(access)) == 2  # one for each target
    with workspace_scope(access.workspace_id):
        assert raising.tell_kept(access.workspace_id, timezone.now()) == 0
        assert raising.tell_kept(access.workspace_id, timezone.now() + SOON) == 1
        assert raising.tell_kept(access.workspace_id, timezone.now() + SOON) == 0
    assert [(row[1], row[4]) for row in notices(access)][-1] == (str(session_id), 4)
    deliver(access, later=SOON)
    assert "4 more times" in place.bodies[-1]["sentence"]


def test_a_storm_of_targets_ends_in_one_notice_that_counts(access: Access, place: Place) -> None:
    rule(access, hook(access, place)[0])
    for number in range(STORM + 7):
        suspended(access, f"s{number}")
    assert len(notices(access)) == STORM
    with workspace_scope(access.workspace_id):
        assert raising.tell_kept(access.workspace_id, timezone.now() + SOON) == 1
    assert notices(access)[-1][4] == 7


def test_what_holds_on_is_told_again_each_period_and_not_counted(
    access: Access, place: Place
) -> None:
    rule(access, hook(access, place)[0], Kind.DUPLICATES)
    now = timezone.now()
    signal = Signal(Kind.DUPLICATES, numbers={"count": 2}, level=True)
    with workspace_scope(access.workspace_id):
        told = [
            raising.raise_all(
                [signal], workspace_id=access.workspace_id, now=now + timedelta(minutes=m)
            )
            for m in (0, 1, 59, 61, 62)
        ]
    assert told == [1, 0, 0, 1, 0]
    assert [row[4] for row in notices(access)] == [0, 0]


@pytest.mark.parametrize(
    ("kind", "threshold", "numbers"),
    [
        (Kind.QUARANTINE_AGE, 2.0, {"held_oldest_at": "-3h", "held": {"high": 4}}),
        (Kind.GATE_BURST, 5.0, {"gate": {"rule": [9, 1]}}),
        (Kind.DUPLICATES, None, {"duplicates": {"repeats": 1, "checked": 9}}),
    ],
)
def test_measured_numbers_raise_what_a_rule_asks_for_and_no_less(
    access: Access, place: Place, kind: Kind, threshold: float | None, numbers: dict[str, Any]
) -> None:
    now = timezone.now()
    calm = {
        "held_oldest_at": None,
        "held": {},
        "gate": {"rule": [0, 0]},
        "duplicates": {"repeats": 0, "checked": 9},
    }
    loud = calm | numbers
    if loud["held_oldest_at"]:
        loud["held_oldest_at"] = (now - timedelta(hours=3)).isoformat()
    rule(access, hook(access, place)[0], kind, threshold=threshold)
    cursor: dict[str, Any] = {}
    with workspace_scope(access.workspace_id):
        for each, told in ((calm, 0), (loud, 1)):
            signals = list(watching.measured(each, cursor, now))
            assert raising.raise_all(signals, workspace_id=access.workspace_id, now=now) == told
            now += timedelta(minutes=2)
    assert [row[0] for row in notices(access)] == [str(kind)]


def test_failed_runs_odd_sessions_and_waiting_incidents_are_seen_once(
    access: Access, stranger: Access, place: Place
) -> None:
    channel_id, _ = hook(access, place)
    rule(access, channel_id, Kind.JOB_FAILED)
    rule(access, channel_id, Kind.ODD_SESSION, threshold=70)
    rule(access, channel_id, Kind.INCIDENT_UNACKNOWLEDGED, threshold=30)
    now = timezone.now()
    cursor: dict[str, Any] = {"looked_at": (now - timedelta(minutes=5)).isoformat()}
    for each in (access, stranger):
        odd, usual = make_session(each, "alice", "odd"), make_session(each, "alice", "usual")
        with workspace_scope(each.workspace_id):
            _rows(each, now, odd, usual)
    with workspace_scope(access.workspace_id):
        told = [watching.look(access.workspace_id, cursor, now) for _ in range(2)]
    assert told == [3, 0]
    kinds = {row[0]: row[1] for row in notices(access)}
    assert kinds["job_failed"] == "rescan"
    assert kinds["odd_session"] == str(make_session(access, "alice", "odd"))
    assert set(kinds) == {"job_failed", "odd_session", "incident_unacknowledged"}


def _rows(access: Access, now: datetime, odd: UUID, usual: UUID) -> None:
    recently = now - timedelta(minutes=1)
    JobRun.objects.create(
        id=uuid4(), workspace_id=access.workspace_id, job="rescan", state="failed",
        started_at=recently, finished_at=recently,
    )  # fmt: skip
    for session_id, score in ((odd, 85), (usual, 20)):
        SessionSuspicion.objects.create(
            session_id=session_id, workspace_id=access.workspace_id,
            partition_id=access.partition_id("alice"), score=score, looked_at=recently,
            computed_at=recently,
        )  # fmt: skip
    for number, minutes in enumerate((45, 5), 1):
        Incident.objects.create(
            id=uuid4(), workspace_id=access.workspace_id, number=number, title="t",
            opened_by="test", opened_at=now - timedelta(minutes=minutes),
        )  # fmt: skip


def test_the_job_raises_and_sends_and_does_nothing_the_second_time(
    access: Access, place: Place
) -> None:
    rule(access, hook(access, place)[0])
    suspended(access)
    for _ in range(2):
        assert perform(jobs.NOTICES, access.workspace_id, delivering.work) is not None
    assert len(place.got) == 1


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "0.0.0.0",
        "100.64.0.1", "224.0.0.1", "::1", "::", "fe80::1%eth0", "fd00::1", "ff02::1",
        "::ffff:127.0.0.1", "::ffff:10.0.0.1", "2002:7f00:1::", "64:ff9b::7f00:1",
        "192.0.2.1", "198.18.0.1", "240.0.0.1",
    ],
)  # fmt: skip
def test_private_addresses_are_not_public_however_they_are_written(address: str) -> None:
    assert not outgoing.is_public(address)


@pytest.mark.parametrize("address", ["8.8.8.8", "2606:4700:4700::1111", "::ffff:8.8.8.8"])
def test_public_addresses_are(address: str) -> None:
    assert outgoing.is_public(address)


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "localhost", "[::1]", "2130706433", "0x7f.1", "127.1", "0"]
)
def test_a_webhook_at_a_private_address_is_refused_unless_that_is_meant(
    access: Access, place: Place, settings: Any, host: str
) -> None:
    settings.NOTICES_PRIVATE = False
    url = f"http://{host}:{place.server.server_port}/"
    channel_id, _ = managing.make_channel("inside", Channel.WEBHOOK, url, access=access)
    assert managing.send_test(channel_id, access=access) == outgoing.PRIVATE
    assert place.got == []


def test_a_name_that_answers_with_a_private_address_beside_a_public_one_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def both(*args: Any, **kwargs: Any) -> list[Any]:
        return [(0, 0, 0, "", ("8.8.8.8", 80)), (0, 0, 0, "", ("10.0.0.1", 80))]

    monkeypatch.setattr(outgoing.socket, "getaddrinfo", both)
    with pytest.raises(outgoing.UnreachableError, match="private"):
        outgoing.look_up("name.example", 80, is_private_allowed=False)


def test_the_address_that_was_looked_at_is_the_one_that_is_connected_to(
    access: Access, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    real = outgoing.socket.getaddrinfo

    def rebinding(host: str, *args: Any, **kwargs: Any) -> list[Any]:
        asked.append(host)
        return list(real("127.0.0.1", *args, **kwargs))

    monkeypatch.setattr(outgoing.socket, "getaddrinfo", rebinding)
    url = f"http://name.example:{place.server.server_port}/"
    outgoing.post(url, b"{}", {}, is_private_allowed=True)
    assert asked[0] == "name.example"
    assert "name.example" not in asked[1:]  # looked up once; then the address itself
    assert place.got[0][0]["Host"].startswith("name.example")


def test_an_answer_that_drips_is_broken_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outgoing, "DEADLINE", 0.3)
    ended = threading.Event()

    def drip(listener: socket.socket) -> None:
        peer, _ = listener.accept()
        with peer, suppress(OSError):
            peer.sendall(b"HTTP/1.1 200 OK\r\n")
            while not ended.wait(0.05):
                peer.sendall(b"X-More: 1\r\n")

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=drip, args=(listener,), daemon=True)
        thread.start()
        url = f"http://127.0.0.1:{listener.getsockname()[1]}/"
        with pytest.raises(outgoing.UnreachableError, match="no answer in time"):
            outgoing.post(url, b"{}", {}, is_private_allowed=True)
        ended.set()
        thread.join()


def test_a_redirect_is_not_followed(access: Access, place: Place) -> None:
    with serving() as elsewhere:
        place.answers, place.redirect = [302], elsewhere.url
        channel_id, _ = hook(access, place)
        assert "redirects are not followed" in managing.send_test(channel_id, access=access)
        assert elsewhere.got == []


def test_secrets_are_encrypted_and_neither_shown_nor_told(
    access: Access, place: Place, settings: Any
) -> None:
    channel_id, key = hook(access, place)
    ((stored, shown),) = select(access, "SELECT secret, place FROM notice_channel", [])
    for secret in (key, "token=hidden", "/hook"):
        assert secret.encode() not in bytes(stored)
        assert secret not in shown
    told = select(access, "SELECT details::text FROM event WHERE action LIKE 'notice.%%'", [])
    assert key not in str(told)
    assert "hidden" not in str(told)
    assert secrets.unseal(stored)["address"] == place.url
    assert Path(settings.NOTICE_KEY_FILE).stat().st_mode & 0o077 == 0
    managing.remove_channel(channel_id, reason="no longer", access=access)
    assert select(access, "SELECT octet_length(secret) FROM notice_channel", []) == [(0,)]


def test_a_secret_that_another_key_made_fails_the_delivery_with_a_reason(
    access: Access, place: Place, settings: Any, tmp_path: Path
) -> None:
    channel_id, _ = hook(access, place)
    settings.NOTICE_KEY_FILE = tmp_path / "other"
    assert "another key" in managing.send_test(channel_id, access=access)


def test_mail_carries_the_notice_and_its_id(access: Access, settings: Any) -> None:
    class Inbox:
        def __init__(self) -> None:
            self.got: list[tuple[list[str], str]] = []

        async def handle_DATA(self, server: Any, session: Any, envelope: Any) -> str:  # noqa: N802
            self.got.append((list(envelope.rcpt_tos), envelope.content.decode()))
            return "250 OK"

    inbox = Inbox()
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    controller = Controller(inbox, hostname="127.0.0.1", port=port)
    controller.start()
    try:
        settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
        settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", port
        settings.EMAIL_USE_TLS = settings.EMAIL_USE_SSL = False
        address = "Ada <ada@example.org>, on-call@example.org"
        channel_id, key = managing.make_channel("mail", Channel.EMAIL, address, access=access)
        assert key == ""
        rule(access, channel_id)
        session_id = suspended(access)
        deliver(access)
    finally:
        controller.stop()
    ((to, text),) = inbox.got
    assert to == ["ada@example.org", "on-call@example.org"]
    assert str(session_id) in text
    ((notice_id,),) = select(access, "SELECT id FROM notice", [])
    assert f"<{notice_id}@memconsole>" in text
    assert notices(access)[0][2] == "sent"


def test_a_mail_server_that_is_away_is_a_reason_to_try_again(access: Access, settings: Any) -> None:
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", 1
    channel_id, _ = managing.make_channel("mail", Channel.EMAIL, "a@example.org", access=access)
    rule(access, channel_id)
    suspended(access)
    deliver(access)
    assert notices(access)[0][2] == "waiting"
    assert "mail server" in notices(access)[0][5]


def test_chat_services_are_told_through_apprise(
    access: Access, monkeypatch: pytest.MonkeyPatch
) -> None:
    from apprise.decorators import notify

    got: list[tuple[str, str]] = []

    @notify(on="memtest")
    def take(body: str, title: str, notify_type: str, *args: Any, **kwargs: Any) -> bool:
        got.append((title, body))
        return len(got) > 1

    monkeypatch.setitem(channels.CHAT_SERVICES, "memtest", "Test")
    channel_id, _ = managing.make_channel("chat", Channel.CHAT, "memtest://", access=access)
    rule(access, channel_id)
    session_id = suspended(access)
    deliver(access)
    assert notices(access)[0][5] == "the service did not take it"
    deliver(access, later=SOON)
    assert notices(access)[0][2] == "sent"
    assert str(session_id) in got[1][1]


@pytest.mark.parametrize(
    ("kind", "address"),
    [
        (Channel.WEBHOOK, "ftp://example.org/"),
        (Channel.WEBHOOK, "https://user:password@example.org/"),
        (Channel.WEBHOOK, "https:///nowhere"),
        (Channel.EMAIL, "not an address"),
        (Channel.EMAIL, " , "),
        (Channel.EMAIL, "a@example.org\nBcc: b@example.org, c"),
        (Channel.CHAT, "json://127.0.0.1/"),
        (Channel.CHAT, "file:///etc/passwd"),
        (Channel.CHAT, "slack://"),
    ],
)
def test_an_address_to_which_nothing_can_be_sent_is_refused_by_name(
    access: Access, settings: Any, kind: Channel, address: str
) -> None:
    settings.EMAIL_HOST = "127.0.0.1"
    with pytest.raises(BadRequest) as refused:
        managing.make_channel("x", kind, address, access=access)
    assert refused.value.errors[0].field == "address"
    assert select(access, "SELECT 1 FROM notice_channel", []) == []


def test_a_rule_out_of_bounds_or_of_a_foreign_channel_is_refused(
    access: Access, stranger: Access, place: Place
) -> None:
    channel_id, _ = hook(access, place)
    for told, field in (
        (Told(Kind.ODD_SESSION, channel_id, 101, 60), "threshold"),
        (Told(Kind.ODD_SESSION, channel_id, None, 60), "threshold"),
        (Told(Kind.DUPLICATES, channel_id, None, -1), "quiet_minutes"),
        (Told(Kind.DUPLICATES, channel_id, None, 10_081), "quiet_minutes"),
    ):
        with pytest.raises(BadRequest) as refused:
            managing.make_rule(told, access=access)
        assert refused.value.errors[0].field == field
    with pytest.raises(NotFound):
        rule(stranger, channel_id)
    for act in (managing.remove_channel, managing.remove_rule):
        with pytest.raises(NotFound):
            act(channel_id, reason="x", access=stranger)


def test_switched_off_rules_and_channels_tell_nothing_and_changes_are_events(
    access: Access, place: Place
) -> None:
    channel_id, _ = hook(access, place)
    rule_id = rule(access, channel_id)
    told = Told(Kind.CONTAINMENT, channel_id, None, 60, is_active=False)
    managing.change_rule(rule_id, told, access=access)
    suspended(access)
    managing.change_rule(rule_id, Told(Kind.CONTAINMENT, channel_id, None, 60), access=access)
    managing.change_channel(channel_id, name="off", address="", is_active=False, access=access)
    suspended(access, "s2")
    assert notices(access) == []
    managing.remove_rule(rule_id, reason="enough", access=access)
    assert actions(access) == [
        "notice.channel_made",
        "notice.rule_made",
        "notice.rule_changed",
        "notice.rule_changed",
        "notice.channel_changed",
        "notice.rule_removed",
    ]
