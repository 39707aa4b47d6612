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
    triggers: frozenset[str]
    fronted: frozenset[str]
    trigger_units: frozenset[str]
    wished: frozenset[str]
    same_past: frozenset[str]
    past: frozenset[str]
    wrappers: frozenset[str]
    howto: frozenset[str]
    small: frozenset[str]
    relatives: frozenset[str]
    noun_openers: frozenset[str]
    noun_links: frozenset[str]
    courtesies: frozenset[str]
    aims: frozenset[str]


@functools.cache
def english() -> English:
    """Return the English lists; read once per process."""
    data = tomllib.loads((_FOLDER / "en.toml").read_text(encoding="utf-8"))
    lists = {name: frozenset(words.split()) for name, words in data.items()}
    lists["verbs"] -= lists["homographs"]
    return English(**lists)


@functools.cache
def predicates() -> dict[str, frozenset[str]]:
    """Return the groups of predicate names in ``lexicon/predicates.toml``."""
    data = tomllib.loads((_FOLDER / "predicates.toml").read_text(encoding="utf-8"))
    return {name: frozenset(words.split()) for name, words in data.items()}
