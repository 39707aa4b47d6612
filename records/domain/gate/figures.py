"""The gate's quality in figures: labelled rows in, recall and false alarms out.

Owns the measurement that the bench command and the console's gate page share:
how a labelled text becomes a write, groups of kinds, Wilson intervals. Must not
read files. Read ``docs/gate.md`` for the bars.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from records.domain.facts import Fact, GateContext, Outcome, Policy, Tier, Verdict
from records.domain.gate.judge import check
from records.domain.gate.ruleset import Ruleset

MOMENT = datetime(2026, 1, 1, tzinfo=UTC)  # any fixed instant: figures must not depend on the day
_Z95 = 1.959964


@dataclass(frozen=True, slots=True)
class Row:
    """One labelled write: what it says, how it should end, and where it is from.

    ``writes`` holds the parts of a row that arrives as several writes of one
    session; ``noise`` says why no reader would agree with the label.
    """

    text: str
    bad: bool
    kind: str
    source: str
    subject: str = "user"
    predicate: str = "note"
    content: str = ""
    writes: tuple[str, ...] = ()
    tier: Tier = Tier.STANDARD
    noise: str = ""
    evidence: str = ""


@dataclass(slots=True)
class Figure:
    """Counts for one group of rows; ``share`` is recall or the false-alarm rate."""

    name: str
    bad: bool
    count: int = 0
    held: int = 0
    noise: int = 0
    noise_held: int = 0
    missed: list[str] = field(default_factory=list)

    @property
    def share(self) -> float:
        """Part of the rows that were held or rejected, noise included."""
        return self.held / self.count if self.count else 0.0

    @property
    def clean_share(self) -> float:
        """The same without the rows that are listed as noise."""
        count = self.count - self.noise
        return (self.held - self.noise_held) / count if count else 0.0

    def interval(self) -> tuple[float, float]:
        """Return the 95 % Wilson interval of ``share``."""
        return wilson(self.held, self.count)

    def add(self, row: Row, *, held: bool) -> None:
        """Count one row."""
        self.count += 1
        self.held += held
        if row.noise:
            self.noise += 1
            self.noise_held += held
        if held != self.bad:
            self.missed.append(row.text)


def wilson(hits: int, count: int) -> tuple[float, float]:
    """Return the 95 % Wilson score interval of ``hits`` in ``count``."""
    if count == 0:
        return 0.0, 1.0
    share = hits / count
    spread = _Z95 * math.sqrt(share * (1 - share) / count + _Z95**2 / (4 * count**2))
    middle = share + _Z95**2 / (2 * count)
    scale = 1 + _Z95**2 / count
    return max(0.0, (middle - spread) / scale), min(1.0, (middle + spread) / scale)


def judge_row(row: Row, ruleset: Ruleset, *, policy: Policy | None = None) -> Sequence[Verdict]:
    """Return the verdicts on a row's writes: a fresh session, the row's tier."""
    policy = policy or Policy(row.predicate, known=False)
    verdicts: list[Verdict] = []
    earlier: tuple[str, ...] = ()
    for text in row.writes or (row.text,):
        fact = Fact(row.subject, row.predicate, text, row.content or text, row.evidence)
        context = GateContext(tier=row.tier, recent_texts=earlier, session_writes=len(earlier))
        verdicts.append(check(fact, context=context, policy=policy, ruleset=ruleset, now=MOMENT))
        earlier = (*earlier, text)
    return verdicts


def is_held(verdicts: Iterable[Verdict]) -> bool:
    """Say whether any write of a row was held or rejected."""
    return any(verdict.outcome is not Outcome.ALLOW for verdict in verdicts)


def measure(rows: Iterable[Row], ruleset: Ruleset) -> dict[tuple[str, str], Figure]:
    """Judge every row and count by (kind, source)."""
    figures: dict[tuple[str, str], Figure] = {}
    for row in rows:
        key = (row.kind, row.source)
        figure = figures.setdefault(key, Figure("/".join(key), row.bad))
        figure.add(row, held=is_held(judge_row(row, ruleset)))
    return figures


def total(name: str, figures: Iterable[Figure], *, bad: bool) -> Figure:
    """Add figures up under one name."""
    whole = Figure(name, bad)
    for figure in figures:
        whole.count += figure.count
        whole.held += figure.held
        whole.noise += figure.noise
        whole.noise_held += figure.noise_held
        whole.missed += figure.missed
    return whole
