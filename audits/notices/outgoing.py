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
from collections.abc import Mapping
from urllib.parse import SplitResult, urlsplit

TIMEOUT = 10.0  # seconds for each step
ANSWER_MOST = 64 * 1024
NEVER = "there is no such address"
PRIVATE = "the address is private, which MEMCONSOLE_NOTICES_PRIVATE does not allow"


class UnreachableError(Exception):
    """Why a post was not taken, in a few words that hold no secret."""


def post(url: str, body: bytes, headers: Mapping[str, str], *, is_private_allowed: bool) -> None:
    """Post; UnreachableError unless the answer is 2xx."""
    parts = urlsplit(url)
    try:
        connection = _connect(parts, is_private_allowed=is_private_allowed)
        try:
            connection.request("POST", _target(parts), body, dict(headers))
            response = connection.getresponse()
            response.read(ANSWER_MOST)
        finally:
            connection.close()
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


def look_up(host: str, port: int, *, is_private_allowed: bool) -> str:
    """Return an address of a host; UnreachableError when any of its addresses is private."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise UnreachableError(NEVER) from error
    addresses = [str(one[4][0]) for one in found]
    if not addresses:
        raise UnreachableError(NEVER)
    if not is_private_allowed and not all(is_public(one) for one in addresses):
        raise UnreachableError(PRIVATE)
    return addresses[0]


def _connect(parts: SplitResult, *, is_private_allowed: bool) -> http.client.HTTPConnection:
    if (fault := fault_of(parts.geturl())) or not parts.hostname:
        raise UnreachableError(f"the address {fault}")
    port = parts.port or (443 if parts.scheme == "https" else 80)
    address = look_up(parts.hostname, port, is_private_allowed=is_private_allowed)
    kind = _SecureTo if parts.scheme == "https" else _To
    return kind(address, parts.hostname, port)


def _target(parts: SplitResult) -> str:
    return (parts.path or "/") + (f"?{parts.query}" if parts.query else "")


class _To(http.client.HTTPConnection):
    """A connection to one address under the name it was looked up by."""

    def __init__(self, address: str, host: str, port: int) -> None:
        super().__init__(host, port, timeout=TIMEOUT)
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
