"""The verdict on one write: all findings, and the worst of their outcomes.

Owns ``check``, the gate's one public decision. Must not read files, clocks or
the database: fact, context, policy and ruleset go in, a verdict comes out, and
the same input gives the same verdict. Read ``scanner.py`` for the text,
``who.py`` for the source, ``secrets.py`` for credentials.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime

from records.domain import validators
from records.domain.facts import Fact, Finding, GateContext, Outcome, Policy, Verdict
from records.domain.gate import doubt, language, personal_data, scanner, secrets, size, who
from records.domain.gate.engine import BORDER
from records.domain.gate.ruleset import Ruleset
from records.domain.gate.spans import excerpt, mask

_HIDDEN = "[hidden: the write holds a credential]"

_ORDER = {Outcome.ALLOW: 0, Outcome.QUARANTINE: 1, Outcome.REJECT: 2}


def worst(outcomes: Iterable[Outcome]) -> Outcome:
    """Return the most severe of the outcomes; allow when there is none."""
    return max(outcomes, key=_ORDER.__getitem__, default=Outcome.ALLOW)


def check(
    fact: Fact, *, context: GateContext, policy: Policy, ruleset: Ruleset, now: datetime
) -> Verdict:
    """Say whether a write reads as a fact that its source may assert.

    Pure and deterministic; linear in the length of the texts. A secret rejects
    the write, and ``redacted`` then holds the fields that may be kept instead;
    no finding repeats the secret.
    """
    prepared = scanner.prepare(fact)
    found = list(who.findings(fact, context, policy))
    found += size.findings(fact)
    found += scanner.scan(prepared, fact, context, ruleset)
    score, found = _scored(fact, prepared, found, ruleset)
    if not prepared.is_ascii:
        found += language.findings(fact)
    if fact.evidence:
        found += doubt.findings(fact, ruleset)
    if policy.validators:
        found += _validated(fact, policy, now)
    personal = personal_data.NOTHING
    if prepared.has_signs:
        personal = personal_data.judge(fact, context, policy)
        found += personal.findings
    looks_secret = prepared.has_signs and secrets.has_sign(prepared.folded)
    hits = _secrets(fact) if looks_secret or fact.evidence else {}
    redacted = dict(personal.masked)
    if hits:
        redacted |= {name: secrets.redact(text, at) for name, (text, at) in hits.items()}
        found = [replace(finding, matched=_HIDDEN) for finding in found]
        found += _secret_findings(hits)
    return Verdict(
        outcome=worst(finding.outcome for finding in found),
        findings=tuple(found),
        ruleset=ruleset.version,
        score=score,
        redacted=redacted,
        labels=personal.labels,
    )


def _scored(
    fact: Fact, prepared: scanner.Scan, found: list[Finding], ruleset: Ruleset
) -> tuple[float, list[Finding]]:
    """Let the scorer break ties and hold what no rule saw; labels are not scored."""
    score = 0.0
    if ruleset.scorer is not None and prepared.is_prose:
        score = ruleset.scorer.text(prepared.folded.partition(BORDER)[0])
    leaning = ruleset.scorer is None or score >= ruleset.scorer.lean_at
    judged = [finding if leaning else _unless_weak(finding, ruleset) for finding in found]
    if ruleset.scorer is not None and score >= ruleset.scorer.hold_at:
        judged.append(
            Finding(
                rule="scorer.net",
                outcome=Outcome.QUARANTINE,
                severity="low",
                field="value",
                view="raw",
                span=(0, len(fact.value)),
                matched=excerpt(fact.value, (0, len(fact.value))),
                reason=f"Reads like an order or an attack to the learned scorer ({score:.3f}).",
            )
        )
    return round(score, 4), judged


def _unless_weak(finding: Finding, ruleset: Ruleset) -> Finding:
    rule = ruleset.rule(finding.rule)
    if rule is None or not rule.weak:
        return finding
    return replace(finding, outcome=Outcome.ALLOW, severity="info")


def _validated(fact: Fact, policy: Policy, now: datetime) -> list[Finding]:
    """Return the business rules that the value breaks, as findings."""
    rules = tuple(each for each in policy.validators if each.get("kind") != "personal_data")
    if not rules:
        return []
    return [
        Finding(
            rule=f"validator.{problem.kind}",
            outcome=problem.outcome,
            severity="medium",
            field="value",
            view="raw",
            span=(0, len(fact.value)),
            matched=excerpt(fact.value, (0, len(fact.value))),
            reason=problem.message,
        )
        for problem in validators.check(fact.value, replace(policy, validators=rules), now=now)
    ]


def with_findings(verdict: Verdict, findings: Iterable[Finding]) -> Verdict:
    """Return the verdict with more findings, such as an external judge's; never a milder one."""
    found = (*verdict.findings, *findings)
    outcome = worst((verdict.outcome, *(finding.outcome for finding in found)))
    return replace(verdict, outcome=outcome, findings=found)


_Hits = dict[str, tuple[str, list[secrets.Secret]]]


def _secrets(fact: Fact) -> _Hits:
    texts = {"value": fact.value, "content": fact.content, "evidence": fact.evidence,
             "subject": fact.subject, "predicate": fact.predicate}  # fmt: skip
    seen: dict[str, list[secrets.Secret]] = {}
    hits: _Hits = {}
    for name, text in texts.items():
        if text and text not in seen:
            seen[text] = secrets.find(text)
        if text and seen[text]:
            hits[name] = (text, seen[text])
    return hits


def _secret_findings(hits: _Hits) -> list[Finding]:
    return [
        Finding(
            rule="secret." + secret.kind.lower().replace(" ", "_"),
            outcome=Outcome.REJECT,
            severity="critical",
            field=name,
            view="raw",
            span=(secret.start, secret.end),
            matched=mask(text[secret.start : secret.end]),
            reason=f"Contains a credential ({secret.kind}); it is not stored.",
        )
        for name, (text, at) in hits.items()
        for secret in at
    ]
