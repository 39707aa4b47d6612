"""Postal addresses.

Owns the usual short spellings of street words. Numbers, order and names stay:
two addresses are one only if every number and every name agrees. Must not
complete an address or look one up.
"""

from __future__ import annotations

import re

from records.domain.normalise.text import fold

# One spelling per word. Saint and street share theirs: both are written "St.".
_SHORT = {
    "st": "street str saint",
    "rd": "road",
    "ave": "avenue av aven",
    "blvd": "boulevard boul",
    "dr": "drive drv",
    "ln": "lane",
    "ct": "court crt",
    "pl": "place",
    "sq": "square",
    "ter": "terrace terr",
    "pkwy": "parkway pkway",
    "hwy": "highway hway",
    "cres": "crescent cresc",
    "cl": "close",
    "gdns": "gardens gdn garden",
    "gr": "grove grv",
    "cir": "circle circ",
    "aly": "alley",
    "trl": "trail",
    "expy": "expressway",
    "apt": "apartment appt",
    "ste": "suite",
    "bldg": "building",
    "fl": "floor flr",
    "rm": "room",
    "dept": "department",
    "mt": "mount",
    "ft": "fort",
    "us": "usa",
    "1st": "first",
    "2nd": "second",
    "3rd": "third",
    "4th": "fourth",
    "5th": "fifth",
    "6th": "sixth",
    "7th": "seventh",
    "8th": "eighth",
    "9th": "ninth",
    "10th": "tenth",
}
_WORD = {word: short for short, words in _SHORT.items() for word in words.split()}
_STREET_WORDS = {
    *("st", "rd", "ave", "blvd", "dr", "ln", "ct", "pl", "sq", "ter", "pkwy", "hwy", "cres"),
    *("cl", "gdns", "gr", "cir", "aly", "trl"),
}
_DIRECTIONS = {
    "north": "n",
    "south": "s",
    "east": "e",
    "west": "w",
    "northeast": "ne",
    "northwest": "nw",
    "southeast": "se",
    "southwest": "sw",
}
_INITIALS = re.compile(r"(?<=\b[^\W\d_])\.(?=[^\W\d_]\b)")  # P.O. Box, D.C.
_SEPARATORS = re.compile(r"[,;()\"]|(?<![\d.])\.++|\.++(?!\d)|(?<!\w)-(?!\w)")
_PHRASES = (
    (re.compile(r"\bp ?o ?box\b"), "pobox"),
    (re.compile(r"\bunited states(?: of america)?\b"), "us"),
    (re.compile(r"\bunited kingdom\b"), "uk"),
    # #4, # 4, apt #4, apt. no. 4
    (re.compile(r"\b(apt|apartment|ste|suite|unit|room|rm) ?(?:(?:#|\bno\b) ?)+(?=\w)"), r"\1 "),
    (re.compile(r"(?<!#)(?<!# )(?:# ?)++(?=\w)"), " apt "),
    # LS1 4AB and LS14AB
    (re.compile(r"\b([a-z]{1,2}\d[a-z\d]?) (\d[a-z]{2})\b"), r"\1\2"),
    # Hauptstraße, Hauptstr.
    (re.compile(r"(?<=[^\W\d_])strasse\b"), "str"),
)


def parse_address(text: str) -> str | None:
    """Read an address with its street words, unit marks and punctuation levelled."""
    separated = _SEPARATORS.sub(" ", _INITIALS.sub("", fold(text)))
    levelled = " ".join(separated.split())
    for pattern, written in _PHRASES:
        levelled = pattern.sub(written, levelled)
    words = [_WORD.get(word, word) for word in levelled.split()]
    return " ".join(_directions(words)) or None


def _directions(words: list[str]) -> list[str]:
    """Shorten ``North`` in ``North Main Street`` but not in ``North Street``."""
    return [
        _DIRECTIONS[word] if word in _DIRECTIONS and after not in _STREET_WORDS else word
        for word, after in zip(words, [*words[1:], ""], strict=False)
    ]
