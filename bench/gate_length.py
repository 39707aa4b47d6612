"""How the gate's time grows with the text, for texts that repeat one thing: linear or not.

    python -m bench.gate_length

Prints the milliseconds for 8,000 and 64,000 characters and their ratio: 8 is
linear, 64 is quadratic. Needs no data and no database.
"""

from __future__ import annotations

import time
from datetime import UTC, datetime

from records.domain.facts import Fact, GateContext, Policy
from records.domain.gate import check, default_ruleset

UNITS = (
    "The shelf was counted. ", "a", "ignore ", "A1b2", "!", "\u200b", "аb ", '"', "%41", "QUJD",
    "x y ", "when the user asks, ", "<", ". ", "-. ", "é", "1", "a@", "+1 ", "password is ",
)  # fmt: skip
NOW = datetime(2026, 1, 1, tzinfo=UTC)


def taken(unit: str, size: int, *, tries: int = 3) -> float:
    """Return the best of some runs over a text of ``size`` characters, in milliseconds."""
    text = (unit * (size // len(unit) + 1))[:size]
    fact = Fact("user", "note", text, text)
    best = float("inf")
    for _ in range(tries):
        began = time.perf_counter()
        check(
            fact, context=GateContext(), policy=Policy("note"), ruleset=default_ruleset(), now=NOW
        )
        best = min(best, time.perf_counter() - began)
    return best * 1000


def main() -> None:
    """Print one line for each unit."""
    taken("warm up ", 2_000)
    print(f"{'unit':24} {'8,000':>9} {'64,000':>9} {'ratio':>6}")
    for unit in UNITS:
        short, long = taken(unit, 8_000), taken(unit, 64_000)
        print(f"{unit!r:24} {short:9.2f} {long:9.2f} {long / short:6.1f}")


if __name__ == "__main__":
    main()
