"""A text that somebody pasted, as the gate reads it: verdict, fields with their spans, views.

Pure, and keeps nothing. Where the gate found a secret, only what may be kept is
shown: the redacted fields, no span in them, and no view at all, since a view may
spell the secret out.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from records.domain.facts import Fact, Finding, Outcome, Verdict
from records.domain.gate import Ruleset, shape, views_of
from records.domain.gate.folding import fold_with_origin
from records.domain.gate.spans import View

Mark = tuple[int, int]
VIEWS_SHOWN = 24  # a text can hold many encoded tokens; the findings name them all


@dataclass(frozen=True, slots=True)
class Shown:
    """One text with the places that findings point to."""

    name: str
    field: str
    text: str
    marks: tuple[Mark, ...]


@dataclass(frozen=True, slots=True)
class Reason:
    """One finding, and every view in which the same rule met the same place."""

    finding: Finding
    views: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Tried:
    """All that the page shows of one try."""

    verdict: Verdict
    reasons: tuple[Reason, ...]
    fields: tuple[Shown, ...]
    views: tuple[Shown, ...]
    views_left_out: int
    has_secret: bool


def show(fact: Fact, verdict: Verdict, ruleset: Ruleset) -> Tried:
    """Return what may be shown of a fact and its verdict, the worst findings first."""
    has_secret = any(one.rule.startswith("secret.") for one in verdict.findings)
    views = [] if verdict.redacted else [_view(one, verdict, ruleset) for one in views_of(fact)]
    return Tried(
        verdict=verdict,
        reasons=tuple(_reasons(verdict)),
        fields=tuple(_fields(fact, verdict)),
        views=tuple(views[:VIEWS_SHOWN]),
        views_left_out=max(0, len(views) - VIEWS_SHOWN),
        has_secret=has_secret,
    )


def _reasons(verdict: Verdict) -> list[Reason]:
    """Gather the findings that differ by their view alone, the worst first."""
    order = {Outcome.REJECT: 0, Outcome.QUARANTINE: 1, Outcome.ALLOW: 2}
    same: dict[tuple[object, ...], list[Finding]] = {}
    for one in verdict.findings:
        same.setdefault((one.rule, one.outcome, one.field, one.span), []).append(one)
    found = [Reason(ones[0], tuple(dict.fromkeys(one.view for one in ones)))
             for ones in same.values()]  # fmt: skip
    return sorted(found, key=lambda one: order[one.finding.outcome])


def _fields(fact: Fact, verdict: Verdict) -> Iterator[Shown]:
    texts = {
        "subject": fact.subject,
        "predicate": fact.predicate,
        "value": fact.value,
        "evidence": fact.evidence,
    }
    for name, text in texts.items():
        kept = verdict.redacted.get(name)
        if kept is not None:
            yield Shown(name, name, kept, ())
        elif text:
            yield Shown(name, name, text, _marks(name, verdict))


def _marks(field: str, verdict: Verdict) -> tuple[Mark, ...]:
    spans = {one.span for one in verdict.findings if one.field == field and one.span}
    return tuple(sorted(spans))


def _view(view: View, verdict: Verdict, ruleset: Ruleset) -> Shown:
    """Mark in a view's own text what made a finding of it; findings mark the original."""
    names = {view.name, "raw"} if view.name == "folded" else {view.name}
    rules = {one.rule for one in verdict.findings if one.view in names and one.field == view.field}
    folded, origin = fold_with_origin(view.text)
    marks: set[Mark] = set()
    for index in ruleset.engine.match(folded) if rules else ():
        if ruleset.owners[index].id in rules:
            for start, end in ruleset.engine.spans(index, folded):
                if end > start:
                    marks.add((origin[start], origin[end - 1] + 1))
    for mood in shape.moods(view.text) if rules else ():
        if mood.rule in rules:
            marks.add((mood.start, mood.end))
    return Shown(view.name, view.field, view.text, tuple(sorted(marks)))
