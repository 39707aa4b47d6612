"""The mail server that ``MEMCONSOLE_SMTP_URL`` names."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import unquote, urlsplit

WANTED = "MEMCONSOLE_SMTP_URL must be smtp://, smtp+tls:// or smtps:// with a host"
PORTS = {"smtp": 25, "smtp+tls": 587, "smtps": 465}


@dataclass(frozen=True, slots=True)
class MailServer:
    """Where mail goes; no ``host``: nowhere."""

    host: str = ""
    port: int = 25
    user: str = ""
    password: str = ""
    is_tls: bool = False
    is_starttls: bool = False


def server(url: str) -> MailServer:
    """Return the server of ``smtp[s]://user:password@host:port``; ValueError names the variable.

    ``smtp+tls`` upgrades the connection, ``smtps`` speaks TLS from the start.
    The password is never repeated.
    """
    if not url:
        return MailServer()
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise ValueError(f"{WANTED}.") from error
    if parts.scheme not in PORTS or not parts.hostname:
        raise ValueError(f"{WANTED}.")
    return MailServer(
        parts.hostname,
        port or PORTS[parts.scheme],
        unquote(parts.username or ""),
        unquote(parts.password or ""),
        is_tls=parts.scheme == "smtps",
        is_starttls=parts.scheme == "smtp+tls",
    )
