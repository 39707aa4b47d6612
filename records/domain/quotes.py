"""Where a text quotes something that is being destroyed, and the text without it.

Pure. What is looked for are whole names, values and sentences, in any case and
with any spacing; a part of a value in somebody's own words is not found, which
is why people are shown where to look themselves.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any
from urllib.parse import quote_plus, unquote_plus

MARK = "[erased]"
NAME_SHORTEST = 2
VALUE_SHORTEST = 4  # "no", "red", "42": numbers and colours point to nobody

_WORD = re.compile(r"[a-z0-9_]+")
_SPACE = re.compile(r"\s+")

# What every store calls somebody: it tells nobody from anybody else.
NOBODY = frozenset(
    {
        *("default", "everybody", "main", "shared", "test"),
        *("agent", "assistant", "bot", "client", "customer", "he", "human", "i", "me", "people"),
        *("person", "she", "system", "team", "the user", "they", "unknown", "user", "users"),
        *("we", "you"),
    }
)


class Phrases:
    """A set of phrases, found in a text at the cost of the text and not of the set."""

    def __init__(self, phrases: Iterable[str]) -> None:
        self._by_word: dict[str, set[str]] = {}
        self._anywhere: set[str] = set()  # begins with what is no ASCII word
        for one in phrases:
            phrase = _SPACE.sub(" ", one).strip().lower()
            if not phrase or phrase in NOBODY:
                continue
            first = _WORD.match(phrase)
            if first:
                self._by_word.setdefault(first[0], set()).add(phrase)
            else:
                self._anywhere.add(phrase)

    def __bool__(self) -> bool:
        return bool(self._by_word or self._anywhere)

    def found_in(self, text: str) -> set[str]:
        """Return the phrases that the text quotes."""
        shown = _SPACE.sub(" ", text).lower()
        found = {one for one in self._anywhere if one in shown}
        for word in _WORD.finditer(shown):
            for phrase in self._by_word.get(word[0], ()):
                end = word.start() + len(phrase)
                if shown.startswith(phrase, word.start()) and _ends_word(shown, end):
                    found.add(phrase)
        return found


def _ends_word(text: str, end: int) -> bool:
    """Say whether a phrase that ends here ends with a whole word (in scripts that have such)."""
    return end >= len(text) or not (_WORD.match(text[end]) and _WORD.match(text[end - 1]))


def without(text: str, phrases: Iterable[str]) -> str:
    """Return the text with each of these phrases replaced by ``MARK``."""
    longest_first = sorted(phrases, key=len, reverse=True)
    if not longest_first:
        return text
    pattern = "|".join(_pattern(one) for one in longest_first)
    return re.sub(pattern, MARK, text, flags=re.IGNORECASE)


def without_in_query(query: str, phrases: Iterable[str]) -> str:
    """Return a URL's query with the phrases replaced in its values; its names stay."""
    wanted = tuple(phrases)
    parts = []
    for part in query.split("&"):
        name, sign, value = part.partition("=")
        plain = unquote_plus(value)
        clean = without(plain, wanted)
        parts.append(part if clean == plain else f"{name}{sign}{quote_plus(clean)}")
    return "&".join(parts)


def without_in_json(value: Any, phrases: Iterable[str]) -> Any:
    """Return JSON with the phrases replaced in its strings, keys left as they are."""
    wanted = tuple(phrases)
    return _map_strings(value, lambda text: without(text, wanted))


def strings_of(value: Any) -> Iterator[str]:
    """Yield every string in a JSON value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for one in value.values():
            yield from strings_of(one)
    elif isinstance(value, list):
        for one in value:
            yield from strings_of(one)


def _map_strings(value: Any, change: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return change(value)
    if isinstance(value, dict):
        return {key: _map_strings(one, change) for key, one in value.items()}
    if isinstance(value, list):
        return [_map_strings(one, change) for one in value]
    return value


def _pattern(phrase: str) -> str:
    body = r"\s+".join(re.escape(word) for word in phrase.split(" "))
    before = r"(?<![A-Za-z0-9_])" if _WORD.match(phrase[0]) else ""
    after = r"(?![A-Za-z0-9_])" if _WORD.match(phrase[-1]) else ""
    return f"{before}{body}{after}"
