"""Values that deny, doubt or leave out instead of stating.

Owns the list of openings that make a value negated or hypothetical ("not a
manager", "no longer at Acme", "might move") and of placeholders ("n/a"). Such
a value is kept, and never supersedes one that states something. Must not read
past the first clause: "Uses Biome, no longer Prettier" states something.
Read ``reconcile.py`` for what follows from it.
"""

from __future__ import annotations

import re

from records.domain.normalise.text import clean, fold

_PLACEHOLDERS = frozenset(
    """unknown;not known;n/a;na;not available;not applicable;not specified;unspecified;not given;
    not provided;not stated;not mentioned;not disclosed;not sure;unsure;unclear;undefined;null;nan;
    no data;no information;?;??;-;--;unbekannt;inconnu;desconocido;sconosciuto;不明;未知""".replace(
        "\n    ", ""
    ).split(";")
)
# Whole values that say "not" and are the ordinary name of a state.
_STATES = frozenset(
    """not started;not running;not responding;not working;not ready;not reachable;not configured;
    not found;not installed;not deployed;not released;not paid;not required;not allowed;
    not supported;never;no""".replace("\n    ", "").split(";")
)

_WHO = r"(?:(?:i|he|she|they|we|it|user|the user|this|that)\b[ ,]*)?"
_DENIAL = (
    r"(?:is|am|are|was|were|has|have|had|does|did|will|would|could|should|can)(?: not\b|n't\b)",
    r"(?:'s|'m|'re) not\b",
    r"(?:no longer|no more|not|never|neither|nor|hardly|cannot|can't|don't think)\b",
    r"(?:anything but|other than|instead of|used to|formerly|former|ex-)(?:\b|(?<=-))",
)
_DOUBT = (
    r"(?:maybe|perhaps|possibly|probably|presumably|supposedly|allegedly|potentially)\b",
    r"(?:would|may|could|should) (?:be|have|become|like|prefer|want|move|go|work|get|switch|well"
    r"|one day|also|possibly|soon|even)\b",
    r"might\b",
    r"(?:wants?|hopes?|plans?|intends?|wish(?:es)?|aims|dreams) (?:to|of)\b",
    r"(?:(?:is|am|are) )?(?:considering|thinking (?:about|of)|planning (?:to|on)"
    r"|hoping (?:to|for)|rumou?red|said to)\b",
    r"(?:what )?if\b",
)
_OPENING = re.compile(f"{_WHO}(?:{'|'.join(_DENIAL + _DOUBT)})")
# The same openings elsewhere, where a second word makes them certain.
_MIDDLE = re.compile(
    r"\b(?:is|are|was|were|am|does|did|has|have)(?: not|n't) |\bno longer\b|\bnot any ?more\b"
    r"|\bwould (?:be|have been|become)\b|\bmight (?:be|become|move|have)\b"
    r"|\b(?:he|she|they|user) (?:may|might|could|would) "
)
_OTHER_LANGUAGES = re.compile(
    r"(?:nicht|keine?|keinen|nie|vielleicht|möglicherweise|n'est pas|pas une?|jamais|peut-être"
    r"|ya no|no es|no está|nunca|quizás?|tal vez|non è|non più|forse|não|talvez|nie jest|może"
    r"|не|больше не|возможно|может быть) "
    r"|不是|不再|并非|没有|也许|可能是|たぶん|아니"
    r"|.*(?:ではない|じゃない|かもしれない|아니다)$"
)
_CLAUSE_END = re.compile(r"[.;!?](?: |$)| - |, (?!but)")


def is_negated(value: str) -> bool:
    """Whether a value denies, doubts or leaves out what it is about, instead of stating it."""
    folded = fold(clean(value)[0])
    if folded in _PLACEHOLDERS:
        return True
    if folded.rstrip(".") in _STATES:
        return False
    clause = _CLAUSE_END.split(folded, maxsplit=1)[0]
    return bool(_OPENING.match(clause) or _MIDDLE.search(clause) or _OTHER_LANGUAGES.match(clause))
