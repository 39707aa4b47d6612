"""Who may say what: predicates that need more than a plain source.

Owns the names of protected and sensitive predicates, the trust tiers'
consequences, and the limits on bursts and near-duplicates. Must not read the
value's wording: a record redirection is held however politely it is put.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import dataclass

from records.domain.facts import Fact, Finding, GateContext, Outcome, Policy, Tier
from records.domain.gate.lexicon import predicates

CORROBORATED_BY = 2  # other sessions that say the same make a sensitive claim plausible
BURST = {Tier.UNTRUSTED: 200, Tier.STANDARD: 5_000}  # writes per session and hour
NEAR_DUPLICATES = 8  # reworded repeats in one session that stop being emphasis
LIKENESS = 0.8  # shared part of the words of two texts
SENTENCE = 4  # words; shorter values repeat because they are few


@dataclass(frozen=True, slots=True)
class Guard:
    """A group of predicates and what it takes to assert one."""

    name: str
    severity: str
    standard_held: bool  # also held at the default tier while uncorroborated
    reason: str


_GUARDS = {
    "protected": Guard(
        "protected", "high", True,
        "Says what the agent is, may do or must do; only a trusted source may set that.",
    ),
    "redirection": Guard(
        "redirection", "high", True,
        "Redirects one record, name or data source to another; a wrong one mixes people up.",
    ),
    "bank": Guard(
        "bank", "high", True,
        "Names where money goes; it needs a trusted source or a second one that agrees.",
    ),
    "credential": Guard(
        "credential", "high", True,
        "Names a password, key or code; memory is no place to keep one.",
    ),
    "consent": Guard(
        "consent", "medium", True,
        "Claims that someone agreed or approved; it needs a trusted source or a second one.",
    ),
    "trust": Guard(
        "trust", "medium", True,
        "Claims trust, priority or lifetime for itself or someone; sources cannot grant that.",
    ),
    "runbook": Guard(
        "runbook", "medium", True,
        "Describes steps an agent would follow later; it needs a trusted source or a second one.",
    ),
    "contact": Guard(
        "contact", "medium", False,
        "Contact data from an untrusted source; a wrong address leaks what is sent there.",
    ),
    "delicate": Guard(
        "delicate", "low", False,
        "Claims weight, approval or a way of working; an untrusted source may not.",
    ),
    "sensitive": Guard(
        "sensitive", "medium", True,
        "The policy marks this predicate as sensitive; it needs a trusted source or a second one.",
    ),
}  # fmt: skip


_GROUPS = ("redirection", "bank", "consent", "trust", "runbook", "contact", "delicate")
_LEADS = frozenset({"should", "must", "shall", "will", "always", "never", "can", "may"})


def _key(text: str) -> str:
    return "_".join(text.lower().replace("-", " ").replace("_", " ").split())


@functools.lru_cache(maxsize=4096)
def guard_of(subject: str, predicate: str) -> str | None:
    """Return the name of the guard for a predicate of this subject, if it has one."""
    name, who = _key(predicate), _key(subject)
    names = predicates()
    if name in names["protected"] or (
        who in names["agents"] and (name in names["agent_only"] or _leads(name))
    ):
        return "protected"
    if any(name == end or name.endswith(f"_{end}") for end in names["credential"]):
        return "credential"
    return next((guard for guard in _GROUPS if name in names[guard]), None)


def _leads(name: str) -> bool:
    """Say whether a predicate of the agent orders something: "should always send"."""
    return name.partition("_")[0] in _LEADS


def findings(fact: Fact, context: GateContext, policy: Policy) -> Iterator[Finding]:
    """Yield what the source may not assert, and what it says too often."""
    if context.tier is not Tier.TRUSTED:
        yield from _guarded(fact, context, policy)
        yield from _burst(context)
        yield from _near_duplicates(fact, context)


def _guarded(fact: Fact, context: GateContext, policy: Policy) -> Iterator[Finding]:
    name = guard_of(fact.subject, fact.predicate)
    if policy.protected:
        name = "protected"
    elif policy.sensitive and name in (None, "contact", "delicate"):
        name = "sensitive"
    if name is None:
        return
    guard = _GUARDS[name]
    untrusted = context.tier is Tier.UNTRUSTED
    corroborated = (
        name != "protected" and not untrusted and context.corroborating_sessions >= CORROBORATED_BY
    )
    held = untrusted or (guard.standard_held and not corroborated)
    yield Finding(
        rule=f"who.{guard.name}",
        outcome=Outcome.QUARANTINE if held else Outcome.ALLOW,
        severity=guard.severity if held else "info",
        field="predicate",
        view="raw",
        span=(0, len(fact.predicate)),
        matched=fact.predicate,
        reason=guard.reason,
    )


def _burst(context: GateContext) -> Iterator[Finding]:
    limit = BURST[context.tier]
    if context.session_writes <= limit or context.derived:
        return
    yield Finding(
        rule="who.burst",
        outcome=Outcome.QUARANTINE,
        severity="medium",
        field="fact",
        view="session",
        span=None,
        matched="",
        reason=f"The session wrote {context.session_writes} facts within an hour; "
        f"more than {limit} at this trust tier wait for a person.",
    )


def _near_duplicates(fact: Fact, context: GateContext) -> Iterator[Finding]:
    own = frozenset(fact.value.lower().split())
    if len(context.recent_texts) < NEAR_DUPLICATES or len(own) < SENTENCE:
        return
    alike = sum(
        1
        for text in context.recent_texts
        if text != fact.value and _alike(own, frozenset(text.lower().split()))
    )
    if alike >= NEAR_DUPLICATES:
        yield Finding(
            rule="who.near_duplicates",
            outcome=Outcome.QUARANTINE,
            severity="medium",
            field="fact",
            view="session",
            span=None,
            matched="",
            reason=f"The session says almost the same thing {alike} times in other words.",
        )


def _alike(one: frozenset[str], other: frozenset[str]) -> bool:
    union = len(one | other)
    return union > 0 and len(one & other) / union >= LIKENESS
