"""Folding: one spelling for the many ways to write the same letters.

Owns the per-character table (compatibility forms, case, accents, invisible
characters) and the confusables. Must not decide whether a text is bad. Folding
only adds a reading: what is stored keeps every character. Read ``views.py`` next.
"""

from __future__ import annotations

import unicodedata

# Blank or invisible characters that Unicode does not put in category Cf.
_BLANKS = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0")
_EXTRA = {
    "ß": "ss", "ı": "i", "ł": "l", "ø": "o", "đ": "d", "æ": "ae", "œ": "oe", "þ": "th",
    "’": "'", "‘": "'", "ʼ": "'", "＇": "'", "“": '"', "”": '"', "„": '"', "«": '"', "»": '"',
    "–": "-", "—": "-", "−": "-", "‐": "-", "‑": "-",
    "أ": "ا", "إ": "ا", "آ": "ا", "ى": "ي", "ـ": "", "\u093c": "", "ё": "е",
    "¿": "? ", "¡": "! ",
}  # fmt: skip

# Letters of other scripts that a reader takes for a Latin letter (lower case).
_LOOKALIKES = {
    # Cyrillic
    "а": "a", "в": "b", "с": "c", "ԁ": "d", "е": "e", "һ": "h", "н": "h", "і": "i", "ї": "i",
    "ј": "j", "к": "k", "ӏ": "l", "м": "m", "п": "n", "о": "o", "р": "p", "ԛ": "q", "г": "r",
    "ѕ": "s", "т": "t", "υ": "u", "ѵ": "v", "ԝ": "w", "х": "x", "у": "y", "ь": "b", "з": "3",
    # Greek
    "α": "a", "β": "b", "ε": "e", "η": "n", "ι": "i", "κ": "k", "ν": "v", "ο": "o", "ρ": "p",
    "τ": "t", "χ": "x", "γ": "y", "ω": "w", "σ": "o", "ζ": "z", "μ": "m",
    # Armenian, Cherokee and Latin extensions
    "օ": "o", "ս": "u", "ո": "n", "հ": "h", "ց": "g", "զ": "q", "ա": "w",
    "ɑ": "a", "ɡ": "g", "ɩ": "i", "ɪ": "i", "ʟ": "l", "ɴ": "n", "ʀ": "r", "ꜱ": "s", "ʏ": "y",
    "ᴀ": "a", "ʙ": "b", "ᴄ": "c", "ᴅ": "d", "ᴇ": "e", "ꜰ": "f", "ɢ": "g", "ʜ": "h", "ᴊ": "j",
    "ᴋ": "k", "ᴍ": "m", "ᴏ": "o", "ᴘ": "p", "ᴛ": "t", "ᴜ": "u", "ᴠ": "v", "ᴡ": "w", "ᴢ": "z",
}  # fmt: skip
# Upper-case shapes that look like another letter than their lower case does.
_CAPITALS = {"Ѕ": "s", "Н": "h", "Η": "h", "Ν": "n", "Β": "b", "Ρ": "p", "Υ": "y", "Μ": "m"}
LOOKALIKES = _LOOKALIKES | _CAPITALS

_SMALL_CAPS_AND_IPA = frozenset("ɑɡɩɪʟɴʀꜱʏᴀʙᴄᴅᴇꜰɢʜᴊᴋᴍᴏᴘᴛᴜᴠᴡᴢ")


def is_invisible(char: str) -> bool:
    """Say whether a character shows nothing: format characters, selectors, fillers."""
    return (
        unicodedata.category(char) == "Cf"
        or char in _BLANKS
        or "\ufe00" <= char <= "\ufe0f"
        or "\U000e0100" <= char <= "\U000e01ef"
    )


def _fold(char: str) -> str:
    if char in _EXTRA:
        return _EXTRA[char]
    if is_invisible(char):
        return ""
    lowered = unicodedata.normalize("NFKC", char).lower()
    if lowered != char and len(lowered) == 1 and lowered in _EXTRA:
        return _EXTRA[lowered]
    kept = []
    base_is_latin = True
    for part in unicodedata.normalize("NFD", lowered):
        if unicodedata.combining(part) and (base_is_latin or "\u064b" <= part <= "\u0652"):
            continue
        base_is_latin = part < "\u0250" or "\u1e00" <= part <= "\u1eff"
        kept.append(part)
    folded = unicodedata.normalize("NFC", "".join(kept))
    return "".join(_EXTRA.get(part, part) for part in folded)


class _FoldTable(dict[int, str]):
    """A translation table that fills itself; at most one entry per code point."""

    def __missing__(self, code: int) -> str:
        folded = _fold(chr(code))
        self[code] = folded
        return folded


FOLD = _FoldTable()


def fold(text: str) -> str:
    """Return the text as rules read it: lower case, no accents, nothing invisible."""
    if text.isascii():
        return text.lower()
    return text.translate(FOLD)


def fold_with_origin(text: str) -> tuple[str, list[int]]:
    """Fold, and say for each folded character which original one it came from."""
    parts: list[str] = []
    origin: list[int] = []
    for index, char in enumerate(text):
        folded = FOLD[ord(char)]
        parts.append(folded)
        origin.extend([index] * len(folded))
    return "".join(parts), origin


def _script(char: str) -> str:
    if char.isascii():
        return "latin" if char.isalpha() else ""
    if not char.isalpha():
        return ""
    code = ord(char)
    if char in _SMALL_CAPS_AND_IPA:
        return "lookalike"
    if code < 0x250 or 0x1E00 <= code <= 0x1EFF:
        return "latin"
    if 0x370 <= code <= 0x3FF:
        return "greek"
    if 0x400 <= code <= 0x52F:
        return "cyrillic"
    if 0x530 <= code <= 0x58F:
        return "armenian"
    return "other"


def has_lookalikes(text: str) -> bool:
    """Say whether any letter of the text could stand in for a Latin one."""
    return any(char in LOOKALIKES for char in text)


def unmask(text: str) -> tuple[str, list[tuple[int, int]]]:
    """Fold look-alike letters to Latin, word by word, and list the mixed words.

    A word is folded when it mixes Latin with look-alikes, or when all of it is
    look-alikes and the text also holds Latin words; names and sentences in one
    script of their own stay. The result has the length of the input.
    """
    latin_text = any(_script(char) == "latin" for char in text)
    out = list(text)
    mixed: list[tuple[int, int]] = []
    for start, end in _words(text):
        word = text[start:end]
        scripts = {script for char in word if (script := _script(char))}
        foreign = [char for char in word if _script(char) not in ("", "latin")]
        if not foreign or any(char not in LOOKALIKES for char in foreign):
            continue
        is_mixed = "latin" in scripts or len(scripts) > 1
        if is_mixed and _disguises(foreign, word):
            mixed.append((start, end))
        if is_mixed or latin_text:
            out[start:end] = [LOOKALIKES.get(char, char) for char in word]
    return "".join(out), mixed


def _disguises(foreign: list[str], word: str) -> bool:
    """Tell a disguised word from a unit or a symbol such as "µm" or "Δt"."""
    if all(_script(char) == "greek" for char in foreign):
        return len(word) >= 4 and len(foreign) >= 1 and "μ" not in word
    return len(word) >= 2


def _words(text: str) -> list[tuple[int, int]]:
    spans: list[tuple[int, int]] = []
    start = -1
    for index, char in enumerate(text):
        if char.isalpha():
            if start < 0:
                start = index
        elif start >= 0:
            spans.append((start, index))
            start = -1
    if start >= 0:
        spans.append((start, len(text)))
    return spans
