"""Hostile text cut into pieces that a page can show without being fooled by them.

Owns where the chips go: characters that draw nothing, turn the direction of
the text or break its line become labelled pieces. Pure; ``templatetags`` draws
them. What real spelling needs (emoji sequences, joiners of Indic scripts)
stays text: that judgement is ``records.domain.normalise.invisible``'s.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from records.domain.normalise.invisible import remove_invisible

MARKS_LIMIT = 4  # combining marks on one letter; towers of them cover their neighbours
_SHORT_NAMES = {
    0x00: "NUL",
    0x07: "BEL",
    0x08: "BS",
    0x09: "tab",
    0x0A: "new line",
    0x0D: "return",
    0x1B: "ESC",
    0x85: "new line",
    0xAD: "soft hyphen",
    0x200B: "zero-width space",
    0x200C: "zero-width non-joiner",
    0x200D: "zero-width joiner",
    0x200E: "left-to-right mark",
    0x200F: "right-to-left mark",
    0x202A: "left-to-right embedding",
    0x202B: "right-to-left embedding",
    0x202C: "end of direction",
    0x202D: "left-to-right override",
    0x202E: "right-to-left override",
    0x2028: "line separator",
    0x2029: "paragraph separator",
    0x2060: "word joiner",
    0x2066: "left-to-right isolate",
    0x2067: "right-to-left isolate",
    0x2068: "first-strong isolate",
    0x2069: "end of isolate",
    0xFEFF: "zero-width no-break space",
}
_BREAKS = frozenset("\t\n\r\x0b\x0c\x85\u2028\u2029")


@dataclass(frozen=True, slots=True)
class Piece:
    """A run of text, or of one hidden character with its label; ``start`` is in the original."""

    text: str
    start: int
    label: str = ""
    marked: bool = False


def pieces(
    text: str, *, keep_lines: bool = False, marks: Sequence[tuple[int, int]] = ()
) -> Iterator[Piece]:
    """Yield the text in order: plain runs, and a labelled piece for each hidden run.

    ``marks`` are half-open ranges that findings point to; a piece never crosses
    the edge of one. With ``keep_lines`` new lines and tabs stay text.
    """
    hidden = {one.position for one in remove_invisible(text)[1]}
    marked = bytearray(len(text))
    for start, end in marks:
        for place in range(max(0, start), min(end, len(text))):
            marked[place] = 1
    begin = 0
    kinds = list(_kinds(text, hidden, keep_lines=keep_lines))
    for place in range(1, len(text) + 1):
        is_end = place == len(text)
        if not is_end and kinds[place] == kinds[begin] and marked[place] == marked[begin]:
            continue
        run = text[begin:place]
        label = _label(run) if kinds[begin] else ""
        yield Piece(run, begin, label, bool(marked[begin]))
        begin = place


def _kinds(text: str, hidden: set[int], *, keep_lines: bool) -> Iterator[str]:
    """Yield for each character what it must be shown as: "" is itself."""
    stacked = 0
    for place, char in enumerate(text):
        is_mark = not char.isascii() and unicodedata.category(char) in ("Mn", "Me")
        stacked = stacked + 1 if is_mark else 0
        if place in hidden or "\ud800" <= char <= "\udfff":
            yield "tags" if "\U000e0020" <= char <= "\U000e007f" else char
        elif char in _BREAKS and not (keep_lines and char in "\t\n"):
            yield char
        elif stacked > MARKS_LIMIT:
            yield "marks"
        else:
            yield ""


def _label(run: str) -> str:
    """Say what a run of hidden characters is; hidden letters are spelled out."""
    first = ord(run[0])
    if "\U000e0020" <= run[0] <= "\U000e007e":
        spelled = "".join(chr(ord(char) - 0xE0000) for char in run if char != "\U000e007f")
        return f"hidden tags: {spelled}"
    if unicodedata.category(run[0]) in ("Mn", "Me") and len(set(run)) > 1:
        return f"{len(run)} combining marks"
    name = _SHORT_NAMES.get(first) or unicodedata.name(run[0], "control").lower()
    times = f" \u00d7{len(run)}" if len(run) > 1 else ""
    return f"U+{first:04X} {name}{times}"
