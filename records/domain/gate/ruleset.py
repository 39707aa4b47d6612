"""Rules as data: loading, merging, versioning.

Owns ``Rule`` and ``Ruleset`` and the shape of the TOML files in ``rules/``.
Reads files only in ``default_ruleset``; afterwards everything is in memory.
Must not scan text: ``scanner.py`` does. Read ``engine.py`` for how patterns are
written.

A rule file holds a ``[macros]`` table, shared by all files, and ``[[rule]]``
entries::

    id = "override.instructions"      # family.name; the family groups on pages
    outcome = "reject"                # "allow" only notes, "quarantine", "reject"
    severity = "critical"             # info, low, medium, high, critical
    reason = "Tells the reader to ignore earlier instructions."
    languages = ["en"]
    patterns = ['''...''']            # any of them
    scope = "text"                    # "joined": also in subject + predicate + value;
                                      # "evidence": only in the excerpt that came with a write
    quotable = true                   # a report that quotes it is a fact
    squeeze = false                   # also look for it with the blanks removed
    weak = false                      # counts only when the learned scorer agrees
    must = ["..."]                    # examples that match; a test runs them all
    must_not = ["..."]
    since = "2026-11-30"              # the day it came into force; one line for a whole file

Patterns in a workspace's own rules may use the shipped macros.
"""

from __future__ import annotations

import functools
import hashlib
import json
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from records.domain.facts import Outcome
from records.domain.gate import scorer
from records.domain.gate.engine import Engine, PatternError, expand, squeeze
from records.domain.gate.scorer import Scorer

RULESET_NUMBER = 1  # counts up when shipped rules change; the digest does the proof
RULES = Path(__file__).parent / "rules"
SEVERITIES = ("info", "low", "medium", "high", "critical")
SCOPES = ("text", "joined", "evidence")


class RuleError(ValueError):
    """A rule is not usable; the message names the rule and the field."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One pattern rule; see the module's documentation for the fields."""

    id: str
    outcome: Outcome
    severity: str
    reason: str
    patterns: tuple[str, ...]
    languages: tuple[str, ...] = ("en",)
    scope: str = "text"
    quotable: bool = True
    squeeze: bool = False
    weak: bool = False
    must: tuple[str, ...] = ()
    must_not: tuple[str, ...] = ()
    since: str = ""  # the day the rule came into force, ISO
    own: bool = False  # added by a workspace, not shipped

    @property
    def family(self) -> str:
        """The part of the id before the first dot."""
        return self.id.partition(".")[0]

    @classmethod
    def from_mapping(cls, entry: Mapping[str, Any], *, own: bool = False) -> Rule:
        """Return the rule that a TOML or JSON entry describes; ``RuleError`` if it is wrong."""
        name = str(entry.get("id", ""))
        if not name or not name.replace(".", "").replace("_", "").isalnum():
            raise RuleError(f"id: {name!r} must be letters, digits, dots and underscores")
        known = {*cls.__dataclass_fields__, "pattern"} - {"own"}
        unknown = sorted(set(entry) - known)
        if unknown:
            raise RuleError(f"{name}: unknown field {unknown[0]!r}")
        severity = entry.get("severity", "medium")
        if severity not in SEVERITIES:
            raise RuleError(f"{name}: severity must be one of {', '.join(SEVERITIES)}")
        scope = entry.get("scope", "text")
        if scope not in SCOPES:
            raise RuleError(f"{name}: scope must be one of {', '.join(SCOPES)}")
        try:
            outcome = Outcome(entry.get("outcome", "quarantine"))
        except ValueError as fault:
            raise RuleError(f"{name}: outcome must be allow, quarantine or reject") from fault
        patterns = tuple(
            entry.get("patterns") or ([entry["pattern"]] if "pattern" in entry else ())
        )
        if not patterns:
            raise RuleError(f"{name}: patterns must not be empty")
        if not str(entry.get("reason", "")).strip():
            raise RuleError(f"{name}: reason must not be empty")
        return cls(
            id=name,
            outcome=outcome,
            severity=severity,
            reason=str(entry["reason"]).strip(),
            patterns=patterns,
            languages=tuple(entry.get("languages", ("en",))),
            scope=scope,
            quotable=bool(entry.get("quotable", True)),
            squeeze=bool(entry.get("squeeze", False)),
            weak=bool(entry.get("weak", False)),
            must=tuple(entry.get("must", ())),
            must_not=tuple(entry.get("must_not", ())),
            since=str(entry.get("since", "")),
            own=own,
        )

    def as_json(self) -> dict[str, Any]:
        """Return the rule as pages and the API show it."""
        return {
            "id": self.id,
            "outcome": str(self.outcome),
            "severity": self.severity,
            "reason": self.reason,
            "patterns": list(self.patterns),
            "languages": list(self.languages),
            "scope": self.scope,
            "quotable": self.quotable,
            "squeeze": self.squeeze,
            "weak": self.weak,
            "must": list(self.must),
            "must_not": list(self.must_not),
            "since": self.since,
            "own": self.own,
        }


