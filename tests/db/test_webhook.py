"""Checkpoints posted outside: signed, retried with pauses, never to a private address unasked."""

from __future__ import annotations

import base64
import json
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from audits import anchors, jobs, keys, seals, webhook
from audits.verify import verify_trail
from records.access import Access
from records.jobs import runs

from .trail import happen, own_keys, superuser  # noqa: F401

NOW = datetime(2026, 3, 1, tzinfo=UTC)


class Receiver:
    """A real HTTP server that keeps what it is sent; ``status`` is what it answers."""

    def __init__(self) -> None:
        self.status = 204
        self.got: list[tuple[dict[str, str], bytes]] = []
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                length = int(self.headers["Content-Length"])
                receiver.got.append((dict(self.headers), self.rfile.read(length)))
                self.send_response(receiver.status)
                if receiver.status == 302:
                    self.send_header("Location", receiver.url + "elsewhere")
                self.end_headers()

            def log_message(self, *args: Any) -> None:
                pass

        self.server = HTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/trail?to=us"
        self.thread = threading.Thread(target=self.server.serve_forever, daemon=True)
        self.thread.start()

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()


@pytest.fixture
def receiver(settings: Any) -> Iterator[Receiver]:
    found = Receiver()
    settings.TRAIL_WEBHOOK = found.url
    settings.TRAIL_WEBHOOK_PRIVATE = True
    yield found
    found.close()


def fill(access: Access, *reasons: str) -> None:
    happen(access, *reasons)
    seals.seal_now(access.workspace_id)


def anchor(access: Access, now: datetime = NOW) -> dict[str, Any]:
    run = runs.perform(jobs.ANCHORING, access.workspace_id, anchors.anchor_head, now=now)
    assert run is not None
    return dict(run.cursor.get("webhook") or {})


def test_checkpoint_is_posted_once_and_its_bytes_are_signed(
    access: Access, receiver: Receiver
) -> None:
    fill(access, "a", "b")
    state = anchor(access)
    anchor(access)
    ((headers, body),) = receiver.got
    public = keys.public_keys()[headers["MemConsole-Key"]]
    assert keys.is_signed(body, base64.b64decode(headers["MemConsole-Signature"]), public)
    said = json.loads(body)
    assert said["workspace"] == str(access.workspace_id)
    assert state["delivered"] == said["seal"]
    assert state["failures"] == 0
    fill(access, "c")
    assert anchor(access)["delivered"] == said["seal"] + 1
    assert len(receiver.got) == 2


def test_what_was_received_proves_the_removal_of_the_newest_events(
    access: Access, receiver: Receiver, tmp_path: Path, settings: Any
) -> None:
    fill(access, "a")
    anchor(access)
    fill(access, "b", "c")
    anchor(access)
    received = tmp_path / "received"
    received.write_bytes(b"".join(body + b"\n" for _, body in receiver.got))
    # The database's owner cuts the trail, and the file of checkpoints beside it.
    settings.TRAIL_CHECKPOINTS_FILE.unlink()
    with superuser() as database:
        values = {"w": access.workspace_id}
        row = database.execute(
            "SELECT first, number FROM seal WHERE workspace_id = %(w)s ORDER BY number DESC"
            " LIMIT 1",
            values,
        ).fetchone()
        assert row is not None
        database.execute(
            f"""WITH gone AS (DELETE FROM sealed_event WHERE workspace_id = %(w)s
                              AND position >= {row[0]} RETURNING event_id)
                DELETE FROM event WHERE id IN (SELECT event_id FROM gone)""".encode(),
            values,
        )
        database.execute(
            f"DELETE FROM seal WHERE workspace_id = %(w)s AND number = {row[1]}".encode(), values
        )
    assert verify_trail(access.workspace_id).is_whole
    flaw = verify_trail(access.workspace_id, checkpoints=received).flaw
    assert flaw is not None
    assert flaw.number == row[0]
    with pytest.raises(CommandError, match="1 of the trails"):
        call_command("verify_trail", workspace=access.workspace, checkpoints=received)
    with pytest.raises(CommandError, match="cannot be read"):
        call_command("verify_trail", workspace=access.workspace, checkpoints=tmp_path / "none")


