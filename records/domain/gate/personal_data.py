"""Personal data: which kinds a text holds, and what the policy makes of them.

Owns the tags (e-mail, phone, card, IBAN, national id) and their check digits.
A tag alone holds nothing: people's own addresses are what a memory is for.
Card numbers, bank accounts and national ids are held unless the source is
trusted, and from an untrusted source every tag is. A policy may say otherwise
with a validator ``{"kind": "personal_data", "card": "allow", "email": "hold",
"phone": "mask"}``. Must not touch credentials: ``secrets.py`` does.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import re2

from records.domain.facts import Fact, Finding, GateContext, Outcome, Policy, Tier

# A cheap sign that personal data may be there; part of the one search of views.py.
SIGN_PATTERN = r"@|[0-9](?:[ .()/-]{0,2}[0-9]){6}|[a-z]{2}[0-9]{2} ?[a-z0-9]{4}"
_SIGN = re2.compile(f"(?i){SIGN_PATTERN}")
_EMAIL = re2.compile(r"[A-Za-z0-9._%+-]{1,64}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63})+")
_IBAN = re2.compile(r"\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{2,4}){3,9}\b")
_CARD = re2.compile(r"\b\d(?:[ -]?\d){12,18}\b")
_PHONE = re2.compile(r"(?:\+|\b00)\d{1,3}[ ./()-]{0,2}\d(?:[ ./()-]{0,2}\d){5,12}\b"
                     r"|\(\d{3}\) ?\d{3}[ -]\d{4}\b|\b\d{3}[ .-]\d{3}[ .-]\d{4}\b")  # fmt: skip
_NATIONAL = re2.compile(
    r"\b\d{3}-\d{2}-\d{4}\b|\b[A-CEGHJ-PR-TW-Z]{2} ?\d{2} ?\d{2} ?\d{2} ?[A-D]\b"
    r"|\b\d{3}\.\d{3}\.\d{3}-\d{2}\b|\b[A-Z]{6}\d{2}[A-EHLMPR-T]\d{2}[A-Z]\d{3}[A-Z]\b"
)
KINDS = ("email", "phone", "card", "iban", "national_id")
_HELD = frozenset({"card", "iban", "national_id"})
_NAMES = {
    "email": "an e-mail address",
    "phone": "a phone number",
    "card": "a payment card number",
    "iban": "a bank account number (IBAN)",
    "national_id": "a national identity number",
}


@dataclass(frozen=True, slots=True)
class Tag:
    """One piece of personal data in a text."""

    kind: str
    start: int
    end: int


def luhn(digits: str) -> bool:
    """Say whether the last digit checks the others (payment cards)."""
    total = 0
    for place, char in enumerate(reversed(digits)):
        number = int(char) * (1 + place % 2)
        total += number - 9 if number > 9 else number
    return total % 10 == 0


def iban_valid(text: str) -> bool:
    """Say whether an IBAN's two check digits are right (ISO 13616)."""
    plain = text.replace(" ", "").upper()
    if not 15 <= len(plain) <= 34:
        return False
    return int("".join(str(int(char, 36)) for char in plain[4:] + plain[:4])) % 97 == 1


def find(text: str) -> list[Tag]:
    """Return the personal data of a text, without overlaps, left to right."""
    if _SIGN.search(text) is None:
        return []
    found: list[Tag] = []
    for kind, start, end in _candidates(text):
        if all(end <= tag.start or start >= tag.end for tag in found):
            found.append(Tag(kind, start, end))
    return sorted(found, key=lambda tag: tag.start)


def _candidates(text: str) -> Iterator[tuple[str, int, int]]:
    for match in _IBAN.finditer(text):
        yield from _valid_iban(text, *match.span())
    for match in _CARD.finditer(text):
        digits = "".join(char for char in match.group() if char.isdigit())
        if 13 <= len(digits) <= 19 and digits[0] in "3456" and luhn(digits):
            yield ("card", *match.span())
    for kind, pattern in (("national_id", _NATIONAL), ("email", _EMAIL), ("phone", _PHONE)):
        for match in pattern.finditer(text):
            yield (kind, *match.span())


def _valid_iban(text: str, start: int, end: int) -> Iterator[tuple[str, int, int]]:
    """Yield the IBAN in a run that may have swallowed the next words."""
    while end - start >= 15:
        if iban_valid(text[start:end]):
            yield "iban", start, end
            return
        shorter = text.rfind(" ", start, end)
        if shorter <= start:
            return
        end = shorter


def _wishes(policy: Policy) -> dict[str, str]:
    """Return what the policy says about kinds: allow, hold or mask."""
    for validator in policy.validators:
        if validator.get("kind") == "personal_data":
            return {name: str(validator[name]) for name in KINDS if name in validator}
    return {}


@dataclass(frozen=True, slots=True)
class Personal:
    """What was found in a fact: tags for the record, findings, and masked texts."""

    labels: tuple[str, ...]
    findings: tuple[Finding, ...]
    masked: dict[str, str]


NOTHING = Personal((), (), {})


def judge(fact: Fact, context: GateContext, policy: Policy) -> Personal:
    """Tag the fact's texts and say what the policy and the source make of it."""
    texts = {"value": fact.value}
    if fact.content != fact.value:
        texts["content"] = fact.content
    tagged = {name: tags for name, text in texts.items() if text and (tags := find(text))}
    if not tagged:
        return NOTHING
    wishes = _wishes(policy)
    findings: list[Finding] = []
    masked: dict[str, str] = {}
    for name, tags in tagged.items():
        findings += [
            _finding(name, tag, wishes, context) for tag in tags if _is_held(tag, wishes, context)
        ]
        hidden = [tag for tag in tags if wishes.get(tag.kind) == "mask"]
        if hidden:
            masked[name] = _mask(texts[name], hidden)
    if "value" in masked and fact.content == fact.value:
        masked["content"] = masked["value"]
    labels = sorted({tag.kind for tags in tagged.values() for tag in tags})
    return Personal(tuple(labels), tuple(findings), masked)


def _is_held(tag: Tag, wishes: dict[str, str], context: GateContext) -> bool:
    wish = wishes.get(tag.kind)
    if wish is not None:
        return wish == "hold"
    if context.tier is Tier.TRUSTED:
        return False
    return tag.kind in _HELD or context.tier is Tier.UNTRUSTED


def _finding(field: str, tag: Tag, wishes: dict[str, str], context: GateContext) -> Finding:
    why = "the policy holds it" if tag.kind in wishes else f"the source is {context.tier}"
    return Finding(
        rule=f"personal.{tag.kind}",
        outcome=Outcome.QUARANTINE,
        severity="medium",
        field=field,
        view="raw",
        span=(tag.start, tag.end),
        matched=f"[{tag.kind}, {tag.end - tag.start} characters]",
        reason=f"Contains {_NAMES[tag.kind]}; {why}.",
    )


def _mask(text: str, tags: list[Tag]) -> str:
    parts: list[str] = []
    at = 0
    for tag in tags:
        parts += (text[at : tag.start], f"[{tag.kind}]")
        at = tag.end
    return "".join([*parts, text[at:]])
