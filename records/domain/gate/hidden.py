"""Characters that nobody sees: which are innocent, and what the others carry.

Owns the judgement of invisible characters in context and the decoding of the
channels they are used for (tag characters, variation selectors, bidi
overrides). Must not scan the decoded text: ``views.py`` does. Emoji sequences,
Persian and Indic joiners, flags and marks in right-to-left text are innocent.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass

from records.domain.gate.folding import is_invisible

_ZWNJ, _ZWJ = "\u200c", "\u200d"
_OVERRIDES = "\u202d\u202e"
_BIDI_MARKS = frozenset("\u200e\u200f\u061c\u202a\u202b\u202c\u2066\u2067\u2068\u2069")
_HARMLESS = frozenset("\u00ad\ufeff")
_FLAG_BASE = "\U0001f3f4"
_TAG_END = "\U000e007f"


@dataclass(frozen=True, slots=True)
class Invisible:
    """A run of invisible characters that has no innocent reason to be there."""

    kind: str  # "tags" | "selectors" | "override" | "joiner" | "format"
    span: tuple[int, int]
    payload: str = ""  # what the run spells, when it is a channel
    in_word: bool = False


def find(text: str) -> list[Invisible]:
    """Return the suspicious runs of invisible characters, left to right."""
    right_to_left = any(unicodedata.bidirectional(char) in ("R", "AL") for char in text)
    found: list[Invisible] = []
    index = 0
    while index < len(text):
        if not is_invisible(text[index]):
            index += 1
            continue
        end = index + 1
        while end < len(text) and is_invisible(text[end]):
            end += 1
        run = _judge(text, index, end, right_to_left=right_to_left)
        if run is not None:
            found.append(run)
        index = end
    return found


def _judge(text: str, start: int, end: int, *, right_to_left: bool) -> Invisible | None:
    run = text[start:end]
    before = text[start - 1] if start else ""
    after = text[end] if end < len(text) else ""
    tags = [char for char in run if "\U000e0020" <= char <= "\U000e007f"]
    if tags:
        if before == _FLAG_BASE and run.endswith(_TAG_END) and len(run) <= 7:
            return None
        spelled = "".join(chr(ord(char) - 0xE0000) for char in tags if char != _TAG_END)
        return Invisible("tags", (start, end), payload=spelled)
    selectors = [char for char in run if _selector(char) is not None]
    if len(selectors) >= 2:
        raw = bytes(value for char in selectors if (value := _selector(char)) is not None)
        return Invisible("selectors", (start, end), payload=raw.decode("utf-8", "replace"))
    for override in _OVERRIDES:
        if override in run:
            close = text.find("\u202c", end)
            inner = text[end : close if close >= 0 else len(text)]
            spelled = inner[::-1] if override == "\u202e" else inner
            return Invisible("override", (start, end + len(inner)), payload=spelled)
    if all(_innocent(char, before, after, right_to_left=right_to_left) for char in run):
        return None
    in_word = before.isalpha() and after.isalpha() and _latin(before) and _latin(after)
    return Invisible("joiner" if run in (_ZWJ, _ZWNJ) else "format", (start, end), in_word=in_word)


def _selector(char: str) -> int | None:
    code = ord(char)
    if 0xFE00 <= code <= 0xFE0F:
        return code - 0xFE00
    if 0xE0100 <= code <= 0xE01EF:
        return code - 0xE0100 + 16
    return None


def _innocent(char: str, before: str, after: str, *, right_to_left: bool) -> bool:
    if _selector(char) is not None:
        return (bool(before) and not before.isascii()) or before in "#*0123456789"
    if char in _BIDI_MARKS:
        return right_to_left
    if char in _HARMLESS:
        return True
    if char in (_ZWJ, _ZWNJ):
        return _joins_script(before) or _joins_script(after) or _pictograph(before)
    if char == "\u200b":
        return not (_latin(before) and _latin(after))
    return False


def _latin(char: str) -> bool:
    return char != "" and (char.isascii() or ord(char) < 0x250)


def _joins_script(char: str) -> bool:
    """Say whether the character is of a script in which joiners are orthography."""
    return char != "" and 0x0600 <= ord(char) <= 0x1CFF


def _pictograph(char: str) -> bool:
    return char != "" and (unicodedata.category(char) in ("So", "Sk", "Mn") or is_invisible(char))
