"""One delivery by one channel: e-mail, a signed webhook, a chat service.

Owns what is sent. Raises UnreachableError with a few words when it was not
taken; those words hold neither the address nor the answer. Chat services go
through Apprise, and only those whose servers are the service's own: an address
that somebody chooses goes through ``outgoing.py``, which looks at it.
"""

from __future__ import annotations

import hmac
import json
import time
from dataclasses import dataclass
from datetime import datetime
from email.utils import parseaddr
from urllib.parse import quote, urlsplit
from uuid import UUID

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.mail import EmailMessage
from django.core.validators import validate_email

from audits.domain.notices import Channel, Kind, describe, page_of
from audits.notices import outgoing
from audits.notices.outgoing import UnreachableError

# Apprise's names of services that have one place of their own on the Internet.
CHAT_SERVICES: dict[str, str] = {
    "slack": "Slack",
    "discord": "Discord",
    "msteams": "Microsoft Teams",
    "gchat": "Google Chat",
    "tgram": "Telegram",
    "wxteams": "Webex",
    "zulip": "Zulip",
    "pover": "Pushover",
    "pagerduty": "PagerDuty",
    "opsgenie": "Opsgenie",
}
RECIPIENTS_MOST = 20
NO_MAIL = "no mail server is set (MEMCONSOLE_SMTP_URL)"
MAIL_TIMEOUT = 10


@dataclass(frozen=True, slots=True)
class Delivery:
    """One notice as it leaves."""

    id: UUID
    workspace: str
    kind: str
    target_kind: str
    target: str
    numbers: dict[str, object]
    more: int
    is_test: bool
    raised_at: datetime

    @property
    def title(self) -> str:
        """What stands in a subject line."""
        title = describe(Kind(self.kind), self.numbers, target=self.target).title
        return f"Test: {title}" if self.is_test else title

    @property
    def sentence(self) -> str:
        """What happened, in one sentence."""
        if self.is_test:
            return "This is a test; nothing happened."
        return describe(Kind(self.kind), self.numbers, target=self.target, more=self.more).sentence

    @property
    def url(self) -> str:
        """The page it leads to; empty where MEMCONSOLE_URL is not set."""
        if not settings.PUBLIC_URL:
            return ""
        page = page_of(Kind(self.kind), self.target_kind, self.target)
        return f"{settings.PUBLIC_URL}/w/{quote(self.workspace, safe='')}/{page}"

    @property
    def text(self) -> str:
        """The whole notice as text."""
        lines = [self.sentence, "", f"Workspace: {self.workspace}"]
        if self.url:
            lines.append(self.url)
        return "\n".join([*lines, "", f"Notice {self.id}"])


def send(kind: Channel, secret: dict[str, str], delivery: Delivery) -> None:
    """Send one notice; UnreachableError says why it was not taken."""
    if kind is Channel.EMAIL:
        _mail(secret, delivery)
    elif kind is Channel.WEBHOOK:
        _post(secret, delivery)
    else:
        _chat(secret, delivery)


def signature(key: str, timestamp: str, body: bytes) -> str:
    """Return the signature of a webhook's body at a time: HMAC-SHA256 over both."""
    return hmac.digest(key.encode(), timestamp.encode() + b"." + body, "sha256").hex()


def address_fault(kind: Channel, address: str) -> str:
    """Say what is wrong with a channel's address; empty when nothing is."""
    if kind is Channel.EMAIL:
        return _mail_fault(address)
    if kind is Channel.WEBHOOK:
        return outgoing.fault_of(address)
    scheme = urlsplit(address).scheme
    if scheme not in CHAT_SERVICES:
        return f"must begin with one of {', '.join(f'{one}://' for one in CHAT_SERVICES)}"
    return "" if _apprise(address) else "is not complete for this service"


def place_of(kind: Channel, address: str) -> str:
    """Return what people may see of an address: no path, no token."""
    if kind is Channel.EMAIL:
        return ", ".join(_recipients(address))
    parts = urlsplit(address)
    if kind is Channel.CHAT:
        return CHAT_SERVICES.get(parts.scheme, parts.scheme)
    port = f":{parts.port}" if parts.port else ""
    return f"{parts.scheme}://{parts.hostname}{port}/…"


def _mail_fault(address: str) -> str:
    found = _recipients(address)
    if not found:
        return "must name somebody"
    if len(found) > RECIPIENTS_MOST:
        return f"may name at most {RECIPIENTS_MOST}"
    for one in found:
        try:
            validate_email(one)
        except ValidationError:
            return f"holds what is not an address: {one[:60]}"
    return "" if settings.EMAIL_HOST else NO_MAIL


def _recipients(address: str) -> list[str]:
    words = address.replace(";", ",").replace("\n", ",").split(",")
    return [parseaddr(one.strip())[1] or one.strip() for one in words if one.strip()]


def _mail(secret: dict[str, str], delivery: Delivery) -> None:
    if not settings.EMAIL_HOST:
        raise UnreachableError(NO_MAIL)
    message = EmailMessage(
        subject=f"[MemConsole] {delivery.title}",
        body=delivery.text,
        from_email=settings.DEFAULT_FROM_EMAIL,
        to=_recipients(secret["address"]),
        # The same for every attempt: a mailbox that got it twice can tell.
        headers={"Message-ID": f"<{delivery.id}@memconsole>", "Auto-Submitted": "auto-generated"},
    )
    try:
        message.send()
    except OSError as error:  # SMTPException is one, too
        raise UnreachableError(f"the mail server refused ({type(error).__name__})") from error


def _post(secret: dict[str, str], delivery: Delivery) -> None:
    body = json.dumps(
        {
            "id": str(delivery.id),
            "kind": delivery.kind,
            "test": delivery.is_test,
            "workspace": delivery.workspace,
            "raised_at": delivery.raised_at.isoformat(),
            "title": delivery.title,
            "sentence": delivery.sentence,
            "target": {"kind": delivery.target_kind, "id": delivery.target},
            "numbers": delivery.numbers,
            "more": delivery.more,
            "url": delivery.url,
        }
    ).encode()
    timestamp = str(int(time.time()))
    headers = {
        "Content-Type": "application/json",
        "User-Agent": "MemConsole",
        "MemConsole-Delivery": str(delivery.id),
        "MemConsole-Timestamp": timestamp,
        "MemConsole-Signature": f"sha256={signature(secret['key'], timestamp, body)}",
    }
    outgoing.post(secret["address"], body, headers, is_private_allowed=settings.NOTICES_PRIVATE)


def _chat(secret: dict[str, str], delivery: Delivery) -> None:
    service = _apprise(secret["address"])
    if service is None:
        raise UnreachableError("the address is not one of a chat service")
    if not service.notify(title=delivery.title, body=delivery.text):
        raise UnreachableError("the service did not take it")


def _apprise(address: str):  # type: ignore[no-untyped-def]  # Apprise has no types
    """Return Apprise with this address alone, or ``None`` when it is not one."""
    import apprise  # a second to load, needed by few processes

    service = apprise.Apprise()
    return service if service.add(address) else None
