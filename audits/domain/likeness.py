"""Whether two facts of one partition say the same in other words. Pure.

Owns the judgement behind a suggestion; it merges nothing. Facts that must coexist
are often more alike than restatements ("staging port 8080", "production port
8081"), so likeness alone is no reason: a pair is suggested only when nothing that
carries meaning differs. What is left of either text once the shared words, known
synonyms and words without weight are taken away must be nothing, or a slip of the
pen; numbers, negation, doubt and, where direction matters, order must agree. The
tables are small on purpose: a word that is not in them is a difference.
Read ``likeness_words.py`` for the tables and docs/duplicates.md for the figures.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from audits.domain.likeness_words import (
    CLASSES,
    DIRECTED,
    GENERIC,
    LIGHT,
    MARKS,
    NAMED,
    NUMBERS,
    PHRASES,
)
from records.domain.stems import stem

TYPO_SHORTEST = 7  # shorter words that differ by one slip are often two words, or two names
TEXT_LIMIT = 600  # characters: longer texts restate each other too rarely to read

_TOKEN = re.compile(r"[^\W_]+(?:'[^\W_]+)*")
_GLUED = re.compile(r"(?<=\d)(?=[^\W\d_])|(?<=[^\W\d_])(?=\d)")
_THOUSANDS = re.compile(r"(?<=\d)[ ,](?=\d{3}\b)")
_DECIMAL = re.compile(r"(?<=\d)\.(?=\d)")
_NOT = re.compile(r"n['\u2019]t\b")
_HYPHEN = re.compile(r"(?<=[^\W\d_])-(?=[^\W\d_])")


@dataclass(frozen=True, slots=True)
class Said:
    """What one fact says, as far as likeness looks at it."""

    subject: str
    predicate: str
    value: str

    @property
    def is_note(self) -> bool:
        """Whether the value is a whole sentence, subject and all."""
        return self.predicate == "note"


@dataclass(frozen=True, slots=True)
class Words:
    """A text as it is compared: its weighty words in order, and its marks."""

    content: tuple[str, ...]
    marks: tuple[str, ...]
    numbers: tuple[str, ...]
    endings: dict[str, str]  # stem -> its form, to tell lived from lives


def is_restated(one: Said, other: Said) -> bool:
    """Say whether two facts state the same in other words, so that a person should look."""
    texts = _texts(one, other)
    if texts is None or max(map(len, texts)) > TEXT_LIMIT:
        return False
    mine, theirs = (read(text) for text in texts)
    if mine.numbers != theirs.numbers or mine.marks != theirs.marks:
        return False
    if not mine.content or not theirs.content or _is_past_of(mine, theirs):
        return False
    left = _left(mine.content, theirs.content)
    right = _left(theirs.content, mine.content)
    if (left or right) and not _is_slip(left, right):
        return False
    return not _is_reordered(mine, theirs, texts)


def read(text: str) -> Words:
    """Return a text's words as they are compared."""
    plain = unicodedata.normalize("NFKD", text).casefold()
    plain = "".join(c for c in plain if not unicodedata.combining(c))
    plain = _NOT.sub(" not", plain).replace("cannot", "can not").replace("\u2019", "'")
    for phrase, instead in PHRASES:
        plain = phrase.sub(instead, plain)
    plain = _HYPHEN.sub("", _DECIMAL.sub("point", _THOUSANDS.sub("", plain)))
    tokens = [
        part
        for token in _TOKEN.findall(plain.replace("_", " "))
        for part in _GLUED.split(token.removesuffix("'s"))
    ]
    content: list[str] = []
    marks: list[str] = []
    numbers: list[str] = []
    endings: dict[str, str] = {}
    for token in tokens:
        word = NUMBERS.get(token, token)
        if any(c.isdigit() for c in word):
            numbers.append(word)
        elif word in MARKS:
            marks.append(MARKS[word])
        elif word not in LIGHT:
            found = stem(spelled(NAMED.get(word, word)))
            endings[found] = word
            if found not in LIGHT:
                content.append(CLASSES.get(found, found))
    return Words(tuple(content), tuple(sorted(marks)), tuple(sorted(numbers)), endings)


