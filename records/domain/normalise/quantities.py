"""Numbers, and numbers with a unit.

Owns how a written number is read: grouping, decimal marks, exponents. Must not
guess: a number that English and European readers take differently ("1.200")
is no number here. Does not convert between units. Read ``units.py`` for their
spellings and ``money.py`` for amounts.
"""

from __future__ import annotations

import re
from decimal import Decimal

from records.domain.normalise.text import ascii_digits, fold
from records.domain.normalise.units import resolve_unit

MAX_DIGITS = 40  # beyond this a "number" is an identifier, and an exponent a memory bomb

_INTEGER = re.compile(r"\d+")
_ENGLISH = re.compile(r"[1-9]\d{0,2}(?:,\d{3})+(?:\.\d+)?")
_INDIAN = re.compile(r"[1-9]\d?(?:,\d{2})+,\d{3}(?:\.\d+)?")
_EUROPEAN = re.compile(r"[1-9]\d{0,2}(?:(?:\.\d{3})+,\d+|(?:\.\d{3}){2,})")
_SPACED = re.compile(r"[1-9]\d{0,2}(?:(?: \d{3})+|(?:'\d{3})+)(?:[.,]\d+)?")
_DOT = re.compile(r"\d*\.\d+|\d+\.")
_COMMA = re.compile(r"\d+,\d+")
_EXPONENT = re.compile(r"\d+(?:\.\d+)?e[+-]?\d{1,2}")
_AMBIGUOUS = re.compile(r"[1-9]\d{0,2}\.\d{3}")

_NUMBER = re.compile(r"([+-]?(?:\d[\d.,' ]*|\.\d+)(?:[eE][+-]?\d+)?)(.*)", re.DOTALL)
_SCALE = {
    "thousand": Decimal(1_000),
    "million": Decimal(1_000_000),
    "billion": Decimal(1_000_000_000),
    "trillion": Decimal(1_000_000_000_000),
}


def parse_decimal(text: str) -> Decimal | None:
    """Read a bare number, or return ``None`` where two readers would read two numbers."""
    sign, digits = "", text.lower()
    if digits[:1] in ("+", "-"):
        sign, digits = ("-" if digits[0] == "-" else ""), digits[1:]
    if len(digits) > MAX_DIGITS or _AMBIGUOUS.fullmatch(digits):
        return None
    if _INTEGER.fullmatch(digits) or _DOT.fullmatch(digits) or _EXPONENT.fullmatch(digits):
        return Decimal(sign + digits)
    if _ENGLISH.fullmatch(digits) or _INDIAN.fullmatch(digits):
        return Decimal(sign + digits.replace(",", ""))
    if _EUROPEAN.fullmatch(digits):
        return Decimal(sign + digits.replace(".", "").replace(",", "."))
    if _SPACED.fullmatch(digits) or _COMMA.fullmatch(digits):
        return Decimal(sign + digits.replace(" ", "").replace("'", "").replace(",", "."))
    return None


def format_decimal(number: Decimal) -> str:
    """Write a number the one way: no exponent, no trailing zeros, no grouping.

    Three decimals behind one to three digits get a fourth, so that what is
    written can be read again without the doubt of ``parse_decimal``.
    """
    written = format(number, "f")
    if "." in written:
        written = written.rstrip("0").rstrip(".")
    if written in ("-0", "0", ""):
        return "0"
    return written + "0" if _AMBIGUOUS.fullmatch(written.lstrip("-")) else written


def parse_number(text: str) -> str | None:
    """Read ``5 km``, ``5.0km``, ``14 percent`` or a bare number to one spelling."""
    found = _NUMBER.fullmatch(ascii_digits(text).translate(_SIGNS))
    if not found:
        return None
    number = parse_decimal(found[1].strip())
    if number is None:
        return None
    unit = found[2].strip()
    first, _, rest = unit.partition(" ")
    scale = _SCALE.get(fold(first))
    if scale is not None:
        number, unit = number * scale, rest.strip()
    if not unit:
        return format_decimal(number)
    resolved = resolve_unit(unit)
    return None if resolved is None else f"{format_decimal(number)} {resolved}"


def magnitude(text: str) -> Decimal | None:
    """Return the number in a value that ``parse_number`` understands, without its unit."""
    written = parse_number(text)
    return None if written is None else Decimal(written.partition(" ")[0])


_SIGNS = str.maketrans({"\u2212": "-", "\u2019": "'"})
