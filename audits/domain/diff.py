"""What changed between two values, word by word. Pure; drawn with ins and del."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher

_WORDS = re.compile(r"\s+|[^\W_]+|.", re.DOTALL)
ALIKE = 0.5  # below it, what was kept is chance (spaces, "the"), and the diff a puzzle
WORDS_LIMIT = 1_500  # the matcher costs the square; a fact's value has at most 2,000 characters


@dataclass(frozen=True, slots=True)
class Change:
    """A run of text: ``kept``, ``removed`` from the old or ``added`` by the new."""

    kind: str
    text: str


def changes(old: str, new: str) -> Iterator[Change]:
    """Yield the runs that turn ``old`` into ``new``, in order."""
    before, after = _WORDS.findall(old), _WORDS.findall(new)
    if len(before) + len(after) > WORDS_LIMIT:
        yield Change("removed", old)
        yield Change("added", new)
        return
    matcher = SequenceMatcher(None, before, after, autojunk=False)
    if matcher.ratio() < ALIKE:
        yield Change("removed", old)
        yield Change("added", new)
        return
    for _, old_from, old_to, new_from, new_to in matcher.get_opcodes():
        if before[old_from:old_to] == after[new_from:new_to]:
            yield Change("kept", "".join(before[old_from:old_to]))
            continue
        if old_to > old_from:
            yield Change("removed", "".join(before[old_from:old_to]))
        if new_to > new_from:
            yield Change("added", "".join(after[new_from:new_to]))
