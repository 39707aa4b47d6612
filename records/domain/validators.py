"""Business rules on values, as a policy states them.

Owns the kinds of validator and the words in which a broken rule is told. A
validator is a mapping with ``kind``, the kind's own settings and an optional
``outcome`` (``quarantine`` unless it says ``reject``). Must not look at the
store or the clock; ``now`` is given. Read ``starter_policies.json`` for
examples, ``gate/`` for what a problem leads to.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal, InvalidOperation
from functools import lru_cache
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import re2

from records.domain.countries import country_code
from records.domain.facts import Normaliser, Outcome, Policy
from records.domain.normalise.contact import parse_email, parse_phone
from records.domain.normalise.dates import as_day, parse_date
from records.domain.normalise.money import CURRENCIES, amount_of, currency_of
from records.domain.normalise.quantities import magnitude
from records.domain.normalise.text import clean, fold
from records.domain.normalise.url import parse_url

Spec = Mapping[str, Any]

MAX_PATTERN_LENGTH = 500  # a policy's pattern is run on every write


@dataclass(frozen=True, slots=True)
class Problem:
    """One rule that a value breaks, in words for a reviewer, and what follows."""

    kind: str
    message: str
    outcome: Outcome


class _Case(NamedTuple):
    """What a rule may look at."""

    value: str
    policy: Policy
    spec: Spec
    now: datetime


def check(value: str, policy: Policy, *, now: datetime) -> list[Problem]:
    """Return the rules of ``policy`` that ``value`` breaks, in the policy's order.

    A validator that cannot be run (unknown kind, bad settings) holds the write
    as well: a rule that somebody asked for is never skipped without a word.
    """
    cleaned = clean(value)[0]
    problems: list[Problem] = []
    for spec in policy.validators:
        kind = str(spec.get("kind"))
        faults = spec_problems(spec)
        message = (
            f"the policy's validator cannot be run: {faults[0]}"
            if faults
            else _RULES[kind].broken(_Case(cleaned, policy, spec, now))
        )
        if message:
            problems.append(Problem(kind, message, _outcome(spec)))
    return problems


def spec_problems(spec: Spec) -> list[str]:
    """Return what is wrong with a validator's own settings, for the policy editor."""
    kind = spec.get("kind")
    rule = _RULES.get(kind) if isinstance(kind, str) else None
    if rule is None:
        return [f"kind: unknown validator {kind!r}; known are {', '.join(sorted(_RULES))}"]
    faults = [
        f"{name}: unknown setting of {kind}"
        for name in spec
        if name not in {"kind", "outcome", *rule.settings}
    ]
    if spec.get("outcome", "quarantine") not in ("quarantine", "reject"):
        faults.append("outcome: must be quarantine or reject")
    if rule.settings and not any(name in spec for name in rule.settings) and not rule.optional:
        faults.append(f"{kind}: needs {' or '.join(rule.settings)}")
    for name, bad in rule.settings.items():
        if name in spec and (fault := bad(spec[name])):
            faults.append(f"{name}: {fault}")
    return faults


def _outcome(spec: Spec) -> Outcome:
    return Outcome.REJECT if spec.get("outcome") == "reject" else Outcome.QUARANTINE


# The rules. Each returns what is wrong, or None.


def _range(case: _Case) -> str | None:
    read = amount_of if case.policy.normaliser is Normaliser.MONEY else magnitude
    number = read(case.value)
    if number is None:
        return "the value must be a number"
    lowest, highest = case.spec.get("min"), case.spec.get("max")
    if lowest is not None and number < Decimal(str(lowest)):
        return f"the value must be at least {lowest}; it says {number}"
    if highest is not None and number > Decimal(str(highest)):
        return f"the value must be at most {highest}; it says {number}"
    return None


def _pattern(case: _Case) -> str | None:
    if _compiled(case.spec["re2"]).fullmatch(case.value):
        return None
    return f"the value must have the form {case.spec['re2']}"


def _one_of(case: _Case) -> str | None:
    allowed = [str(option) for option in case.spec["values"]]
    if fold(case.value) in {fold(option) for option in allowed}:
        return None
    return f"the value must be one of {', '.join(allowed)}"


def _max_length(case: _Case) -> str | None:
    limit = int(case.spec["max"])
    length = len(case.value)
    return f"the value has {length} characters; the limit is {limit}" if length > limit else None


def _min_length(case: _Case) -> str | None:
    limit = int(case.spec["min"])
    length = len(case.value)
    return f"the value has {length} characters; it needs {limit}" if length < limit else None


def _date(case: _Case) -> str | None:
    return None if parse_date(case.value) else "the value must be a date that reads one way only"


def _date_not_future(case: _Case) -> str | None:
    day = as_day(case.value)
    today = case.now.astimezone(UTC).date()
    if day is None or (day - today).days <= 1:  # somewhere it is tomorrow already
        return None
    return f"the date {day.isoformat()} is in the future"


def _date_range(case: _Case) -> str | None:
    day = as_day(case.value)
    if day is None:
        return None
    first, last = case.spec.get("min"), case.spec.get("max")
    if first is not None and day < date.fromisoformat(first):
        return f"the date {day.isoformat()} is before {first}"
    if last is not None and day > date.fromisoformat(last):
        return f"the date {day.isoformat()} is after {last}"
    return None


def _number(case: _Case) -> str | None:
    return None if magnitude(case.value) is not None else "the value must be a number"


def _email(case: _Case) -> str | None:
    return None if parse_email(case.value) else "the value must be an e-mail address"