def spelled(word: str) -> str:
    """Return a word in one of its two spellings: colour and color, organise and organize."""
    if len(word) > 5 and "our" in word[2:] and not word.endswith(("hour", "tour", "four")):
        word = word.replace("our", "or")
    for ending, instead in (("isation", "ization"), ("ise", "ize"), ("ising", "izing"),
                            ("ised", "ized"), ("tre", "ter"), ("lling", "ling")):  # fmt: skip
        if len(word) > len(ending) + 2 and word.endswith(ending):
            return word[: -len(ending)] + instead
    return word


def _texts(one: Said, other: Said) -> tuple[str, str] | None:
    """Return the two texts to compare; none when they speak of different subjects."""
    if one.is_note != other.is_note:
        # A sentence names its subject; so must the fact beside it.
        first, second = (
            said.value if said.is_note else f"{said.subject} {said.predicate} {said.value}"
            for said in (one, other)
        )
        return first, second
    if not one.is_note and Counter(read(one.subject).content) != Counter(
        read(other.subject).content
    ):
        return None
    if one.subject.casefold() != other.subject.casefold() and (
        read(one.subject).numbers != read(other.subject).numbers
    ):
        return None
    if one.predicate == other.predicate:
        return one.value, other.value
    first, second = (f"{_without_generic(said.predicate)} {said.value}" for said in (one, other))
    return first, second


def _without_generic(predicate: str) -> str:
    return " ".join(w for w in predicate.replace("_", " ").split() if w.casefold() not in GENERIC)


def _left(mine: Sequence[str], theirs: Sequence[str]) -> list[str]:
    """Return the words of one text that the other has not, once each."""
    known = set(theirs)
    return [word for word in dict.fromkeys(mine) if word not in known]


def _is_slip(left: Sequence[str], right: Sequence[str]) -> bool:
    """Say whether what differs is one slip of the pen, or a word written in two."""
    if not left or not right:
        return False
    if "".join(left) == "".join(right):
        return True
    if len(left) != 1 or len(right) != 1:
        return False
    return _is_typo(left[0], right[0])


def _is_typo(one: str, other: str) -> bool:
    """Say whether two long words differ by letters that changed places, or one that doubled."""
    if min(len(one), len(other)) < TYPO_SHORTEST or one[0] != other[0]:
        return False
    if len(one) == len(other):
        places = [i for i in range(len(one)) if one[i] != other[i]]
        return (
            len(places) == 2
            and places[1] == places[0] + 1
            and one[places[0]] == other[places[1]]
            and one[places[1]] == other[places[0]]
        )
    return re.sub(r"(.)\1", r"\1", one) == re.sub(r"(.)\1", r"\1", other)


def _is_past_of(mine: Words, theirs: Words) -> bool:
    """Say whether one says in the past what the other says in the present: lived, lives."""
    for found, form in mine.endings.items():
        other = theirs.endings.get(found, form)
        if form.endswith("ed") != other.endswith("ed") and "s" in (form[-1], other[-1]):
            return True
    return False


def _is_reordered(mine: Words, theirs: Words, texts: tuple[str, str]) -> bool:
    """Say whether the same words stand in another order where the order may matter.

    It does beside words of direction, and where two names change places.
    """
    shared = set(mine.content) & set(theirs.content)
    one = [w for w in mine.content if w in shared]
    other = [w for w in theirs.content if w in shared]
    if one == other:
        return False
    if any(not DIRECTED.isdisjoint(text.casefold().split()) for text in texts):
        return True
    names = [[w for w in _TOKEN.findall(text) if w[0].isupper()] for text in texts]
    named = [[w.casefold() for w in several[1:]] for several in names]
    # The first word of a sentence is capital whatever it is.
    return len(one) < 4 and any(named) and not _is_list(texts)


def _is_list(texts: tuple[str, str]) -> bool:
    return all(" and " in text or "," in text for text in texts)
