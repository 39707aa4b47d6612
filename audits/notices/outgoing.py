"""Posting to an address that somebody typed, without being sent into our own network.

Owns the one way out to such addresses. A name is looked up once, every address
it has is looked at, and the connection goes to the one that was looked at, so
that a name cannot answer differently for the check and for the connection.
Redirects are not followed: where they lead was not looked at.
"""

from __future__ import annotations

import http.client
import ipaddress
import socket
import ssl
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from urllib.parse import SplitResult, urlsplit

TIMEOUT = 10.0  # seconds for each step
DEADLINE = 20.0  # and for all of them: an answer that drips would keep a worker for hours
NEVER = "there is no such address"
PRIVATE = "the address is private, which MEMCONSOLE_NOTICES_PRIVATE does not allow"


class UnreachableError(Exception):
    """Why a post was not taken, in a few words that hold no secret."""


def post(url: str, body: bytes, headers: Mapping[str, str], *, is_private_allowed: bool) -> None:
    """Post; UnreachableError unless the answer is 2xx."""
    parts = urlsplit(url)
    try:
        connection = _connect(parts, is_private_allowed=is_private_allowed)
        with closing(connection), _ended_after(connection, DEADLINE):
            connection.request("POST", _target(parts), body, dict(headers))
            response = connection.getresponse()  # its body says nothing to us
    except (OSError, http.client.HTTPException, ValueError) as error:
        raise UnreachableError(f"no answer ({type(error).__name__})") from error
    if 300 <= response.status < 400:
        raise UnreachableError(f"answered {response.status}; redirects are not followed")
    if not 200 <= response.status < 300:
        raise UnreachableError(f"answered {response.status}")


def fault_of(url: str) -> str:
    """Say what is wrong with an address as it is typed; empty when nothing is."""
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:
        return "is not an address"
    if parts.scheme not in ("http", "https") or not parts.hostname:
        return "must be an http or https address"
    if parts.username or parts.password:
        return "may not hold a user name or password"
    return ""


def is_public(address: str) -> bool:
    """Say whether an address is out on the Internet, however it is written."""
    found = ipaddress.ip_address(address.split("%")[0])
    if isinstance(found, ipaddress.IPv6Address):
        inside = found.ipv4_mapped or found.sixtofour or (found.teredo or (None, None))[1]
        if inside is not None:
            return is_public(str(inside))
        # NAT64 hides an IPv4 address in the last 32 bits.
        if found in ipaddress.ip_network("64:ff9b::/96"):
            return is_public(str(ipaddress.IPv4Address(int(found) & 0xFFFFFFFF)))
    return found.is_global and not found.is_multicast


def look_up(host: str, port: int, *, is_private_allowed: bool) -> list[str]:
    """Return the addresses of a host; UnreachableError when any of them is private."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise UnreachableError(NEVER) from error
    addresses = [str(one[4][0]) for one in found]
    if not addresses:
        raise UnreachableError(NEVER)
    if not is_private_allowed and not all(is_public(one) for one in addresses):
        raise UnreachableError(PRIVATE)
    return addresses


@contextmanager
def _ended_after(connection: http.client.HTTPConnection, seconds: float) -> Iterator[None]:
    """Break the connection off when the block takes longer; UnreachableError then.

    Whoever reads from a connection that was broken off takes it for the end of the answer.
    """
    is_over = threading.Event()

    def end() -> None:
        is_over.set()
        sock = connection.sock
        if sock is not None:
            with suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)

    timer = threading.Timer(seconds, end)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
    if is_over.is_set():
        raise UnreachableError("no answer in time")


def _connect(parts: SplitResult, *, is_private_allowed: bool) -> http.client.HTTPConnection:
    if (fault := fault_of(parts.geturl())) or not parts.hostname:
        raise UnreachableError(f"the address {fault}")
    port = parts.port or (443 if parts.scheme == "https" else 80)
    addresses = look_up(parts.hostname, port, is_private_allowed=is_private_allowed)
    kind = _SecureTo if parts.scheme == "https" else _To
    return kind(addresses, parts.hostname, port)


def _target(parts: SplitResult) -> str:
    return (parts.path or "/") + (f"?{parts.query}" if parts.query else "")


class _To(http.client.HTTPConnection):
    """A connection to the addresses that were looked at, under the name they belong to."""

    def __init__(self, addresses: Sequence[str], host: str, port: int) -> None:
        super().__init__(host, port, timeout=TIMEOUT)
        self.addresses = addresses

    def connect(self) -> None:
        """Connect to the first of the addresses that answers."""
        for place, address in enumerate(self.addresses, 1):
            try:
                self.sock = socket.create_connection((address, self.port), self.timeout)
            except OSError:
                if place == len(self.addresses):
                    raise
            else:
                return


class _SecureTo(_To):
    """The same under TLS, with the certificate of the name."""

    def connect(self) -> None:
        """Connect, and insist on a certificate of the name."""
        super().connect()
        context = ssl.create_default_context()
        self.sock = context.wrap_socket(self.sock, server_hostname=self.host)