def _phone(case: _Case) -> str | None:
    if parse_phone(case.value, case.policy.region):
        return None
    return (
        f"the value must be a phone number, with country code or as dialled in {case.policy.region}"
    )


def _url_scheme(case: _Case) -> str | None:
    schemes = [str(scheme).lower() for scheme in case.spec.get("schemes", ("https", "http"))]
    url = parse_url(case.value)
    if url is None:
        return "the value must be a web address"
    if urlsplit(url).scheme in schemes:
        return None
    return f"the web address must begin with {' or '.join(f'{s}://' for s in schemes)}"


def _country(case: _Case) -> str | None:
    return None if country_code(case.value) else "the value must be a country, by name or code"


def _currency(case: _Case) -> str | None:
    allowed = [str(code).upper() for code in case.spec.get("codes", ())]
    code = case.value.upper() if case.value.upper() in CURRENCIES else currency_of(case.value)
    if code is None:
        return "the value must name its currency"
    if not allowed or code in allowed:
        return None
    return f"the currency must be {' or '.join(allowed)}; it is {code}"


def _timezone(case: _Case) -> str | None:
    if _TIMEZONE.fullmatch(case.value):
        return None
    return "the value must be a time zone such as Europe/Berlin or UTC+2"


def _iban(case: _Case) -> str | None:
    digits = "".join(case.value.split()).upper()
    if not _IBAN.fullmatch(digits):
        return "the value must be an IBAN"
    moved = digits[4:] + digits[:4]
    if int("".join(str(int(char, 36)) for char in moved)) % 97 != 1:
        return "the IBAN's check digits do not fit"
    return None


_TIMEZONE = re.compile(
    r"(?:[A-Z][A-Za-z]+(?:/[A-Za-z_+-]+){1,2}|(?:UTC|GMT)?[+-]\d{1,2}(?::?[0-5]\d)?"
    r"|[A-Z]{1,5}|(?:[A-Z][a-z]+ ){1,3}(?:Standard |Daylight |Summer )?Time)",
    re.IGNORECASE,
)
_IBAN = re.compile(r"[A-Z]{2}\d{2}[A-Z0-9]{11,30}")


@lru_cache(maxsize=512)
def _compiled(pattern: str) -> Any:
    options = re2.Options()
    options.log_errors = False  # the policy editor shows them
    return re2.compile(pattern, options)


# The settings. Each checker returns what is wrong with one, or None.


def _bad_number(bound: Any) -> str | None:
    try:
        finite = not isinstance(bound, bool) and Decimal(str(bound)).is_finite()
    except InvalidOperation:
        finite = False
    return None if finite else "must be a number"


def _bad_length(limit: Any) -> str | None:
    whole = isinstance(limit, int) and not isinstance(limit, bool) and limit > 0
    return None if whole else "must be a whole number above 0"


def _bad_day(day: Any) -> str | None:
    try:
        date.fromisoformat(day)
    except (ValueError, TypeError):
        return "must be a date as YYYY-MM-DD"
    return None


def _bad_pattern(pattern: Any) -> str | None:
    if not isinstance(pattern, str) or not 0 < len(pattern) <= MAX_PATTERN_LENGTH:
        return f"must be a text of 1 to {MAX_PATTERN_LENGTH} characters"
    try:
        _compiled(pattern)
    except re2.error as error:
        reason = error.args[0] if error.args else ""
        return f"is no RE2 pattern: {reason.decode() if isinstance(reason, bytes) else reason}"
    return None


def _bad_list(listed: Any) -> str | None:
    texts = isinstance(listed, Sequence) and not isinstance(listed, str)
    if texts and listed and all(isinstance(item, str) for item in listed):
        return None
    return "must be a list of texts, at least one"


def _nothing(_case: _Case) -> str | None:
    return None


def _bad_treatment(setting: Any) -> str | None:
    return None if setting in ("allow", "hold", "mask") else "must be allow, hold or mask"


class _Rule(NamedTuple):
    broken: Callable[[_Case], str | None]
    settings: Mapping[str, Callable[[Any], str | None]] = {}
    optional: bool = False  # whether it runs without any of its settings


_RULES: dict[str, _Rule] = {
    "range": _Rule(_range, {"min": _bad_number, "max": _bad_number}),
    "pattern": _Rule(_pattern, {"re2": _bad_pattern}),
    "one_of": _Rule(_one_of, {"values": _bad_list}),
    "max_length": _Rule(_max_length, {"max": _bad_length}),
    "min_length": _Rule(_min_length, {"min": _bad_length}),
    "date": _Rule(_date),
    "date_not_future": _Rule(_date_not_future),
    "date_range": _Rule(_date_range, {"min": _bad_day, "max": _bad_day}),
    "number": _Rule(_number),
    "email": _Rule(_email),
    "phone": _Rule(_phone),
    "url_scheme": _Rule(_url_scheme, {"schemes": _bad_list}, optional=True),
    "country": _Rule(_country),
    "currency": _Rule(_currency, {"codes": _bad_list}, optional=True),
    "timezone": _Rule(_timezone),
    "iban": _Rule(_iban),
    # What the gate does about personal data it finds; nothing is asked of the value here.
    "personal_data": _Rule(
        _nothing, dict.fromkeys(("email", "phone", "card", "iban", "national_id"), _bad_treatment)
    ),
}
# The settings of each kind, for those who fill in a form.
SETTINGS: Mapping[str, tuple[str, ...]] = {
    kind: tuple(rule.settings) for kind, rule in _RULES.items()
}
