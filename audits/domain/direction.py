"""What one session keeps saying: the words that come back in what it states, whoever it is about.

Pure. A fact's own subject and predicate are left out, so that a session about one
thing does not look like one that pushes it. Counts alone leave this module, and
numbers for words: the caller keys them before they are stored. Whether what comes
back is odd is for ``suspicion.py``, which knows what other sessions say.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache

from records.domain.terms import query_terms, terms

CANDIDATES = 12  # the words that come back most; a session that pushes something repeats it most
LEAST = 3  # facts: twice is chance
VOCABULARY = 192  # words of a session that others are compared by
SENTENCE = (
    5  # words from which a value is a sentence, which two people do not write alike by chance
)
SENTENCES = 64

# Good facts of talk score under 0.45 in nine of ten cases with the gate's learned scorer, half of
# what steers or redirects scores above (the tuning set of bench/suspicion.py).
LEANING = 0.5

# What recommends, ranks, redirects or replaces. A fact that holds one of these beside what the
# session keeps repeating says what to do or whom to trust, not how the world is.
URGING_WORDS = """best better top first leading superior preferred recommend recommended prioritize
    prioritise favour favor trust trusted trustworthy reliable guaranteed safest cheapest fastest
    proven endorsed official always never only must should ought instead rather avoid competitor
    competitors rival rivals alternative switch migrate migration migrated replace replaced
    outdated obsolete deprecated renamed moved redirect redirected forward forwarded route routed
    delegate default defaults exclusively universal rate rated outperform complaint complaints
    fake satisfied happy delighted every everybody everything experts choose chosen buy order pick
    use using answer answered send sent go goes current"""


@dataclass(frozen=True, slots=True)
class Stated:
    """One fact of a session, as far as its direction goes."""

    subject: str
    predicate: str
    value: str
    leaning: float = 0.0  # what the gate's learned scorer made of it: 0 a fact, 1 an order


@dataclass(frozen=True, slots=True)
class Repeated:
    """One word that comes back: in how many facts, about how many subjects, how many of them urge."""

    term: int
    facts: int
    subjects: int
    urging: int

    def as_json(self) -> list[int]:
        """Return the row that is stored."""
        return [self.term, self.facts, self.subjects, self.urging]


@dataclass(frozen=True, slots=True)
class Direction:
    """What a session's facts have in common, over ``facts`` of them."""

    facts: int = 0
    repeated: tuple[Repeated, ...] = ()
    vocabulary: tuple[int, ...] = ()
    sentences: tuple[int, ...] = ()


def read(facts: Sequence[Stated], *, keyed: Callable[[int], int]) -> Direction:
    """Return what these facts have in common; ``keyed`` turns a word's number into a stored one."""
    said: Counter[int] = Counter()
    urged: Counter[int] = Counter()
    about: dict[int, set[str]] = defaultdict(set)
    sentences: set[int] = set()
    for fact in facts:
        words = _said(fact)
        is_urging = fact.leaning >= LEANING or not _urging().isdisjoint(words)
        for word in words:
            said[word] += 1
            urged[word] += is_urging
            about[word].add(fact.subject)
        if len(words) >= SENTENCE:
            sentences.add(keyed(_as_one(words)))
    # The word that says "best" is not what is pushed.
    named = [word for word, _ in said.most_common() if word not in _urging()]
    repeated = tuple(
        Repeated(keyed(word), said[word], len(about[word]), urged[word])
        for word in named[:CANDIDATES]
        if said[word] >= LEAST
    )
    vocabulary = {keyed(word) for word in named[:CANDIDATES]}
    vocabulary |= set(sorted(keyed(word) for word in said)[: VOCABULARY - len(vocabulary)])
    return Direction(
        len(facts), repeated, tuple(sorted(vocabulary)), tuple(sorted(sentences)[:SENTENCES])
    )


def words_of(facts: Iterable[Stated], wanted: int) -> str:
    """Return the spelling under which a repeated word stands in these facts, or nothing."""
    for fact in facts:
        for word in fact.value.split():
            if wanted in terms(word):
                return word.strip(".,;:!?\"'()[]")
    return ""


def _said(fact: Stated) -> frozenset[int]:
    """Return the words of a value that neither the subject nor the predicate brings along."""
    own = {*terms(fact.subject), *terms(fact.predicate.replace("_", " "))}
    return frozenset(query_terms(fact.value)) - own


def _as_one(words: frozenset[int]) -> int:
    """Return one number for a sentence, in whatever order its words stand."""
    found = 0
    for word in sorted(words):
        found = (found * 1_000_003 + word) & 0xFFFFFFFF
    return found - (1 << 32) if found >> 31 else found


@cache
def _urging() -> frozenset[int]:
    return frozenset(terms(URGING_WORDS))
