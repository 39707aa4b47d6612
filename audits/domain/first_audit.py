"""What the first audit's numbers mean: words, next acts, thresholds, and one guess. Pure.

The numbers are counted by ``audits/first_audit``; here is what a person or a
pipeline makes of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from audits.domain.categories import Category

ODD = 50  # from this score on, a session stands out

# What a pipeline may bound, by the name of its flag; 0 is the value to be at.
BOUNDED: Mapping[str, str] = {
    "live_duplicates": "facts that are stored twice",
    "contradictions_open": "contradictions that wait for a person",
    "expired": "live facts past their validity",
    "served_since_expiry": "expired facts that were served since",
    "held": "facts in the queue",
    "held_injection": "held instructions that pose as facts",
    "held_secret": "held secrets",
    "unknown_predicates": "predicates without a policy",
    "odd_sessions": "sessions that stand out",
}
SHARES: Mapping[str, tuple[str, str]] = {
    "expired_share": ("expired", "active"),
    "held_share": ("held", "facts"),
    "odd_share": ("odd_sessions", "sessions"),
}


@dataclass(frozen=True, slots=True)
class Excess:
    """A number over the bound that was set for it."""

    name: str
    value: float
    bound: float
    words: str


def excesses(numbers: Mapping[str, int], bounds: Mapping[str, float]) -> Iterator[Excess]:
    """Yield what is over its bound; KeyError: there is no such number."""
    for name, bound in bounds.items():
        if name in SHARES:
            part, whole = SHARES[name]
            value = numbers[part] / numbers[whole] if numbers[whole] else 0.0
            words = f"share of {part.replace('_', ' ')} in {whole}"
        else:
            value, words = float(numbers[name]), BOUNDED[name]
        if value > bound:
            yield Excess(name, value, bound, words)


def looks_single(subjects: int, crowded: int, spells: int, facts: int) -> bool:
    """Say whether a predicate's values look as if only one held at a time.

    Nearly every subject has one; where one has several, they were said on different
    days, as a value that changed is, not a list told at once. Twenty subjects are the
    least from which that can be seen.
    """
    if subjects < 20 or crowded * 10 > subjects:
        return False
    return spells >= facts


def report_lines(numbers: Mapping[str, int]) -> Iterator[str]:
    """Yield the audit as a person reads it in a terminal."""
    n = numbers
    yield f"{n['said']:,} times something was said, {n['facts']:,} facts"
    yield f"  said again by the same session {n['said_again_by_one']:>12,}"
    yield f"  said by other sessions, too    {n['said_by_others']:>12,}"
    yield f"  echoes of what was served      {n['echoed']:>12,}"
    yield f"  stored twice                   {n['live_duplicates']:>12,}"
    yield f"{n['contradictions_settled'] + n['contradictions_open']:,} contradictions"
    yield f"  settled by the newer value     {n['contradictions_settled']:>12,}"
    yield f"  waiting for a person           {n['contradictions_open']:>12,}"
    yield f"{n['expired']:,} live facts past their validity"
    yield f"  served since                   {n['served_since_expiry']:>12,}"
    yield f"{n['held']:,} held, {n['rejected']:,} rejected"
    for category in Category:
        stopped = n[f"held_{category}"] + n[f"rejected_{category}"]
        if stopped:
            yield f"  {category:<30} {stopped:>12,}"
    yield f"{n['unknown_predicates']:,} predicates without a policy"
    yield f"{n['odd_sessions']:,} of {n['sessions']:,} sessions stand out"
