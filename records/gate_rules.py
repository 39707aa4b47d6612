"""A workspace's own rules: what an entry says, what is wrong with it, and the merged set.

Pure. An entry is the mapping kept in ``gate_ruleset.rules``: a shipped rule's
fields plus ``phrases`` (taken literally) and who wrote which version of it.
Own rules are added and never replace anything, so that one more rule cannot
make a verdict milder; a shipped rule is made milder only by ``softened``. Read
``rulesets.py`` for where the write path gets its set, ``gate_editing.py`` for
changing one.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

import re2

from records.domain.facts import Fact, GateContext, Outcome, Policy
from records.domain.gate import Rule, RuleError, Ruleset, check, worst
from records.domain.gate.engine import Engine, expand
from records.domain.gate.folding import fold

PREFIX = "own."
RULE_LIMIT = 100  # own rules of a workspace: each costs every write of it a little time
PATTERN_LIMIT = 20  # phrases and patterns of one rule
LENGTH_LIMIT = 500  # characters of a phrase, pattern or reason
EXAMPLE_LIMIT = 20
EXAMPLE_LENGTH = 2_000  # as long as a value
_ID = re.compile(r"own\.[a-z0-9_]{1,60}")
_RULE_FIELDS = ("id", "outcome", "severity", "reason", "languages", "scope", "quotable")
_EXAMPLE_AT = datetime(2026, 1, 1, tzinfo=UTC)  # any instant: a rule's match does not depend on it

Entry = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Broken:
    """An own rule that this version of the software cannot use, and why."""

    id: str
    fault: str


def to_rule(entry: Entry) -> Rule:
    """Return the rule of an entry; ``RuleError`` names what is wrong with it."""
    mapping = {name: entry[name] for name in _RULE_FIELDS if name in entry}
    phrases = [phrase_pattern(text) for text in entry.get("phrases", ())]
    mapping["patterns"] = [*phrases, *entry.get("patterns", ())]
    mapping["must"], mapping["must_not"] = entry.get("must", ()), entry.get("must_not", ())
    return Rule.from_mapping(mapping, own=True)


def phrase_pattern(phrase: str) -> str:
    """Return the pattern that finds a phrase as whole words, however it is spaced or accented."""
    words = [re2.escape(word) for word in fold(phrase).split()]
    pattern = " ".join(words)
    folded = fold(phrase).strip()
    if folded[:1].isascii() and folded[:1].isalnum():
        pattern = r"\b" + pattern
    if folded[-1:].isascii() and folded[-1:].isalnum():
        pattern += r"\b"
    return pattern


def faults(entry: Entry, *, shipped: Ruleset) -> dict[str, str]:
    """Return what keeps an entry from being saved: field name -> sentence. Runs its examples."""
    found = dict(_shape_faults(entry))
    if found:
        return found
    for field in ("phrases", "patterns"):
        for number, text in enumerate(entry.get(field, ()), 1):
            source = phrase_pattern(text) if field == "phrases" else text
            if fault := _pattern_fault(source, shipped):
                return {field: f"Number {number}: {fault}"}
    try:
        alone = Ruleset([to_rule(entry)], macros=shipped.macros)
    except RuleError as fault:
        return {"patterns": str(fault)}
    return _example_faults(entry, alone)


def _shape_faults(entry: Entry) -> Iterator[tuple[str, str]]:
    if not _ID.fullmatch(str(entry.get("id", ""))):
        yield "id", f"A name is {PREFIX} and 1 to 60 small letters, digits and underscores."
    if not 1 <= len(str(entry.get("reason", "")).strip()) <= LENGTH_LIMIT:
        yield "reason", f"Say in 1 to {LENGTH_LIMIT} characters what a reviewer should read."
    count = len(entry.get("phrases", ())) + len(entry.get("patterns", ()))
    if not count:
        yield "phrases", "Give at least one phrase or pattern."
    if count > PATTERN_LIMIT:
        yield "phrases", f"{count} phrases and patterns; at most {PATTERN_LIMIT} make one rule."
    for field in ("phrases", "patterns"):
        if any(len(text) > LENGTH_LIMIT for text in entry.get(field, ())):
            yield field, f"At most {LENGTH_LIMIT} characters each."
    for field in ("must", "must_not"):
        if len(entry.get(field, ())) > EXAMPLE_LIMIT:
            yield field, f"At most {EXAMPLE_LIMIT} examples."
        if any(len(text) > EXAMPLE_LENGTH for text in entry.get(field, ())):
            yield field, f"At most {EXAMPLE_LENGTH:,} characters each."
    if not entry.get("must"):
        yield "must", "Give at least one example that must match."


def _pattern_fault(pattern: str, shipped: Ruleset) -> str:
    """Return why a pattern cannot be used; one that fits an empty text would hold everything."""
    try:
        source = expand(pattern, macros=shipped.macros)
        Engine([source])
    except ValueError as fault:
        return f"This is no RE2 pattern: {fault}."
    if not pattern.strip() or re2.search(source, "") is not None:
        return "This also fits an empty text, so it would match every write."
    return ""


def _example_faults(entry: Entry, alone: Ruleset) -> dict[str, str]:
    (rule,) = alone.rules
    for field, wanted in (("must", True), ("must_not", False)):
        for number, text in enumerate(entry.get(field, ()), 1):
            if matches(rule, text, alone) is not wanted:
                verb = "does not match" if wanted else "matches"
                return {field: f"Example {number} {verb} this rule."}
    return {}


def matches(rule: Rule, text: str, alone: Ruleset) -> bool:
    """Say whether a note with this text is hit by the rule, quotations left alone."""
    evidence = text if rule.scope == "evidence" else ""
    value = "a fact" if evidence else text
    fact = Fact("user", "note", value, value, evidence)
    verdict = check(
        fact, context=GateContext(), policy=Policy("note"), ruleset=alone, now=_EXAMPLE_AT
    )
    return any(
        one.rule == rule.id and (one.outcome, one.severity) == (rule.outcome, rule.severity)
        for one in verdict.findings
    )


def is_milder(outcome: Outcome, than: Outcome) -> bool:
    """Say whether an outcome is milder than another."""
    return outcome is not than and worst((outcome, than)) is than


class MergedRuleset(Ruleset):
    """The shipped rules with a workspace's own beside them, without compiling the shipped again."""

    def __init__(
        self,
        shipped: Ruleset,
        own: Sequence[Rule],
        softened: Mapping[str, Outcome],
        *,
        version: str,
        broken: Sequence[Broken] = (),
    ) -> None:
        self.__dict__.update(shipped.__dict__)
        self.broken = tuple(broken)
        beside = Ruleset(own, macros=shipped.macros)
        milder = {rule.id: _softer(rule, softened[rule.id]) for rule in shipped.rules
                  if rule.id in softened and is_milder(softened[rule.id], rule.outcome)}  # fmt: skip
        self.rules = (*(milder.get(rule.id, rule) for rule in shipped.rules), *beside.rules)
        self._by_id = {rule.id: rule for rule in self.rules}
        self.owners = _owners(shipped.owners, beside.owners, milder)
        self.engine = _Both(shipped.engine, beside.engine, len(shipped.owners))
        self.squeezed_owners = _owners(shipped.squeezed_owners, beside.squeezed_owners, milder)
        self.squeezed_engine = _Both(
            shipped.squeezed_engine, beside.squeezed_engine, len(shipped.squeezed_owners)
        )
        self.evidence_owners = _owners(shipped.evidence_owners, beside.evidence_owners, milder)
        self.evidence_engine = _Both(
            shipped.evidence_engine, beside.evidence_engine, len(shipped.evidence_owners)
        )
        self.version = version


