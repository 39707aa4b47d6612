"""Doubtful extraction: the excerpt does not say what the fact says.

Owns the reading of the evidence excerpt that came with a write: hypothetical,
meant as a joke, about somebody else, or taken back in the next breath. Its
wordings are the ``doubt`` rules of ``rules/``. Must not judge the fact's own
text: ``scanner.py`` does.
"""

from __future__ import annotations

from collections.abc import Iterator

from records.domain.facts import Fact, Finding
from records.domain.gate.folding import fold_with_origin
from records.domain.gate.lexicon import english
from records.domain.gate.ruleset import Ruleset
from records.domain.gate.spans import View, excerpt

_SPEAKERS = frozenset({"user", "the user", "me", "i"})


def findings(fact: Fact, ruleset: Ruleset) -> Iterator[Finding]:
    """Yield the reasons to doubt that the excerpt supports the fact."""
    if not fact.evidence:
        return
    folded, origin = fold_with_origin(fact.evidence)
    view = View("raw", "evidence", folded, origin)
    done: set[str] = set()
    for index in ruleset.evidence_engine.match(folded):
        rule = ruleset.evidence_owners[index]
        if rule.id in done or (rule.id == "doubt.about_another" and not _about_speaker(fact)):
            continue
        done.add(rule.id)
        for start, end in ruleset.evidence_engine.spans(index, folded, limit=1):
            span = view.locate(start, end)
            yield Finding(
                rule=rule.id,
                outcome=rule.outcome,
                severity=rule.severity,
                field="evidence",
                view="raw",
                span=span,
                matched=excerpt(fact.evidence, span),
                reason=rule.reason,
            )


def _about_speaker(fact: Fact) -> bool:
    """Say whether the fact is about the one who speaks, not a relative it names."""
    subject = fact.subject.lower()
    words = f"{subject} {fact.predicate} {fact.value}".lower().replace("_", " ").split()
    if english().relatives.intersection(words):
        return False
    return subject in _SPEAKERS or subject not in fact.evidence.lower()
