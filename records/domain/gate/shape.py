"""Mood: whether a sentence states something, orders something or asks something.

Owns the English reading of sentence beginnings: orders, delayed orders ("When
X, do Y"), prohibitions and questions. Must not look for attack words; an order
without one is still an order. Other languages have their imperatives in
``rules/``. All scans here walk the text once.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from records.domain.gate.lexicon import english

# A sentence, a labelled part or a line ends here. Linear: the look-behind keeps a run of
# marks from being tried again at each of them, every other class is bounded or matches at once.
_BREAK = re.compile(
    r"(?<![.!?;:])[.!?;:]++[\"')\]]*+\s+|[\n\x1f]+\s*|[\u3002\uff01\uff1f\uff1b]+"
    r"|<!--|(?<=--)>|>\s|<[^<>]{0,80}>"
)
# Where one can begin. Looking for this class first makes the usual sentence five times cheaper.
_MARK = re.compile(r"[.!?;:\n\x1f\u3002\uff01\uff1f\uff1b<>]")
_EDGE = "#*>`_\"'([{|-–—•.,!~=\u200b \t:;)]}<"
_NUMBERING = re.compile(r"(?:step\s+)?[0-9a-z]{1,2}[.)]\s+|(?:step\s+\w{1,5}\s*[:.-]\s*)", re.I)
_QUESTION_MARKS = "?？؟"
_LOOKAHEAD = 14  # words of a sentence that are looked at; an order shows itself early

_SUGGESTIONS = frozenset(
    {("check", "out"), ("take", "care"), ("keep", "in"), ("thank", "you"), ("let", "me"),
     ("let", "us"), ("look", "forward"), ("feel", "free"), ("trust", "fund"), ("call", "me")}
)  # fmt: skip
_RELATIVES = frozenset({"that", "which", "who", "whose", "what", "if", "when", "where", "how"})
# "The user is shopping: find a blue one": a wish that the sentence only reports.
_REPORTED_WISH = re.compile(
    r"(?:the )?(?:user|customer|client|buyer|shopper|he|she|they)(?:'s)? (?:is|was|are|has"
    r"|wants?|wanted|asked|asks|requested|requests|said|says|needs?|would|likes?|wish\w*|goal|query|request)\b[^:]{0,60}:",
    re.I,
)

_REPOSITORY = re.compile(r"(?:^|\s)[\w.-]{1,60}/[\w.-]{1,60}$")
_TAGLINE = 80  # characters; longer than any description on one line of a feed
# A description speaks of what the thing does, never to who reads it.
_ADDRESSED = frozenset({
    "you", "your", "yours", "user", "users", "agent", "assistant", "me", "my", "always",
    "never", "must", "ignore", "forget", "remember", "instructions", "prompt", "whenever",
    "before", "after", "them", "him", "her", "customer", "customers",
})  # fmt: skip


@dataclass(frozen=True, slots=True)
class Mood:
    """A sentence that does not merely state something."""

    rule: str  # "shape.order", "shape.delayed_order", "shape.prohibition", "shape.question"
    start: int
    end: int


def borders(text: str) -> Iterator[re.Match[str]]:
    """Yield where sentences, labelled parts and lines end, left to right."""
    mark = _MARK.search(text)
    while mark is not None:
        border = _BREAK.match(text, mark.start())
        if border is not None:
            yield border
        mark = _MARK.search(text, (border or mark).end())


def moods(
    text: str, *, skip_first: bool = False, label: bool = False, taglines: bool = False
) -> list[Mood]:
    """Return the orders and questions of a text.

    ``skip_first`` leaves out the beginning of the text: it is the subject's
    name, which may be a title such as "Catch Me If You Can". ``label`` is set
    for a short value of a structured predicate ("action film"): there, every
    verb could be a noun. ``taglines`` for a feed's sentence: what follows
    "owner/name:" in a few words says what that thing is for.
    """
    if label and not english().openers.intersection(text.lower().split()):
        return []
    found: list[Mood] = []
    start = 0
    first = skip_first
    wish = ":" in text and _REPORTED_WISH.match(text) is not None
    for border in borders(text):
        stop = border.start()
        if stop > start:
            mood = None if first else _order(text, start, stop, wish=wish)
            if mood is None and text[stop] in _QUESTION_MARKS:
                mood = _question(text, start, stop, after=border.end())
            if mood is not None:
                found.append(mood)
            # "Goal: run 10 km" names an aim; what follows the label is no order
            first = text[stop] == ":" and (
                text[start:stop].strip().lower() in english().aims
                or (taglines and _is_tagline(text, start, stop, border.end()))
            )
        start = border.end()
    if start < len(text):
        stop = len(text)
        mood = None if first else _order(text, start, stop, wish=wish)
        if mood is None and text.rstrip("\"')] ")[-1:] in _QUESTION_MARKS and text:
            mood = _question(text, start, stop, after=stop)
        if mood is not None:
            found.append(mood)
    return found


def _is_tagline(text: str, start: int, stop: int, after: int) -> bool:
    """Say whether a short rest after "owner/name:" only describes what is named there."""
    rest = text[after : after + _TAGLINE + 1]
    if len(rest) > _TAGLINE or not _REPOSITORY.search(text[max(start, stop - 120) : stop]):
        return False
    words = {_clean(word) for word in rest.split()}
    return not words & _ADDRESSED


def _order(text: str, start: int, stop: int, *, wish: bool) -> Mood | None:
    words = text[start : min(stop, start + 240)].split(None, _LOOKAHEAD)
    rule = _order_rule(words)
    if (
        rule == "shape.order"
        and wish
        and _clean(words[_skip_fillers(words)[0]]) in english().wished
    ):
        return None
    return Mood(rule, start, stop) if rule is not None else None


def _clean(word: str) -> str:
    return word.strip(_EDGE).lower().replace("’", "'")


def _order_rule(words: list[str]) -> str | None:
    """Say which kind of order the words begin, if any."""
    lists = english()
    position, strong = _skip_fillers(words)
    if position >= len(words):
        return None
    verb = _clean(words[position])
    if strong == "please" and verb not in lists.courtesies:
        return "shape.order"
    trigger = verb in english().triggers or _is_timed(words, position)
    if trigger or verb in english().fronted:
        inner = _after_comma(words, position)
        if inner is not None and _is_order(words, inner):
            if _is_howto(words, inner):
                return None
            return "shape.delayed_order" if trigger else "shape.order"
        return None
    known = verb in lists.verbs or verb in lists.homographs
    pressed = strong in ("always", "negated") and known
    if not _is_order(words, position) and not (pressed and position + 1 < len(words)):
        return None
    return "shape.prohibition" if strong == "negated" else "shape.order"


def _is_timed(words: list[str], position: int) -> bool:
    """Say whether "every time", "each morning" or "the third time" begins the clause."""
    if _clean(words[position]) not in ("every", "each", "the", "any"):
        return False
    return any(
        _clean(word) in english().trigger_units for word in words[position + 1 : position + 3]
    )


def _skip_fillers(words: list[str]) -> tuple[int, str]:
    """Return where the verb would be, and whether "always" or a negation went before it."""
    lists = english()
    strong = ""
    position = 0
    while position < len(words) - 1:
        word = _clean(words[position])
        if word in ("don't", "dont", "never", "not", "always"):
            strong = "always" if word == "always" and not strong else "negated"
        elif word == "please" and not strong:
            strong = "please"
        elif word == "do" and _clean(words[position + 1]) == "not":
            pass
        elif not (
            word in lists.fillers
            or not any(char.isalnum() for char in word)
            or word.isdigit()
            or (word.endswith("ly") and len(word) > 5)
        ):
            break
        position += 1
    return position, strong


def _after_comma(words: list[str], position: int) -> int | None:
    """Return where the main clause begins after a leading clause."""
    for index in range(position, len(words) - 1):
        if words[index][-1] in ",:" or words[index] in ("-", "–", "—"):
            inner, _ = _skip_fillers(words[index + 1 :])
            return index + 1 + inner
    return None


def _is_order(words: list[str], position: int) -> bool:
    lists = english()
    verb = _clean(words[position])
    if position + 1 >= len(words):
        return False
    following = _clean(words[position + 1])
    if following in lists.finite or (verb, following) in _SUGGESTIONS:
        return False
    if words[position][-1:] in ",:" and words[position][:-1].isalpha() and verb not in lists.verbs:
        return False
    if verb in lists.verbs:
        return not (
            _is_noun_phrase(words, position)
            or (verb in lists.same_past and _is_past(words, position))
            or _is_title(words, position)
            or _is_wrapper(words, position)
        )
    if verb in lists.homographs and _opens_object(words, position):
        return not (
            (verb in english().same_past and _is_past(words, position))
            or _is_title(words, position)
            or _is_wrapper(words, position)
        )
    return False


def _opens_object(words: list[str], position: int) -> bool:
    """Say whether what follows a homograph makes it a verb: "Store the ...", "Log in to"."""
    lists = english()
    verb, following = _clean(words[position]), _clean(words[position + 1])
    if following in lists.openers or following.startswith("http"):
        return True
    if _is_noun_phrase(words, position):
        return False
    if verb in lists.prepositional and following in lists.prepositions:
        return True
    rest = {_clean(word) for word in words[position + 2 :]}
    return following in lists.noun_openers and not rest.isdisjoint(lists.noun_links)


def _is_noun_phrase(words: list[str], position: int) -> bool:
    """Say whether the verb is a noun after all: "Use of ...", "Install size is ..."."""
    following = _clean(words[position + 1])
    if following == "of":
        return _clean(words[position]) not in ("think", "dispose", "speak", "get")
    if following in english().openers:
        return False
    near = [_clean(word) for word in words[position + 1 : position + 4]]
    if any(not word.isalnum() for word in near[:2]):
        return near[0] in english().finite
    clause = next((place for place, word in enumerate(near) if word in _RELATIVES), len(near))
    return any(word in english().finite for word in near[:clause])


def _is_past(words: list[str], position: int) -> bool:
    """Say whether the rest tells of something done: "last year", "his own", "in 2015"."""
    rest = [_clean(word) for word in words[position + 1 :]]
    return any(word in english().past or (word.isdigit() and len(word) == 4) for word in rest)


def _is_title(words: list[str], position: int) -> bool:
    """Say whether a capitalised run followed by "was" is a name: "Kill Bill was ..."."""
    if not (words[position][:1].isupper() and words[position + 1][:1].isupper()):
        return False
    finite = english().finite
    return any(_clean(word) in finite and word.islower() for word in words[position + 2 :])


def _is_wrapper(words: list[str], position: int) -> bool:
    """Say whether "remember that ..." or "remind me" only wraps a statement."""
    verb, following = _clean(words[position]), _clean(words[position + 1])
    if verb == "remind":
        return following == "me"
    return verb in english().wrappers and following == "that" and position + 3 < len(words)


def _is_howto(words: list[str], position: int) -> bool:
    """Say whether a conditional order is documentation: a how-to verb beside code."""
    return _clean(words[position]) in english().howto and any("`" in word for word in words)


def _question(text: str, start: int, stop: int, *, after: int) -> Mood | None:
    if after < len(text) and text[after].islower():
        return None  # "Who's Afraid of Virginia Woolf? is a play": the title goes on
    words = text[start:stop].split(None, 60)
    if len(words) < 2 and text[start:stop].isascii():
        return None
    position, _ = _skip_fillers(words)
    opens = _clean(words[position]) in english().questions if position < len(words) else False
    if not opens and _ends_in_title(words):
        return None
    return Mood("shape.question", start, stop)


def _ends_in_title(words: list[str]) -> bool:
    tail = [word for word in words[-4:] if word[:1].isalpha()]
    return len(tail) >= 2 and sum(word[0].isupper() for word in tail) >= len(tail) - 1


def looks_like_title(text: str) -> bool:
    """Say whether a short value is a name in title case: "Stop Making Sense"."""
    words = text.split()
    if not 2 <= len(words) <= 8 or text[-1:] in ".;:":
        return False
    return (
        all(
            not word[:1].isalpha() or word[0].isupper() or word in english().small for word in words
        )
        and words[0][:1].isupper()
    )


def sentences(text: str) -> Iterator[tuple[int, int]]:
    """Yield the ranges of the text's sentences and labelled parts."""
    start = 0
    for border in borders(text):
        if border.start() > start:
            yield start, border.start()
        start = border.end()
    if start < len(text):
        yield start, len(text)
