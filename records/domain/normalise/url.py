"""Web addresses.

Owns which spellings of a URL lead to the same place by RFC 3986. Query and
fragment stay as they are, tracking parameters too: what they mean is the
server's business. Must not fetch.
"""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from records.domain.normalise.contact import ascii_host

_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*", re.IGNORECASE)
_BARE_HOST = re.compile(r"(?:[^\W_][\w-]*\.)+[^\W\d_]{2,}(?::\d+)?(?:[/?#].*)?")
_ADDRESS_V4 = re.compile(r"\d{1,3}(?:\.\d{1,3}){3}")
_ADDRESS_V6 = re.compile(r"[0-9a-f]*:[0-9a-f:.]*")
_PORTS = {"http": 80, "https": 443, "ftp": 21, "ws": 80, "wss": 443}
_ESCAPE = re.compile(r"%([0-9A-Fa-f]{2})")
_UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")


def parse_url(text: str) -> str | None:
    """Read an absolute URL, or a host with a path, to one spelling."""
    written = text[1:-1] if text[:1] == "<" and text[-1:] == ">" else text
    if " " in written or "\\" in written or "<" in written:
        return None
    if _BARE_HOST.fullmatch(written):
        written = f"https://{written}"
    try:
        parts = urlsplit(written)
        port = parts.port
    except ValueError:
        return None
    scheme = parts.scheme.lower()
    host = _host(parts.hostname or "")
    if not _SCHEME.fullmatch(scheme) or host is None:
        return None
    user = parts.netloc.rpartition("@")[0]
    authority = (f"{user}@" if user else "") + host
    if port is not None and port != _PORTS.get(scheme):
        authority += f":{port}"
    tail = (f"?{_escapes(parts.query)}" if parts.query else "") + (
        f"#{_escapes(parts.fragment)}" if parts.fragment else ""
    )
    return f"{scheme}://{authority}{_path(parts.path)}{tail}"


def _host(host: str) -> str | None:
    if host == "localhost" or _ADDRESS_V4.fullmatch(host):
        return host
    if _ADDRESS_V6.fullmatch(host):
        return f"[{host}]"
    return ascii_host(host)


def _path(path: str) -> str:
    """Resolve dot segments, level escapes, and drop the trailing slash."""
    kept: list[str] = []
    for segment in _escapes(path).split("/"):
        if segment == "..":
            if len(kept) > 1:
                kept.pop()
        elif segment != ".":
            kept.append(segment)
    return "/".join(kept).rstrip("/")


def _escapes(text: str) -> str:
    return _ESCAPE.sub(_escape, text)


def _escape(found: re.Match[str]) -> str:
    char = chr(int(found[1], 16))
    return char if char in _UNRESERVED else found[0].upper()
