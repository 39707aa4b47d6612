"""Word lists that the shape rules read; loaded once from ``lexicon/``.

Owns the lists and their loading. Must not judge a sentence: ``shape.py`` does.
"""

from __future__ import annotations

import functools
import tomllib
from dataclasses import dataclass
from pathlib import Path

_FOLDER = Path(__file__).parent / "lexicon"


@dataclass(frozen=True, slots=True)
class English:
    """The English lists of ``lexicon/en.toml``; the file says what each is for."""

    verbs: frozenset[str]
    homographs: frozenset[str]
    openers: frozenset[str]
    fillers: frozenset[str]
    finite: frozenset[str]
    questions: frozenset[str]
    prepositional: frozenset[str]
    prepositions: frozenset[str]


@functools.cache
def english() -> English:
    """Return the English lists; read once per process."""
    data = tomllib.loads((_FOLDER / "en.toml").read_text(encoding="utf-8"))
    lists = {name: frozenset(words.split()) for name, words in data.items()}
    return English(
        verbs=lists["verbs"] - lists["homographs"],
        homographs=lists["homographs"],
        openers=lists["openers"],
        fillers=lists["fillers"],
        finite=lists["finite"],
        questions=lists["questions"],
        prepositional=lists["prepositional"],
        prepositions=lists["prepositions"],
    )
