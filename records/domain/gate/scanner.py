"""Runs the rules and the mood reading over every view of a fact.

Owns the order of the scan and the way from a hit to a finding. Must not decide
the outcome of the write (``judge.py``), nor who may say it (``who.py``).

The ordinary fact must cost microseconds: all fields are joined into one text
and scanned once, a value that its content repeats is not scanned twice, and
further views are built only on a sign that they would differ.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from records.domain.facts import Fact, Finding, GateContext, Outcome
from records.domain.gate import shape
from records.domain.gate.engine import BORDER
from records.domain.gate.folding import FOLD, fold, fold_with_origin
from records.domain.gate.quoting import is_reported
from records.domain.gate.ruleset import Rule, Ruleset
from records.domain.gate.spans import Piece, View, excerpt
from records.domain.gate.views import Readings, could_differ, has_signs, readings

# Predicates whose value is free text; for others a value in title case is a name.
FREE_TEXT = frozenset(
    [
        "note",
        "notes",
        "memory",
        "fact",
        "facts",
        "remark",
        "comment",
        "message",
        "text",
        "content",
        "summary",
        "observation",
        "description",
        "instruction",
        "reminder",
    ]
)
_JOINED_VALUE = 400  # characters of the value that can complete an order split over fields
_LABEL_WORDS = 3  # a structured value of so few words is read as a label
_CODED_NAME = 24  # characters; a longer word may be an encoded sentence
_LONG_NAME = 12  # characters; shorter names cannot hide an instruction
_SESSION_TEXTS = 6  # earlier writes joined with this one

_MOODS: dict[str, tuple[str, str]] = {
    "shape.order": ("medium", "Reads as an order or a request, not as a fact about its subject."),
    "shape.delayed_order": (
        "high",
        "Reads as a standing order: something is to be done when a condition comes true.",
    ),
    "shape.prohibition": ("high", "Forbids the reader something instead of stating a fact."),
    "shape.question": ("medium", "Asks a question; a question is not a fact."),
}


class Scan(NamedTuple):
    """The texts of a fact, joined and folded once for all who search them."""

    fields: tuple[tuple[str, str], ...]  # name and text as written, without repeats
    folded: str
    is_ascii: bool
    has_signs: bool  # an encoded, spelled or secret-like piece may be there
    is_prose: bool  # free text rather than the label of a structured predicate


def prepare(fact: Fact) -> Scan:
    """Join the fields to scan; leave out what another field already contains."""
    value, content = fact.value, fact.content
    texts = [("value", value)]
    if content not in ("", value):
        texts.append(("content", content))
    free = fact.predicate.lower() in FREE_TEXT
    # "user note ..." reads like the value alone; any other subject may complete an order.
    subject = fact.subject
    named = len(subject) < _CODED_NAME and subject.isidentifier()
    plain = free and (named or subject.lower() == "the user")
    if not (plain or (content.startswith(fact.subject) and content.endswith(value))):
        texts.append(("fact", f"{fact.subject} {fact.predicate} {value[:_JOINED_VALUE]}"))
    if fact.tags:
        texts.append(("tags", "\n".join(fact.tags)))
    scanned = BORDER.join([text for _, text in texts])
    is_ascii = scanned.isascii()
    folded = scanned.lower() if is_ascii else scanned.translate(FOLD)
    prose = free or value.count(" ") >= _LABEL_WORDS
    return Scan(tuple(texts), folded, is_ascii, not is_ascii or has_signs(folded), prose)


def scan(prepared: Scan, fact: Fact, context: GateContext, ruleset: Ruleset) -> list[Finding]:
    """Return the findings of all text rules, over all views of all fields."""
    found: list[Finding] = []
    if ruleset.engine.match(prepared.folded):
        found += _plain_hits(fact, prepared, ruleset)
    found += _moods(fact, is_feed=context.derived)
    if prepared.has_signs and (not prepared.is_ascii or could_differ(prepared.folded)):
        names = (("subject", fact.subject), ("predicate", fact.predicate))
        for name, text in (*prepared.fields, *names):
            if name != "fact" and (len(text) >= _LONG_NAME or name not in ("subject", "predicate")):
                found += _further_views(Piece(name, text), ruleset)
    if fact.evidence:
        found += _evidence(fact.evidence, ruleset)
    if context.recent_texts:
        found += _session(fact, context, ruleset)
    return found


def _plain_hits(names: Fact, prepared: Scan, ruleset: Ruleset) -> Iterator[Finding]:
    """Find which field each hit is in; the fields are scanned one by one only now."""
    seen: set[tuple[str, str]] = set()
    for field, text in prepared.fields:
        piece = Piece(field, text)
        folded, origin = fold_with_origin(piece.text)
        name = "raw" if folded == piece.text.lower() else "folded"
        view = View(name, piece.field, folded, origin)
        for finding in _view_hits(view, piece.text, ruleset):
            rule = ruleset.rule(finding.rule)
            if (rule is None or rule.scope != "joined") and _in_name(finding, piece, names.subject):
                continue
            key = (finding.rule, finding.matched.lower())
            if key not in seen:
                seen.add(key)
                yield finding


def _in_name(finding: Finding, piece: Piece, subject: str) -> bool:
    """Say whether a hit begins in the subject's name, which may well be a title."""
    if piece.field == "fact":
        return True
    starts = finding.span is not None and finding.span[0] < len(subject)
    return piece.field == "content" and starts and piece.text.startswith(subject)


