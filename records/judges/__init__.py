"""Judges beside the gate that an operator may switch on: a model extra, an external judge.

Owns asking them about a batch and adding what they say. They judge only what
the gate allowed, and add findings: a held or rejected write is not shown to
them, so that no answer can release it. Both are off unless settings say
otherwise. Must not touch the database. Read ``extra.py`` for the model,
``external.py`` for the judge over HTTP.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from django.conf import settings

from records.domain.facts import Fact, Finding, Outcome, Verdict
from records.domain.gate import with_findings

from . import external, extra

_Judge = Callable[[Sequence[Fact]], list[tuple[Finding, ...]]]


def are_asked() -> bool:
    """Say whether any judge beside the gate is switched on."""
    return bool(_judges())


def add(facts: Sequence[Fact], verdicts: Sequence[Verdict]) -> list[Verdict]:
    """Return the verdicts, in order, with what the judges that are switched on find.

    A verdict gets worse or stays as it is. May ask a server over the network,
    once for all facts: call before anything is locked.
    """
    judged = list(verdicts)
    for judge in _judges():
        # Equal texts are one question; what one judge held, the next one is not shown.
        places: dict[Fact, list[int]] = {}
        for place, verdict in enumerate(judged):
            if verdict.outcome is Outcome.ALLOW:
                places.setdefault(facts[place], []).append(place)
        if not places:
            break
        for own, found in zip(places.values(), judge(list(places)), strict=True):
            for place in own if found else ():
                judged[place] = with_findings(judged[place], found)
    return judged


def add_to_one(fact: Fact, verdict: Verdict) -> Verdict:
    """Return the verdict on a text that is only tried; what would be masked is not shown."""
    masked: dict[str, Any] = dict(verdict.redacted)
    return add([replace(fact, **masked)], [verdict])[0]


def _judges() -> list[_Judge]:
    """Return the judges in the order in which they are asked: what is cheap and private first."""
    found: list[_Judge] = []
    if settings.GATE_MODEL == "embedding":
        found.append(extra.findings)
    if settings.JUDGE["url"]:
        found.append(external.findings)
    return found