class Ruleset:
    """A compiled, immutable set of rules with a version.

    ``version`` is a readable number and a digest of the rules, so that the same
    rules have the same version everywhere and any change shows.
    """

    def __init__(
        self,
        rules: Iterable[Rule],
        *,
        macros: Mapping[str, str],
        number: int = RULESET_NUMBER,
        scorer: Scorer | None = None,
    ) -> None:
        self.scorer = scorer
        self.rules = tuple(rules)
        self.macros = dict(macros)
        self.number = number
        names = [rule.id for rule in self.rules]
        repeated = {name for name in names if names.count(name) > 1}
        if repeated:
            raise RuleError(f"{sorted(repeated)[0]}: the id is used twice")
        self.owners: list[Rule] = []
        sources: list[str] = []
        squeezed: list[str] = []
        self.squeezed_owners: list[Rule] = []
        self.evidence_owners: list[Rule] = []
        evidence: list[str] = []
        for rule in self.rules:
            for source in self._sources(rule):
                if rule.scope == "evidence":
                    self.evidence_owners.append(rule)
                    evidence.append(source)
                    continue
                self.owners.append(rule)
                sources.append(source)
                if rule.squeeze:
                    self.squeezed_owners.append(rule)
                    squeezed.append(squeeze(source))
        self.engine = Engine(sources)
        self.evidence_engine = Engine(evidence)
        self.squeezed_engine = Engine(squeezed)
        self._by_id = {rule.id: rule for rule in self.rules}
        self.version = f"{number}-{self._digest()}"

    def _sources(self, rule: Rule) -> list[str]:
        try:
            sources = [expand(pattern, macros=self.macros) for pattern in rule.patterns]
            if rule.own:
                Engine(sources)  # so that a fault is reported with the rule's name
            return sources
        except PatternError as fault:
            raise RuleError(f"{rule.id}: {fault}") from fault

    def _digest(self) -> str:
        body = json.dumps(
            [
                self.macros,
                [rule.as_json() for rule in self.rules],
                self.scorer.version if self.scorer else "",
            ],
            sort_keys=True,
        ).encode()
        return hashlib.sha256(body).hexdigest()[:10]

    def with_rules(self, rules: Iterable[Rule | Mapping[str, Any]]) -> Ruleset:
        """Return a ruleset with a workspace's own rules beside these.

        Accepts rules or their mappings. Shipped rules stay: an own rule with the
        id of a shipped one is refused. Raises ``RuleError`` naming the rule.
        """
        added = [
            replace(rule, own=True) if isinstance(rule, Rule) else Rule.from_mapping(rule, own=True)
            for rule in rules
        ]
        return Ruleset(
            [*self.rules, *added], macros=self.macros, number=self.number, scorer=self.scorer
        )

    def rule(self, rule_id: str) -> Rule | None:
        """Return the rule of that id, if this set has it."""
        return self._by_id.get(rule_id)


def load(folder: Path) -> Ruleset:
    """Read all TOML rule files of a folder, in the order of their names."""
    macros: dict[str, str] = {}
    entries: list[Mapping[str, Any]] = []
    for path in sorted(folder.glob("*.toml")):
        data = tomllib.loads(path.read_text(encoding="utf-8"))
        for name, body in data.get("macros", {}).items():
            if name in macros:
                raise RuleError(f"{path.name}: macro {name} is defined twice")
            macros[name] = body
        entries += [{"since": data.get("since", ""), **entry} for entry in data.get("rule", [])]
    return Ruleset(
        (Rule.from_mapping(entry) for entry in entries), macros=macros, scorer=scorer.shipped()
    )


@functools.cache
def default_ruleset() -> Ruleset:
    """Return the shipped rules; read and compiled once per process."""
    return load(RULES)
