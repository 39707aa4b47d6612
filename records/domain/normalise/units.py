"""The spellings of units of measurement.

Owns one table. A unit that is not in it keeps its own spelling, so that an
unknown unit can never equal another. Case is kept where it carries meaning:
MW and mW, Mb and MB. Read ``quantities.py`` next.
"""

from __future__ import annotations

import re

from records.domain.normalise.text import fold

_SPELLINGS = {
    "mm": "millimetre millimetres millimeter millimeters",
    "cm": "centimetre centimetres centimeter centimeters",
    "m": "metre metres meter meters",
    "km": "kilometre kilometres kilometer kilometers kms",
    "in": "inch inches",
    "ft": "foot feet",
    "yd": "yard yards yds",
    "mi": "mile miles",
    "m²": "m2 sqm sq.m",
    "km²": "km2 sqkm",
    "ft²": "ft2 sqft",
    "m³": "m3 cbm",
    "mg": "milligram milligrams milligramme milligrammes mgs",
    "g": "gram grams gramme grammes gr",
    "kg": "kilogram kilograms kilogramme kilogrammes kilo kilos kgs",
    "t": "tonne tonnes",
    "lb": "lbs pound pounds",
    "oz": "ounce ounces",
    "ml": "millilitre millilitres milliliter milliliters",
    "l": "litre litres liter liters",
    "ms": "millisecond milliseconds msec",
    "s": "sec secs second seconds",
    "min": "mins minute minutes",
    "h": "hr hrs hour hours",
    "d": "day days",
    "wk": "wks week weeks",
    "mo": "mos month months",
    "yr": "yrs year years",
    "%": "percent pct",
    "°c": "celsius",
    "°f": "fahrenheit",
    "km/h": "kph kmh kmph",
    "mph": "mi/h",
    "m/s": "mps",
    "kcal": "kilocalorie kilocalories",
    "bpm": "",
    "kwh": "",
    "px": "pixel pixels",
    "byte": "bytes",
    "bit": "bits",
    "kb": "kilobyte kilobytes",
    "mb": "megabyte megabytes",
    "gb": "gigabyte gigabytes",
    "tb": "terabyte terabytes",
}
_PHRASES = {
    "per cent": "%",
    "square metres": "m²",
    "square meters": "m²",
    "square metre": "m²",
    "square meter": "m²",
    "sq m": "m²",
    "square feet": "ft²",
    "square foot": "ft²",
    "sq ft": "ft²",
    "cubic metres": "m³",
    "cubic meters": "m³",
    "degrees celsius": "°c",
    "degree celsius": "°c",
    "degrees c": "°c",
    "degrees fahrenheit": "°f",
    "degree fahrenheit": "°f",
    "degrees f": "°f",
    "° c": "°c",
    "° f": "°f",
    "miles per hour": "mph",
    "kilometres per hour": "km/h",
    "kilometers per hour": "km/h",
    "km per hour": "km/h",
    "metres per second": "m/s",
    "meters per second": "m/s",
}
_FOLDED = (
    {unit: unit for unit in _SPELLINGS}
    | {other: unit for unit, others in _SPELLINGS.items() for other in others.split()}
    | _PHRASES
)

# Symbols in which only the case tells one unit from another, and what they are written as.
# A target is either a unit above or a symbol of this table, so that the result reads as itself.
_CASED = {
    symbol: symbol
    for symbol in ("mW", "MW", "mV", "MV", "mA", "MA", "mJ", "MJ", "Kb", "Mb", "Gb", "Tb", "M", "K")
} | {
    "kB": "kb",
    "KB": "kb",
    "MB": "mb",
    "GB": "gb",
    "TB": "tb",
    "C": "°c",
    "F": "°f",
}

_SHAPE = re.compile(r"[^\W\d_][^\d_]*[23]?|[%°][^\d_]*")
_MAX_WORDS = 3
_MAX_LENGTH = 30


def resolve_unit(text: str) -> str | None:
    """Return the one spelling of a unit, its own if unknown, ``None`` if it is no unit."""
    if len(text) > _MAX_LENGTH:
        return None
    if text in _CASED:
        return _CASED[text]
    folded = fold(text.rstrip(". ") or text)
    known = _FOLDED.get(folded)
    if known is not None:
        return known
    if not (text[0].isalpha() or text[0] in "%°") or not _SHAPE.fullmatch(text):
        return None
    if folded.count(" ") >= _MAX_WORDS or len(folded) > _MAX_LENGTH:
        return None
    return _singular(folded)


def _singular(word: str) -> str:
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word
