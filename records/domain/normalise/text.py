"""The spelling every text is brought to, and the fold that identity compares.

Owns ``clean`` (what is stored) and ``fold`` (what is compared). Must not use
compatibility forms: NFKC would make 10² equal 102. Read ``invisible.py`` for
what is taken out, ``__init__.py`` for the other kinds of value.
"""

from __future__ import annotations

import re
import unicodedata

from records.domain.normalise.invisible import Invisible, remove_invisible

_BLANK_BRAILLE = "\u2800"  # draws nothing and separates words, but str.split keeps it

# Typographic spellings of the same sign: a keyboard and a word processor write the same
# fact. Presentation selectors only choose between a black and a coloured glyph.
_TYPOGRAPHY = str.maketrans(
    {
        "\u2018": "'",
        "\u2019": "'",
        "\u201b": "'",
        "\u02bc": "'",
        "\u201c": '"',
        "\u201d": '"',
        "\u201e": '"',
        "\u201f": '"',
        "\u2010": "-",
        "\u2011": "-",
        "\u2012": "-",
        "\u2013": "-",
        "\u2212": "-",
        "\ufe0e": None,
        "\ufe0f": None,
    }
)

_TYPOGRAPHIC = re.compile(f"[{''.join(map(chr, _TYPOGRAPHY))}]")


def clean(text: str) -> tuple[str, tuple[Invisible, ...]]:
    """Return ``text`` as it is kept, and the invisible characters taken out of it.

    NFC, white space collapsed to single spaces and trimmed. Never fails: lone
    surrogates pass through and are refused where shape is checked. Repeatable.
    """
    if text.isascii() and text.isprintable():
        return _collapse(text), ()
    visible, removed = remove_invisible(text)
    if not visible.isascii():
        visible = unicodedata.normalize("NFC", visible).replace(_BLANK_BRAILLE, " ")
    return " ".join(visible.split()), removed


def fold(text: str) -> str:
    """Return a cleaned text as identity compares it: without case, typography levelled."""
    if text.isascii():
        return text.lower()
    return unicodedata.normalize("NFC", level_typography(text.casefold()))


def level_typography(text: str) -> str:
    """Write typographic quotes and dashes as a keyboard does; case stays."""
    return text.translate(_TYPOGRAPHY) if _TYPOGRAPHIC.search(text) else text


def ascii_digits(text: str) -> str:
    """Write every decimal digit of any script in ASCII; superscripts are not digits."""
    if text.isascii():
        return text
    return "".join(str(unicodedata.decimal(c)) if c.isdecimal() else c for c in text)


def _collapse(text: str) -> str:
    if "  " in text or text[:1] == " " or text[-1:] == " ":
        return " ".join(text.split())
    return text
