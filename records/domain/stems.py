"""English word endings, taken off the same way for ever.

Owns the first steps of Porter's algorithm (plurals, -ed, -ing, final y and e):
enough for a question to meet a statement, too little to join other meanings.
Written here and not taken from a package, since a package that improves would
change every stored term. Must not weigh words; ``terms.py`` hashes what comes out.
"""

from __future__ import annotations

import re

_MIN_LENGTH = 4  # his, was, bus, red
_VOWEL = re.compile(r"[aeiouy]")
_DOUBLE = re.compile(r"([bdfgmnprt])\1$")
_SHORT = re.compile(r"^[^aeiou]*[aeiouy][^aeiouwxy]$")  # liv, hop: they had an e


def stem(word: str) -> str:
    """Return the stem of a lower-case word; what is not a plain English word comes back as is."""
    if len(word) < _MIN_LENGTH or not (word.isascii() and word.isalpha()):
        return word
    word = _without_plural(word)
    if word.endswith("eed"):  # agreed, but not need
        return word[:-2] if _VOWEL.search(word[:-3]) else word
    for ending in ("ed", "ing"):
        base = word.removesuffix(ending)
        if base != word and len(base) > 1 and _VOWEL.search(base):
            word = _restored(base)
            break
    if word.endswith("y") and len(word) > 2 and _VOWEL.search(word[:-1]):
        return word[:-1] + "i"
    if word.endswith("e") and not _SHORT.match(word[:-1]):
        return word[:-1]
    return word


def _without_plural(word: str) -> str:
    if word.endswith(("sses", "xes", "zes", "ches", "shes")):
        return word[:-2]
    if word.endswith("ies"):
        return word[:-2]
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


def _restored(base: str) -> str:
    """Give back what the ending took: a final e, or one letter of a doubled pair."""
    if _DOUBLE.search(base):
        return base[:-1]
    return base + "e" if _SHORT.match(base) else base
