"""Which invisible characters real text needs, and which it does not.

Owns the list of characters that draw nothing, and the places where one of them
is part of the spelling: emoji sequences, Arabic and Indic joiners, variation
selectors, flag tags. Must not judge what was hidden; the gate does that from
what ``clean`` reports. Read ``text.py`` next.
"""

from __future__ import annotations

import re
import unicodedata
from typing import NamedTuple


class Invisible(NamedTuple):
    """One character taken out of a text: where it stood in it, and what it is."""

    position: int
    code_point: int
    name: str


# Controls other than white space, default-ignorable code points, bidirectional controls,
# fillers and tags. Characters of category Cf that do draw (Arabic number signs, Egyptian
# hieroglyph joiners) are not here.
SUSPECT = re.compile(
    "[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5"
    "\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0"
    "\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)

_FLAG = re.compile("\U0001f3f4[\U000e0030-\U000e0039\U000e0061-\U000e007a]{3,6}\U000e007f")
_EMOJI = re.compile(
    "[\u00a9\u00ae\u203c\u2049\u2122\u2139\u2190-\u21ff\u2300-\u23ff\u2460-\u24ff\u25a0-\u27bf"
    "\u2900-\u297f\u2b00-\u2bff\u3030\u303d\u3297\u3299\U0001f000-\U0001fbff]"
)
# Scripts whose spelling uses joiners: Arabic, Syriac, N'Ko, Mandaic, the Indic family,
# Tibetan, Myanmar, Khmer, Mongolian and their relatives.
_JOINING = re.compile(
    "[\u0600-\u07ff\u0840-\u0fff\u1000-\u109f\u1700-\u18af\u1900-\u1cff\ua800-\ua8ff"
    "\ua930-\uaaff\uabc0-\uabff\ufb50-\ufdff\ufe70-\ufefc\U00010a00-\U00010aff\U00011000-\U00011fff]"
)
_IDEOGRAPH = re.compile("[\u2e80-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
_STANDARD_BASE = re.compile(
    "[\u1000-\u109f\u2200-\u22ff\u2a00-\u2aff\u2e80-\u9fff\ua840-\ua87f\uf900-\ufaff"
    "\uff01-\uff60\U00020000-\U0003ffff]"
)
_MONGOLIAN = re.compile("[\u1800-\u180a\u1810-\u18af]")

# Which variation selectors mean something after which characters.
_SELECTORS = (
    ("\ufe00", "\ufe0d", _STANDARD_BASE),
    ("\ufe0e", "\ufe0f", _EMOJI),
    ("\u180b", "\u180d", _MONGOLIAN),
    ("\u180f", "\u180f", _MONGOLIAN),
    ("\U000e0100", "\U000e01ef", _IDEOGRAPH),
)

_ZWNJ, _ZWJ = "\u200c", "\u200d"
_PRESENTATION, _KEYCAP, _KEYCAP_BASES = "\ufe0e\ufe0f", "\u20e3", frozenset("0123456789#*")
_REACH = 32  # marks or hidden characters looked past; a longer run would cost its square
_VIRAMA_CLASS = 9  # canonical combining class of every virama


def remove_invisible(text: str) -> tuple[str, tuple[Invisible, ...]]:
    """Take out the characters that draw nothing and that no spelling needs.

    Of a run of joiners one stays at most, and one variation selector per base,
    so that neither can carry a hidden message. Positions are those of ``text``.
    """
    if not SUSPECT.search(text):
        return text, ()
    flag_tags = {i for m in _FLAG.finditer(text) for i in range(m.start() + 1, m.end())}
    kept: list[str] = []
    removed: list[Invisible] = []
    for position, char in enumerate(text):
        if (
            not SUSPECT.match(char)
            or position in flag_tags
            or _is_needed(char, kept, text, position)
        ):
            kept.append(char)
        else:
            name = unicodedata.name(char, f"CONTROL-{ord(char):04X}")
            removed.append(Invisible(position, ord(char), name))
    return "".join(kept), tuple(removed)


def _is_needed(char: str, kept: list[str], text: str, position: int) -> bool:
    if char in (_ZWNJ, _ZWJ):
        return _is_joiner_needed(char, kept, text, position)
    before = kept[-1] if kept else ""
    if char in _PRESENTATION and before in _KEYCAP_BASES:
        return text[position + 1 : position + 2] == _KEYCAP
    return any(first <= char <= last and base.match(before) for first, last, base in _SELECTORS)


def _is_joiner_needed(char: str, kept: list[str], text: str, position: int) -> bool:
    base, after_virama = _base_before(kept)
    following = _visible_after(text, position)
    if _JOINING.match(base):
        # A word may end in virama and joiner (the older spelling of Malayalam chillus).
        return bool(_JOINING.match(following)) or (after_virama and kept[-1] not in (_ZWNJ, _ZWJ))
    return char == _ZWJ and bool(_EMOJI.match(base) and _EMOJI.match(following))


def _base_before(kept: list[str]) -> tuple[str, bool]:
    """Find the character that the marks before this place sit on, and a virama among them."""
    after_virama = False
    for char in reversed(kept[-_REACH:]):
        if unicodedata.category(char)[0] != "M":
            return char, after_virama
        after_virama = after_virama or unicodedata.combining(char) == _VIRAMA_CLASS
    return "", after_virama


def _visible_after(text: str, position: int) -> str:
    for char in text[position + 1 : position + 1 + _REACH]:
        if not SUSPECT.match(char):
            return char
    return ""
