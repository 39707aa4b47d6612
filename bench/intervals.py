"""How often the intervals of sample-and-verify cover the truth, over simulated memories.

Draws as ``audits/sampling/drawing.py`` does (exponential keys, half of the weight alike
for all), from memories with a known share of bad facts whose serves have a heavy tail,
with badness independent of serves and bound to them. Prints the table of
docs/verification.md; exits with 1 when an average leaves 94 to 96 %.

    .venv/bin/python -m bench.intervals [--stores 1000]
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable

import numpy as np

from audits.domain.sampling import Answer, Estimate, share_of_facts, share_of_serves

SIZES, RATES = (50, 100, 200), (0.02, 0.05, 0.10, 0.20)
FACTS = 5_000
Sample = tuple[list[Answer], float, float]


def draw(
    rng: np.random.Generator, size: int, rate: float, *, weighted: bool, bound: bool
) -> Sample:
    """Make a memory and draw from it: the answers, and the true shares of facts and serves."""
    served = np.floor(rng.pareto(1.2, FACTS) * 3)
    chance_of_bad = np.full(FACTS, rate)
    if bound:
        chance_of_bad *= np.where(served > np.median(served), 1.5, 0.5)
        chance_of_bad *= rate / chance_of_bad.mean()
    is_bad = rng.random(FACTS) < chance_of_bad
    weight = np.full(FACTS, 1 / FACTS)
    if weighted:
        weight = 0.5 / FACTS + 0.5 * served / served.sum()
    key = -np.log(rng.random(FACTS)) / weight
    order = np.argsort(key)
    threshold = key[order[size]]
    chance = -np.expm1(-weight * threshold)
    answers = [
        Answer(float(chance[one]), float(served[one]), bool(is_bad[one])) for one in order[:size]
    ]
    return answers, float(is_bad.mean()), float((served * is_bad).sum() / served.sum())


def cover(stores: int, *, weighted: bool, of_serves: bool) -> dict[tuple[int, float], float]:
    """Return how often the interval holds the truth, by size and rate."""
    rng = np.random.default_rng(20_261_130)
    estimate: Callable[[list[Answer]], Estimate] = share_of_serves if of_serves else share_of_facts
    found: dict[tuple[int, float], float] = {}
    for size in SIZES:
        for rate in RATES:
            hits = told = 0
            for turn in range(stores):
                answers, facts, serves = draw(
                    rng, size, rate, weighted=weighted, bound=bool(turn % 2)
                )
                truth = serves if of_serves else facts
                said = estimate(answers)
                if said.low is None or said.high is None:
                    continue
                told += 1
                hits += said.low <= truth <= said.high
            found[size, rate] = hits / told
    return found


def main() -> int:
    """Print the table, and say whether the averages hold."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--stores", type=int, default=1_000)
    stores = parser.parse_args().stores
    missed = 0
    print(
        "| sample | of | "
        + " | ".join(f"{s}, {r:.0%}" for s in SIZES for r in RATES)
        + " | average |"
    )
    print("|---" * (len(SIZES) * len(RATES) + 3) + "|")
    for name, weighted, of_serves in (
        ("uniform", False, False),
        ("by serves", True, False),
        ("by serves", True, True),
    ):
        found = cover(stores, weighted=weighted, of_serves=of_serves)
        average = sum(found.values()) / len(found)
        missed += not 0.94 <= average <= 0.96
        cells = " | ".join(f"{100 * one:.1f}" for one in found.values())
        print(f"| {name} | {'serves' if of_serves else 'facts'} | {cells} | {100 * average:.1f} |")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
