"""The webhook of the trail: each checkpoint posted, signed, to a place the database's owner lacks.

Owns one POST and the state of its delivery. The address is looked up once and
connected to as it was checked, so that a name cannot answer with one address
for the check and another for the connection; redirects are not followed. Read
``anchors.py`` for what is posted and when.
"""

from __future__ import annotations

import base64
import http.client
import ipaddress
import logging
import socket
import ssl
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import SplitResult, urlsplit

from django.conf import settings

from audits import keys

logger = logging.getLogger(__name__)
TIMEOUT = 10.0  # seconds; the job has other workspaces to go to
FIRST_PAUSE = timedelta(minutes=5)
LONGEST_PAUSE = timedelta(hours=6)
FAULT_LIMIT = 200


@dataclass(frozen=True, slots=True)
class State:
    """How the delivery stands: the seal last taken, and what is in the way of the next."""

    delivered: int = 0  # the newest seal whose note was taken
    delivered_at: str = ""
    failures: int = 0  # in a row
    fault: str = ""
    next_at: str = ""

    @classmethod
    def from_json(cls, data: Mapping[str, Any] | None) -> State:
        """Read what a run keeps of it."""
        return cls(**data) if data else cls()

    def as_json(self) -> dict[str, Any]:
        """Return what a run keeps of it."""
        return asdict(self)

    def is_due(self, number: int, now: datetime) -> bool:
        """Say whether the note of this seal is to be posted now."""
        if number == self.delivered:
            return False
        return not self.next_at or now >= datetime.fromisoformat(self.next_at)

    def after(self, number: int, fault: str, now: datetime) -> State:
        """Return the state after one more attempt; no ``fault``: it was taken."""
        if not fault:
            return State(delivered=number, delivered_at=now.isoformat())
        pause = min(FIRST_PAUSE * 2 ** min(self.failures, 20), LONGEST_PAUSE)
        return replace(
            self, failures=self.failures + 1, fault=fault, next_at=(now + pause).isoformat()
        )


class ForbiddenError(Exception):
    """The webhook's address is not one to post to; says why."""


def is_configured() -> bool:
    """Say whether notes are posted anywhere."""
    return bool(settings.TRAIL_WEBHOOK)


def place() -> str:
    """Return where notes are posted to, as people may see it: no credentials, no query."""
    url = urlsplit(settings.TRAIL_WEBHOOK)
    return f"{url.scheme}://{url.hostname or ''}{url.path}"


def post(line: str) -> str:
    """Post one checkpoint; return what was wrong, empty when it was taken (any 2xx)."""
    body = line.encode()
    signer = keys.signer()
    headers = {
        "Content-Type": "application/json",
        "User-Agent": "MemConsole",
        # The note carries its own signature; this one is of the very bytes that were sent.
        "MemConsole-Key": signer.key_id,
        "MemConsole-Signature": base64.b64encode(signer.sign(body)).decode(),
    }
    try:
        connection = _connect(urlsplit(settings.TRAIL_WEBHOOK))
        try:
            connection.request("POST", _target(urlsplit(settings.TRAIL_WEBHOOK)), body, headers)
            response = connection.getresponse()
            response.read(64 * 1024)
        finally:
            connection.close()
    except ForbiddenError as error:
        fault = str(error)
    except (OSError, http.client.HTTPException, ValueError) as error:
        fault = f"no answer ({type(error).__name__})"
    else:
        fault = "" if 200 <= response.status < 300 else f"answered {response.status}"
    if fault:
        logger.warning("A checkpoint was not posted to %s: %s", place(), fault)
    return fault[:FAULT_LIMIT]


def _target(url: SplitResult) -> str:
    return (url.path or "/") + (f"?{url.query}" if url.query else "")


def _connect(url: SplitResult) -> http.client.HTTPConnection:
    """Return a connection to an address that was looked at; its names stay the URL's."""
    if url.scheme not in ("http", "https") or not url.hostname:
        raise ForbiddenError("the webhook is not an http or https address")
    port = url.port or (443 if url.scheme == "https" else 80)
    address = _address(url.hostname, port)
    if url.scheme == "http":
        return _To(address, url.hostname, port, timeout=TIMEOUT)
    return _SecureTo(address, url.hostname, port, timeout=TIMEOUT)


def _address(host: str, port: int) -> str:
    found = [str(one[4][0]) for one in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)]
    if not settings.TRAIL_WEBHOOK_PRIVATE:
        for one in found:
            if not _is_public(one):
                raise ForbiddenError(
                    "the webhook is at a private address, which"
                    " MEMCONSOLE_TRAIL_WEBHOOK_PRIVATE does not allow"
                )
    return found[0]


def _is_public(address: str) -> bool:
    found = ipaddress.ip_address(address.split("%")[0])
    if isinstance(found, ipaddress.IPv6Address):
        inside = found.ipv4_mapped or found.sixtofour
        if inside is not None:
            return inside.is_global
    return found.is_global and not found.is_multicast


class _To(http.client.HTTPConnection):
    """A connection to one address under another name."""

    def __init__(self, address: str, host: str, port: int, *, timeout: float) -> None:
        super().__init__(host, port, timeout=timeout)
        self.address = address

    def connect(self) -> None:
        """Connect to the address that was looked at."""
        self.sock = socket.create_connection((self.address, self.port), self.timeout)


class _SecureTo(_To):
    """The same under TLS, with the certificate of the name."""

    def connect(self) -> None:
        """Connect, and insist on a certificate of the name."""
        super().connect()
        context = ssl.create_default_context()
        self.sock = context.wrap_socket(self.sock, server_hostname=self.host)