def test_failure_is_kept_and_tried_again_with_growing_pauses(
    access: Access, receiver: Receiver
) -> None:
    fill(access, "a")
    receiver.status = 503
    state = anchor(access, NOW)
    assert (state["failures"], state["fault"]) == (1, "answered 503")
    assert anchor(access, NOW + timedelta(minutes=1))["failures"] == 1
    state = anchor(access, NOW + timedelta(minutes=5))
    assert state["failures"] == 2
    assert anchor(access, NOW + timedelta(minutes=10))["failures"] == 2
    receiver.status = 200
    state = anchor(access, NOW + timedelta(minutes=15))
    assert (state["failures"], state["fault"]) == (0, "")
    assert state["delivered"] > 0
    assert len(receiver.got) == 3


def test_pauses_double_up_to_a_bound() -> None:
    state = webhook.State()
    pauses = []
    for _ in range(12):
        state = state.after(1, "no answer", NOW)
        pauses.append(datetime.fromisoformat(state.next_at) - NOW)
    assert pauses[:3] == [timedelta(minutes=5), timedelta(minutes=10), timedelta(minutes=20)]
    assert pauses[-1] == webhook.LONGEST_PAUSE
    assert webhook.State.from_json(state.as_json()) == state


def test_redirect_is_not_followed(access: Access, receiver: Receiver) -> None:
    fill(access, "a")
    receiver.status = 302
    assert anchor(access)["fault"] == "answered 302"
    assert len(receiver.got) == 1


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "localhost", "10.1.2.3", "169.254.169.254", "[::1]", "[::ffff:10.0.0.1]"]
)
def test_private_address_is_refused_unless_it_is_meant(
    access: Access, receiver: Receiver, settings: Any, host: str
) -> None:
    settings.TRAIL_WEBHOOK_PRIVATE = False
    settings.TRAIL_WEBHOOK = f"http://{host}:{receiver.server.server_port}/"
    fill(access, "a")
    assert "private address" in anchor(access)["fault"]
    assert receiver.got == []


def test_address_that_changes_after_the_check_is_not_connected_to(
    receiver: Receiver, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A name may answer with a public address first and a private one later."""
    settings.TRAIL_WEBHOOK_PRIVATE = False
    settings.TRAIL_WEBHOOK = "http://name.example/"
    asked: list[str] = []
    connected: list[str] = []

    def look_up(host: str, *args: Any, **more: Any) -> list[Any]:
        asked.append(host)
        return [(0, 0, 0, "", ("8.8.8.8" if len(asked) == 1 else "127.0.0.1", 80))]

    def connect(address: tuple[str, int], *args: Any) -> Any:
        connected.append(address[0])
        raise ConnectionRefusedError

    monkeypatch.setattr("socket.getaddrinfo", look_up)
    monkeypatch.setattr("socket.create_connection", connect)
    assert webhook.post("{}") == "no answer (ConnectionRefusedError)"
    assert connected == ["8.8.8.8"]


@pytest.mark.parametrize("url", ["ftp://example.org/", "file:///etc/passwd", "http://", "x"])
def test_what_is_no_web_address_is_refused(settings: Any, url: str) -> None:
    settings.TRAIL_WEBHOOK = url
    assert "not an http or https address" in webhook.post("{}")


def test_credentials_in_the_address_are_not_shown(settings: Any) -> None:
    settings.TRAIL_WEBHOOK = "https://me:secret@example.org/trail?token=secret"
    assert webhook.place() == "https://example.org/trail"


def test_without_a_webhook_nothing_is_posted(access: Access, settings: Any) -> None:
    settings.TRAIL_WEBHOOK = ""
    fill(access, "a")
    assert anchor(access) == {}
    # One that is set up later gets the newest checkpoint though the trail has not grown.
    receiver = Receiver()
    settings.TRAIL_WEBHOOK, settings.TRAIL_WEBHOOK_PRIVATE = receiver.url, True
    try:
        assert anchor(access)["delivered"] == 1
    finally:
        receiver.close()