def _view_hits(
    view: View, original: str, ruleset: Ruleset, *, squeezed: bool = False
) -> Iterator[Finding]:
    engine = ruleset.squeezed_engine if squeezed else ruleset.engine
    owners = ruleset.squeezed_owners if squeezed else ruleset.owners
    done: set[str] = set()
    for index in engine.match(view.text):
        rule = owners[index]
        if rule.id in done:
            continue
        for start, end in engine.spans(index, view.text):
            span = view.locate(start, end)
            reported = rule.quotable and is_reported(view.text, (start, end))
            yield _finding(rule, view, original, span, reported=reported)
            if not reported:
                done.add(rule.id)
                break


def _finding(
    rule: Rule, view: View, original: str, span: tuple[int, int], *, reported: bool
) -> Finding:
    reason = rule.reason
    if reported:
        reason = f"Quoted in a report, so noted only: {reason}"
    return Finding(
        rule=rule.id,
        outcome=Outcome.ALLOW if reported else rule.outcome,
        severity="info" if reported else rule.severity,
        field=view.field,
        view=view.name,
        span=span,
        matched=excerpt(original, span),
        reason=reason,
    )


def _moods(fact: Fact, *, is_feed: bool) -> list[Finding]:
    value, content = fact.value, fact.content
    structured = fact.predicate.lower() not in FREE_TEXT
    found: list[Finding] = []
    if not (structured and shape.looks_like_title(value)):
        label = structured and value.count(" ") < _LABEL_WORDS
        found += [_raw_mood(mood, "value", value) for mood in shape.moods(value, label=label)]
    if content and content != value and not _is_joined(fact):
        moods = shape.moods(content, skip_first=content.startswith(fact.subject), taglines=is_feed)
        found += [_raw_mood(mood, "content", content) for mood in moods]
    return found


def _is_joined(fact: Fact) -> bool:
    """Say whether the content only puts subject and predicate before the value."""
    content, value = fact.content, fact.value
    return (
        len(content) <= len(value) + len(fact.subject) + len(fact.predicate) + 40
        and content.startswith(fact.subject)
        and content.endswith(value)
    )


def _raw_mood(mood: shape.Mood, field: str, text: str) -> Finding:
    return _mood_finding(mood, field, "raw", text, (mood.start, mood.end))


