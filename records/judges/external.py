"""The external judge: a server of the operator's that may hold writes, never release one.

Owns one POST for a batch of facts, reading the answer, and what is said when
there is none. The server is not trusted either: its answer is bounded in time
and size, checked whole, and its words are cleaned. Texts and reasons never
reach a log. Setting ``MEMCONSOLE_JUDGE_URL`` sends memory text to that address.
"""

from __future__ import annotations

import http.client
import json
import logging
import socket
import threading
from collections.abc import Sequence
from contextlib import suppress
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings

from records.domain.facts import Fact, Finding, Outcome

log = logging.getLogger(__name__)

HOLD, UNAVAILABLE = "judge.hold", "judge.unavailable"
LONGEST_REASON = 300  # characters a reviewer is shown; two lines of the queue
LARGEST_ANSWER = 2 * 1024 * 1024  # bytes; 1,000 verdicts with the longest reasons are a quarter


class Unavailable(Exception):
    """The judge gave no answer that can be used; the message holds no text of a memory."""


def findings(facts: Sequence[Fact]) -> list[tuple[Finding, ...]]:
    """Return what the judge says of each fact; without an answer, what the operator's policy says.

    One request for all of them, within the configured time. Raises nothing.
    """
    if not facts:
        return []
    try:
        return [_said(one) for one in _verdicts(_ask(facts), len(facts))]
    except Unavailable as error:
        log.warning("the external judge gave no verdict on %d facts: %s", len(facts), error)
        return [(_unavailable(str(error)),)] * len(facts)


def _ask(facts: Sequence[Fact]) -> Any:
    """Return the parsed answer to one POST; Unavailable when the time is over."""
    asked = [
        {"subject": f.subject, "predicate": f.predicate, "value": f.value, "content": f.content}
        for f in facts
    ]
    seconds = float(settings.JUDGE["timeout"])
    request = _Request(json.dumps({"facts": asked}).encode(), seconds)
    # In a thread: a socket's own limit knows no name look-up and starts anew at each byte.
    thread = threading.Thread(target=request.run, name="external-judge", daemon=True)
    thread.start()
    thread.join(seconds)
    answer = request.answer
    if answer is None:
        request.end()
        raise Unavailable(f"no answer within {seconds:g} s")
    if isinstance(answer, Unavailable):
        raise answer
    status, body = answer
    if status != 200:
        raise Unavailable(f"it answered {status}")
    if len(body) > LARGEST_ANSWER:
        raise Unavailable(f"its answer is larger than {LARGEST_ANSWER:,} bytes")
    try:
        return json.loads(body)
    except (ValueError, RecursionError) as error:
        raise Unavailable("its answer is no JSON") from error


class _Request:
    """One POST that can be ended from outside. Follows no redirect: it would carry the texts on."""

    def __init__(self, body: bytes, seconds: float) -> None:
        url = urlsplit(settings.JUDGE["url"])
        kind = http.client.HTTPSConnection if url.scheme == "https" else http.client.HTTPConnection
        self._connection = kind(url.hostname or "", url.port, timeout=seconds)
        self._target = (url.path or "/") + (f"?{url.query}" if url.query else "")
        self._body = body
        self._seconds = seconds
        self._headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if settings.JUDGE["key"]:
            self._headers["Authorization"] = f"Bearer {settings.JUDGE['key']}"
        self._is_ended = threading.Event()
        self.answer: tuple[int, bytes] | Unavailable | None = None

    def run(self) -> None:
        """Ask, and leave status and body, or why there are none, in ``answer``."""
        try:
            self._connection.connect()
            if self._is_ended.is_set():
                return
            self._connection.request("POST", self._target, self._body, self._headers)
            answer = self._connection.getresponse()
            body = answer.read(LARGEST_ANSWER + 1)
            self.answer = (answer.status, body)
        except TimeoutError:
            self.answer = Unavailable(f"no answer within {self._seconds:g} s")
        except (OSError, http.client.HTTPException, ValueError):
            self.answer = Unavailable("it cannot be asked")
        finally:
            self._connection.close()

    def end(self) -> None:
        """Let the thread find its connection shut; what it leaves is not looked at any more."""
        self._is_ended.set()
        with suppress(OSError, AttributeError):  # not connected yet, or closed meanwhile
            self._connection.sock.shutdown(socket.SHUT_RDWR)


def _verdicts(answer: Any, count: int) -> list[dict[str, Any]]:
    """Return the answer's verdicts, or Unavailable: half an answer is none."""
    verdicts = answer.get("verdicts") if isinstance(answer, dict) else None
    if not isinstance(verdicts, list):
        raise Unavailable("its answer has no list of verdicts")
    if len(verdicts) != count:
        raise Unavailable(f"it gave {len(verdicts)} verdicts on {count} facts")
    for one in verdicts:
        if not isinstance(one, dict) or not isinstance(one.get("hold"), bool):
            raise Unavailable("a verdict does not say true or false in hold")
        if not isinstance(one.get("reason"), str | None):
            raise Unavailable("a verdict's reason is no text")
    return verdicts


def _said(verdict: dict[str, Any]) -> tuple[Finding, ...]:
    if not verdict["hold"]:
        return ()
    return (_finding(HOLD, Outcome.QUARANTINE, "medium", _reason(verdict.get("reason") or "")),)


def _reason(given: str) -> str:
    """Return the judge's reason on one line, without characters that hide or that break a row."""
    said = "".join(letter if letter.isprintable() else " " for letter in given)
    said = " ".join(said.split())
    if not said:
        return "The external judge holds this and gives no reason."
    if len(said) > LONGEST_REASON:
        said = f"{said[:LONGEST_REASON]}… (cut: {len(said):,} characters)"
    return f"The external judge holds this: {said}"


def _unavailable(why: str) -> Finding:
    held = settings.JUDGE["on_failure"] == "hold"
    outcome = Outcome.QUARANTINE if held else Outcome.ALLOW
    reason = f"The external judge gave no verdict: {why}."
    return _finding(UNAVAILABLE, outcome, "low" if held else "info", reason)


def _finding(rule: str, outcome: Outcome, severity: str, reason: str) -> Finding:
    return Finding(rule, outcome, severity, "fact", "raw", None, "", reason)
