"""The verdict on one write: all findings, and the worst of their outcomes.

Owns ``check``, the gate's one public decision. Must not read files, clocks or
the database: fact, context, policy and ruleset go in, a verdict comes out, and
the same input gives the same verdict. Read ``scanner.py`` for the text,
``who.py`` for the source, ``secrets.py`` for credentials.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from records.domain.facts import Fact, Finding, GateContext, Outcome, Policy, Verdict
from records.domain.gate import scanner, secrets, size, who
from records.domain.gate.ruleset import Ruleset
from records.domain.gate.spans import mask

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
    looks_secret = prepared.has_signs and secrets.has_sign(prepared.folded)
    hits = _secrets(fact) if looks_secret or fact.evidence else {}
    redacted: dict[str, str] = {}
    if hits:
        redacted = {name: secrets.redact(text, at) for name, (text, at) in hits.items()}
        found = [_without_secret(finding, redacted) for finding in found]
        found += _secret_findings(hits)
    return Verdict(
        outcome=worst(finding.outcome for finding in found),
        findings=tuple(found),
        ruleset=ruleset.version,
        redacted=redacted,
    )


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


def _without_secret(finding: Finding, redacted: dict[str, str]) -> Finding:
    """Return the finding without its excerpt, which could repeat the secret."""
    return Finding(
        rule=finding.rule,
        outcome=finding.outcome,
        severity=finding.severity,
        field=finding.field,
        view=finding.view,
        span=finding.span,
        matched="[hidden: the write holds a credential]",
        reason=finding.reason,
    )