def _mood_finding(
    mood: shape.Mood, field: str, view: str, original: str, span: tuple[int, int]
) -> Finding:
    severity, reason = _MOODS[mood.rule]
    return Finding(
        rule=mood.rule,
        outcome=Outcome.QUARANTINE,
        severity=severity,
        field=field,
        view=view,
        span=span,
        matched=excerpt(original, span),
        reason=reason,
    )


def _further_views(piece: Piece, ruleset: Ruleset) -> Iterator[Finding]:
    more = readings(piece.field, piece.text)
    yield from _character_findings(piece, more)
    for view in more.views:
        folded, origin = fold_with_origin(view.text)
        if view.origin is not None:
            origin = [view.origin[place] for place in origin]
        scanned = View(view.name, view.field, folded, origin, view.whole)
        yield from _view_hits(scanned, piece.text, ruleset)
        if view.name != "leet" or not shape.moods(piece.text):
            for mood in shape.moods(view.text):
                span = view.locate(mood.start, mood.end)
                yield _mood_finding(mood, piece.field, view.name, piece.text, span)
    for view in more.squeezed:
        yield from _view_hits(view, piece.text, ruleset, squeezed=True)


def views_of(fact: Fact) -> list[View]:
    """Return every reading of the fact's fields, for people who want to see them."""
    shown: list[View] = []
    for name, text in prepare(fact).fields:
        folded, origin = fold_with_origin(text)
        shown.append(View("folded", name, folded, origin))
        if name != "fact":
            shown += readings(name, text).views
    return shown


def _character_findings(piece: Piece, more: Readings) -> Iterator[Finding]:
    in_words = sum(run.in_word for run in more.invisible)
    for run in more.invisible:
        channel = run.kind in ("tags", "selectors", "override")
        held = channel or in_words >= 2 or run.span[1] - run.span[0] >= 4
        yield Finding(
            rule=f"invisible.{run.kind}",
            outcome=Outcome.QUARANTINE if held else Outcome.ALLOW,
            severity="high" if channel else "medium" if held else "info",
            field=piece.field,
            view="raw",
            span=run.span,
            matched=f"{run.span[1] - run.span[0]} invisible characters",
            reason=_INVISIBLE[run.kind],
        )
    for span in more.mixed_words[:8]:
        yield Finding(
            rule="confusable.mixed_word",
            outcome=Outcome.QUARANTINE,
            severity="medium",
            field=piece.field,
            view="confusables",
            span=span,
            matched=piece.text[span[0] : span[1]],
            reason="A word mixes Latin letters with look-alikes from another script.",
        )


_INVISIBLE = {
    "tags": "Invisible tag characters spell hidden text.",
    "selectors": "A run of variation selectors carries hidden text.",
    "override": "A direction override shows the text in another order than it is stored.",
    "joiner": "Invisible joiners stand where no script needs them.",
    "format": "Invisible characters stand inside the text.",
}


def _evidence(evidence: str, ruleset: Ruleset) -> Iterator[Finding]:
    """Scan the excerpt for outright attacks only: talk may well contain requests."""
    folded, origin = fold_with_origin(evidence)
    view = View("raw", "evidence", folded, origin)
    for finding in _view_hits(view, evidence, ruleset):
        if finding.severity == "critical":
            yield finding


def _session(fact: Fact, context: GateContext, ruleset: Ruleset) -> Iterator[Finding]:
    """Read this write as the continuation of the session's last ones."""
    earlier = " ".join(context.recent_texts[-_SESSION_TEXTS:]) + " "
    own = fact.value  # recent texts are values, too
    before = fold(earlier)
    folded, origin = fold_with_origin(own)
    text = before + folded
    for index in ruleset.engine.match(text):
        rule = ruleset.owners[index]
        for start, end in ruleset.engine.spans(index, text):
            if start < len(before) < end:
                view = View("session", "value", folded, origin)
                span = view.locate(0, end - len(before))
                yield _finding(rule, view, own, span, reported=False)
                break
