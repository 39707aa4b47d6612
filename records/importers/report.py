"""What became of a file's rows: counts, and what they collapsed to.

Owns the words of the report, for people and for machines.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from records.domain.facts import Decision
from records.items import Refused, Written

READ, INVALID, FACTS = "read", "invalid", "facts"
# The report says "held" where the write path decides "quarantined".
OUTCOMES = {
    Decision.ADDED: "added",
    Decision.REINFORCED: "reinforced",
    Decision.UPDATED: "updated",
    Decision.CONTESTED: "contested",
    Decision.LATE: "late",
    Decision.ECHOED: "echoed",
    Decision.FENCED: "fenced",
    Decision.QUARANTINED: "held",
    Decision.REJECTED: "rejected",
}
COUNTED = (READ, *OUTCOMES.values(), INVALID)


@dataclass(slots=True)
class SourcePass:
    """A finished pass over a source: what it named, no longer names, and named again."""

    source: str
    partition: str
    seen: int
    unlisted: int
    relisted: int


@dataclass(slots=True)
class Report:
    """One import as a whole, whatever was done in earlier starts of the same run."""

    run_id: str
    name: str
    counts: dict[str, int] = field(default_factory=dict)
    resumed_at: int = 0
    already_finished: bool = False
    errors_path: str = ""
    seconds: float = 0.0
    passes: list[SourcePass] = field(default_factory=list)
    not_completed: str = ""

    @property
    def read(self) -> int:
        """Return how many rows there were."""
        return self.counts.get(READ, 0)

    @property
    def facts(self) -> int:
        """Return how many different facts the rows stated."""
        return self.counts.get(FACTS, 0)

    @property
    def awaiting_review(self) -> int:
        """Return how many rows a person must look at: held ones, and contested ones."""
        return self.counts.get("held", 0) + self.counts.get("contested", 0)

    @property
    def has_read_nothing(self) -> bool:
        """Whether not one row was understood."""
        return self.read == self.counts.get(INVALID, 0)

    def as_json(self) -> dict[str, Any]:
        """Return the report for a machine; the names are stable."""
        return {
            "run_id": self.run_id,
            "file": self.name,
            **{name: self.counts.get(name, 0) for name in COUNTED},
            "facts": self.facts,
            "awaiting_review": self.awaiting_review,
            "resumed_at_line": self.resumed_at,
            "already_finished": self.already_finished,
            "errors_file": self.errors_path if self.counts.get(INVALID) else None,
            "seconds": round(self.seconds, 3),
            "source_runs": [
                {name: getattr(one, name) for name in SourcePass.__slots__} for one in self.passes
            ],
            "not_completed": self.not_completed or None,
        }

    def lines(self) -> Iterable[str]:
        """Yield the report for a person."""
        if self.already_finished:
            yield f"Run {self.run_id} was finished before; nothing was done now."
        elif self.resumed_at:
            yield f"Went on behind line {self.resumed_at:,}, where run {self.run_id} had stopped."
        yield f"{self.read:,} rows, {self.facts:,} facts"
        width = max(len(name) for name in COUNTED)
        for name in COUNTED:
            yield f"  {name:<{width}} {self.counts.get(name, 0):>12,}"
        if self.awaiting_review:
            yield f"{self.awaiting_review:,} wait for a person in the queue (held and contested)"
        if self.seconds:
            yield f"{self.seconds:.1f} s"
        for one in self.passes:
            yield (
                f"Source {one.source}, partition {one.partition}: {one.seen:,} named,"
                f" {one.unlisted:,} no longer emitted, {one.relisted:,} back"
            )
        if self.not_completed:
            yield f"The pass over the source was not completed: {self.not_completed}"
        if self.counts.get(INVALID):
            yield f"Rows that could not be read, with reasons: {self.errors_path}"
        yield f"Run {self.run_id}"


def tally(outcomes: Iterable[Written | Refused]) -> Mapping[str, int]:
    """Count the outcomes of rows."""
    counts = dict.fromkeys(COUNTED, 0)
    for one in outcomes:
        counts[READ] += 1
        if isinstance(one, Written):
            counts[OUTCOMES[Decision(one.decision)]] += 1
        else:
            counts[INVALID] += 1
    return counts
