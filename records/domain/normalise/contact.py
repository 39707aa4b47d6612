"""E-mail addresses and phone numbers.

Owns when two of them reach the same place. Plus tags and dots are kept: they
are other mailboxes to most servers. Must not check that anything answers.
"""

from __future__ import annotations

import re

import idna
import phonenumbers

from records.domain.normalise.text import ascii_digits, fold

_ADDRESSED = re.compile(r"(?:.*<|mailto:|<)?([^\s<>@]+@[^\s<>@]+?)\.?>?", re.IGNORECASE)
_LOCAL = re.compile(r"[^\s\"(),:;<>@\[\\\]]+")
_HOST = re.compile(r"[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)+")
_MAX_EMAIL = 320

_PHONE_SHAPE = re.compile(
    r"(?:tel[:.]? ?|phone[:.]? ?)?"
    r"((?:\+[\d ()./-]{3,40}|[\d ()./-]{6,40})(?:,? ?(?:ext\.?|extension|x|;ext=) ?\d{1,7})?)"
)


def parse_email(text: str) -> str | None:
    """Read an address, bare or after a display name, to one spelling."""
    found = _ADDRESSED.fullmatch(text) if len(text) <= _MAX_EMAIL else None
    if not found:
        return None
    local, _, domain = found[1].rpartition("@")
    host = ascii_host(domain)
    if host is None or not _LOCAL.fullmatch(local):
        return None
    return f"{fold(local)}@{host}"


def ascii_host(host: str) -> str | None:
    """Write a host name in the ASCII form that is looked up, or ``None`` if it has none."""
    folded = fold(host).rstrip(".")
    if not folded.isascii():
        try:
            folded = idna.encode(folded, uts46=True).decode("ascii")
        except idna.IDNAError:
            return None
    return folded if _HOST.fullmatch(folded) else None


def is_region(code: str) -> bool:
    """Say whether numbers of that two-letter region are known."""
    return code in phonenumbers.SUPPORTED_REGIONS


def parse_phone(text: str, region: str) -> str | None:
    """Read a number to E.164; ``region`` is the country of one written without its code."""
    found = _PHONE_SHAPE.fullmatch(fold(ascii_digits(text)))
    if not found:
        return None
    digits = found[1].strip()
    if digits.startswith("00"):
        # The ITU's international prefix; libphonenumber knows only the region's own.
        digits = "+" + digits[2:].lstrip()
    written = _e164(digits, region.upper())
    # A number whose own spelling is dialled otherwise (+49 0000 0) is none.
    return written if written and _e164(written, region.upper()) == written else None


def _e164(digits: str, region: str) -> str | None:
    try:
        number = phonenumbers.parse(digits, region)
    except phonenumbers.NumberParseException:
        return None
    if not phonenumbers.is_possible_number(number):
        return None
    written = phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.E164)
    return f"{written};ext={number.extension}" if number.extension else written
