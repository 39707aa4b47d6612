"""Where a piece of a view lies in the text that the writer sent.

Owns the mapping from a normalised or decoded reading back to the original
characters. Must not decide anything about the text. Read ``views.py`` next for
the readings themselves.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class View:
    """One reading of one field: its text, and how to find the way back.

    ``origin`` holds, for every character of ``text``, the index of the original
    character it came from; ``None`` means that both have the same indices.
    ``whole`` is set for a decoded token: every match then marks that token.
    """

    name: str
    field: str
    text: str
    origin: Sequence[int] | None = None
    whole: tuple[int, int] | None = None

    def locate(self, start: int, end: int) -> tuple[int, int]:
        """Return the half-open range of the original text behind a match."""
        if self.whole is not None:
            return self.whole
        if self.origin is None:
            return start, max(end, start)
        if not self.origin:
            return 0, 0
        last = len(self.origin) - 1
        first = self.origin[min(start, last)]
        final = self.origin[min(max(end - 1, start), last)]
        return min(first, final), max(first, final) + 1


@dataclass(frozen=True, slots=True)
class Piece:
    """One field of a fact, with its text as written."""

    field: str
    text: str


MASK = "…"
SHOWN = 160  # characters of a match kept in a finding: enough to recognise, short enough to list


def excerpt(text: str, span: tuple[int, int]) -> str:
    """Return the matched text, shortened in the middle when it is long."""
    matched = text[span[0] : span[1]]
    if len(matched) <= SHOWN:
        return matched
    half = SHOWN // 2
    return f"{matched[:half]}{MASK}{matched[-half:]}"


def mask(secret: str) -> str:
    """Return a form of a secret that cannot be used, only recognised by its kind."""
    return f"[{len(secret)} characters hidden]"