class _Both(Engine):
    """Two engines searched as one: the second's patterns are numbered after the first's."""

    def __init__(self, first: Engine, second: Engine, count: int) -> None:
        self._first, self._second, self._count = first, second, count

    def match(self, text: str) -> Sequence[int]:
        later = self._second.match(text)
        found = self._first.match(text)
        return [*found, *(index + self._count for index in later)] if later else found

    def spans(self, index: int, text: str, *, limit: int = 8) -> Iterator[tuple[int, int]]:
        if index < self._count:
            return self._first.spans(index, text, limit=limit)
        return self._second.spans(index - self._count, text, limit=limit)


def _owners(first: list[Rule], second: list[Rule], milder: Mapping[str, Rule]) -> list[Rule]:
    return [*(milder.get(rule.id, rule) for rule in first), *second]


def _softer(rule: Rule, outcome: Outcome) -> Rule:
    if outcome is Outcome.ALLOW:
        reason = f"Switched off in this workspace, so noted only: {rule.reason}"
        return replace(rule, outcome=outcome, severity="info", reason=reason)
    return replace(rule, outcome=outcome)


def merge(
    shipped: Ruleset, rules: Sequence[Entry], softened: Mapping[str, Any], *, number: int
) -> Ruleset:
    """Return the shipped set with a workspace's own rules beside it.

    A rule that cannot be compiled any more (a new release, a macro that went)
    stays out and is named in ``broken``; it must not stop the workspace's writes.
    """
    own, broken = [], []
    for entry in rules:
        try:
            rule = to_rule(entry)
            Ruleset([rule], macros=shipped.macros)
        except RuleError as fault:
            broken.append(Broken(str(entry.get("id", "")), str(fault)))
        else:
            own.append(rule)
    version = f"{shipped.version}+{number}-{content_digest(rules, softened)}"
    outcomes = {name: Outcome(one["outcome"]) for name, one in softened.items()}
    return MergedRuleset(shipped, own, outcomes, version=version, broken=broken)


def content_digest(rules: Sequence[Entry], softened: Mapping[str, Any]) -> str:
    """Return a short digest of what a set says, whoever wrote it and when."""
    said = [{k: v for k, v in entry.items() if k not in ("by", "at", "version")} for entry in rules]
    milder = {name: one["outcome"] for name, one in softened.items()}
    body = json.dumps([said, milder], sort_keys=True, ensure_ascii=False).encode()
    return hashlib.sha256(body).hexdigest()[:8]
