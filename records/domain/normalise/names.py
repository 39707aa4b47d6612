"""Names of people and organisations.

Owns what is decoration in a name: legal form, punctuation, the spelling of
"and". Accents, numbers, titles and word order are part of it. Must not decide
that two alike names are one.
"""

from __future__ import annotations

import re

from records.domain.normalise.text import fold, level_typography

# Legal forms that are no ordinary word or surname in any case.
_FORMS = frozenset(
    """inc incorporated corp corporation co company ltd limited llc llp plc gmbh mbh kgaa ohg sarl
    sasu srl bv oyj aps asa pty pte pvt jsc pjsc ooo zao oao spółka sro kft zrt doo dd eood ltda
    sdn bhd kabushiki kaisha""".split()  # noqa: SIM905 - a long list reads better as text
)
# Short ones count only in capitals or with dots, or Maria Sa would be Maria.
_CAPITAL_FORMS = frozenset(
    ("AG", "AB", "AS", "A/S", "SA", "SE", "SL", "NV", "KG", "KK", "LP", "OY", "UG", "SAS", "SPA")
)
_CONNECTORS = frozenset(("and", "the", "of"))

_DOTTED = re.compile(r"(?<=\b[^\W\d_])\.\s*(?=[^\W\d_]\.)")
# Between digits a sign is part of the number: 1.5 is not 15.
_DROPPED = re.compile(r"(?<![\d.'])[.']++|[.']++(?!\d)")
_SPACED = re.compile(r"[\"()\[\]_;]|(?<!\d),|,(?!\d)")
_HYPHEN = re.compile(r"(?<=[^\W\d])-(?=[^\W\d])")


def parse_name(text: str) -> str | None:
    """Read a name without its legal form, so that ``Helio GmbH`` is ``helio``."""
    words = _plain(level_typography(text)).split()
    while len(words) > 1 and _is_form(words[-1]) and _names_something(words[:-1]):
        words.pop()
        if words[-1] == "and" and len(words) > 1:  # GmbH & Co. KG
            words.pop()
    name = fold(" ".join(words))
    # Folding can bring a sign back: ŉ is an apostrophe and an n.
    return (name if name.isascii() else " ".join(_plain(name).split())) or None


def _plain(text: str) -> str:
    joined = _DOTTED.sub(".", text).replace("&", " and ")
    return _HYPHEN.sub(" ", _DROPPED.sub("", _SPACED.sub(" ", joined)))


def _is_form(word: str) -> bool:
    return word in _CAPITAL_FORMS or fold(word) in _FORMS


def _names_something(words: list[str]) -> bool:
    return any(fold(word) not in _CONNECTORS for word in words)
