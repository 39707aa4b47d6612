"""The linear-time pattern engine: many patterns, one pass.

Owns how rule patterns are written (macros, blanks, field borders) and compiled
with RE2, which cannot backtrack. Must not know what a rule means. Read
``ruleset.py`` next.

A pattern is written for folded text: lower case, without accents on Latin
letters, without invisible characters. In it

- ``{name}`` is a macro of the rule file or one of ``BASE_MACROS``;
- a blank stands for any run of white space; a line break and the indentation
  after it stand for nothing, so that long patterns can be laid out;
- nothing can match across two fields: gaps exclude ``BORDER``.

RE2's ``Filter`` first looks for the literal parts of all patterns in one pass
and then runs only the patterns whose literals are there. A single ``Set`` is
faster on friendly text but answers "no match" without a word when its automaton
runs out of memory, which an attacker could provoke.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

import re2

BORDER = "\x1f"  # between fields of the scanned text; cannot occur in a fact

BASE_MACROS: Mapping[str, str] = {
    # a gap of a few words inside one sentence; a wider one; one across sentences
    "gap": r"[^\x1f\n.;!?]{0,48}",
    "near": r"[^\x1f\n]{0,28}",
    "far": r"[^\x1f]{0,160}",
    # the beginning of the field, of a line, of a sentence or after a label
    "start": (
        r"(?:^[\"'(]?|[\x1f\n][ \t]*[\"'(]?|[.!?;:>][ \t\n]+[\"'(]?|[#*|>]+[ \t]*|[。！？；：、])"
    ),
    "end": r"(?:$|[\x1f\n.!?;])",
    "w": r"[\pL\pN_'-]+",
}

_BLANK = r"(?:\s+)"
_MACRO = re.compile(r"\{([a-z][a-z_]*)\}")
_LAYOUT = re.compile(r"\n[ \t]*")


class PatternError(ValueError):
    """A rule's pattern cannot be compiled; the message names the rule."""


def expand(pattern: str, *, macros: Mapping[str, str]) -> str:
    """Return the RE2 source of a rule's pattern.

    Raises ``PatternError`` for an unknown macro or one that contains itself.
    """
    source = _LAYOUT.sub("", pattern.strip())
    for _ in range(6):
        if not _MACRO.search(source):
            return _blanks(source)
        source = _MACRO.sub(lambda found: _macro(found.group(1), macros), source)
    raise PatternError(f"macros nest too deeply in {pattern[:60]!r}")


def _macro(name: str, macros: Mapping[str, str]) -> str:
    body = macros.get(name) or BASE_MACROS.get(name)
    if body is None:
        raise PatternError(f"unknown macro {{{name}}}")
    return f"(?:{_LAYOUT.sub('', body.strip())})"


def _blanks(source: str) -> str:
    """Turn every blank outside a character class into "any white space"."""
    parts: list[str] = []
    in_class = escaped = False
    for char in source:
        if escaped:
            escaped = False
        elif char == "\\":
            escaped = True
        elif char == "[":
            in_class = True
        elif char == "]":
            in_class = False
        elif char == " " and not in_class:
            parts.append(_BLANK)
            continue
        parts.append(char)
    return "".join(parts)


def squeeze(source: str) -> str:
    """Return a pattern that also matches when the blanks between words are gone."""
    return source.replace(_BLANK, r"\s*").replace(r"\b", "")


def _options() -> re2.Options:
    options = re2.Options()
    options.log_errors = False
    options.max_mem = 64 << 20
    return options


class Engine:
    """A compiled list of patterns that finds, in one call, all that match."""

    def __init__(self, sources: Sequence[str]) -> None:
        options = _options()
        self._compiled: list[re2._Regexp] = []
        for source in sources:
            try:
                self._compiled.append(re2.compile(source, options))
            except re2.error as fault:
                raise PatternError(f"{fault} in pattern {source[:120]!r}") from fault
        # The filter runs patterns without literals of their own on every text. They are
        # searched as one alternation instead, and one by one only when that is there.
        loose = _without_literals(sources, options)
        self._loose = sorted(loose)
        self._tight = [index for index in range(len(sources)) if index not in loose]
        self._filter = _filter([sources[index] for index in self._tight], options)
        joined = "|".join(f"(?:{sources[index]})" for index in self._loose)
        self._any_loose = re2.compile(joined, options) if loose else None

    def match(self, text: str) -> Sequence[int]:
        """Return the indices of the patterns that occur in ``text``, in order."""
        found = self._filter.Match(text) if self._tight else None
        hits = [self._tight[index] for index in found] if found else []
        if self._any_loose is not None and self._any_loose.search(text) is not None:
            hits += [index for index in self._loose if self._compiled[index].search(text)]
            hits.sort()
        return hits

    def spans(self, index: int, text: str, *, limit: int = 8) -> Iterator[tuple[int, int]]:
        """Yield where pattern ``index`` occurs, left to right, at most ``limit`` times."""
        for count, found in enumerate(self._compiled[index].finditer(text)):
            if count >= limit:
                return
            yield found.span()


def _filter(sources: Sequence[str], options: re2.Options) -> re2.Filter:
    built = re2.Filter()
    for source in sources:
        built.Add(source, options)
    if sources:
        built.Compile()
    return built


def _without_literals(sources: Sequence[str], options: re2.Options) -> frozenset[int]:
    """Return the patterns that the filter would run even on an empty text."""
    if not sources:
        return frozenset()
    return frozenset(_filter(sources, options).Match("", potential=True) or ())
