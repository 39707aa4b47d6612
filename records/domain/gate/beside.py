"""What stands beside a fact: names, tags, metadata. They reach people, agents and logs too.

Owns two checks. A credential in a name is told by its format alone, and the
write is refused: a name is identity, it cannot be masked. Names that an agent
is shown with the fact (session, source, model) are read by the rules like any
text. Must not judge the fact itself; that is ``judge.py``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from records.domain.facts import Fact, Finding, GateContext, Outcome, Policy, Verdict
from records.domain.gate import secrets
from records.domain.gate.judge import check, worst
from records.domain.gate.ruleset import Ruleset

_PLAIN = re.compile(r"[A-Za-z0-9_.:/@+~#=-]*")  # one word: no order is given in it
_NAME = Policy("name")


def secret_names(names: Mapping[str, str | None]) -> list[tuple[str, str]]:
    """Return the fields whose name holds a credential, each with the kind it is."""
    given = {field: name for field, name in names.items() if name}
    if not secrets.find_formats("\n".join(given.values())):
        return []
    return [
        (field, hits[0].kind)
        for field, name in given.items()
        if (hits := secrets.find_formats(name))
    ]


def hide_secrets(verdict: Verdict, tags: Sequence[str], metadata: Mapping[str, Any]) -> Verdict:
    """Return the verdict, a rejection if tags or metadata hold a credential.

    ``redacted`` then names the field with an empty text: nothing of it is kept.
    """
    texts = {
        "tags": "\n".join(tags),
        "metadata": json.dumps(metadata, ensure_ascii=False) if metadata else "",
    }
    for field, text in texts.items():
        if not text or not secrets.has_sign(text.casefold()):
            continue
        found = tuple(
            Finding(
                rule="secret." + hit.kind.lower().replace(" ", "_"),
                outcome=Outcome.REJECT,
                severity="critical",
                field=field,
                view="raw",
                span=None,
                matched="",
                reason=f"Contains a credential ({hit.kind}); it is not stored.",
            )
            for hit in secrets.find(text)
        )
        if found:
            verdict = replace(
                verdict,
                outcome=Outcome.REJECT,
                findings=(*verdict.findings, *found),
                redacted={**verdict.redacted, field: ""},
            )
    return verdict


def read_name(
    field: str, name: str, *, context: GateContext, ruleset: Ruleset, now: datetime
) -> tuple[Finding, ...]:
    """Return what the rules say of a name that agents are shown; it is held, never rejected."""
    if _PLAIN.fullmatch(name):
        return ()
    fact = Fact(subject="", predicate="", value=name, content=name)
    read = check(fact, context=context, policy=_NAME, ruleset=ruleset, now=now)
    return tuple(
        replace(finding, field=field, outcome=Outcome.QUARANTINE)
        for finding in dict.fromkeys(read.findings)
        if finding.field == "value" and finding.outcome is not Outcome.ALLOW
    )


def add(verdict: Verdict, findings: Sequence[Finding]) -> Verdict:
    """Return the verdict with these findings too, and the worst of the outcomes."""
    if not findings:
        return verdict
    every = (*verdict.findings, *findings)
    return replace(
        verdict, findings=every, outcome=worst((verdict.outcome, *(f.outcome for f in findings)))
    )
