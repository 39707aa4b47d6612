"""Trains the gate's scorer: ``python -m bench.train_gate_scorer --data DIR``.

Owns the training of ``records/domain/gate/scorer.json`` on the labelled rows of
the data folder and the own corpus. Every source is left out in turn to measure
and to set the thresholds; the shipped weights are then trained on all of it.
The same rows give the same weights: no random numbers are drawn.
"""

from __future__ import annotations

import argparse
import hashlib
import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from bench import gate_rows
from records.domain.gate import Ruleset, default_ruleset
from records.domain.gate.figures import Row, is_held, judge_row
from records.domain.gate.folding import fold
from records.domain.gate.scorer import BITS, WEIGHTS, Scorer, dump, features

STEPS = 40
RATE = 0.3
RIDGE = 2e-4
POSITIVE_SHARE = 0.5  # both labels weigh the same, however many rows they have
ALARMS_ALONE = 0.0003  # share of left-out good rows that the scorer alone may hold
ALARMS_LEAN = 0.02  # share of left-out good rows that reach the tie-breaker's mark
UNREADABLE = ("very_long", "secret", "encoded")  # their characters say nothing about wording
WORKPLACE_SKIPPED = gate_rows.WORKPLACE  # labelled as facts, yet half of them are orders

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Sample:
    """One labelled row and the folded text that is learned from."""

    row: Row
    folded: str

    @property
    def bad(self) -> bool:
        """The label."""
        return self.row.bad

    @property
    def source(self) -> str:
        """Where the row is from."""
        return self.row.source


def samples(folder: Path) -> list[Sample]:
    """Return the training rows; the text as it would be stored, folded."""
    rows = [
        row
        for row in gate_rows.gate_rows(folder)
        if row.kind not in WORKPLACE_SKIPPED and not row.noise
    ]
    rows += list(gate_rows.real_rows(folder))[::4]  # their templates repeat
    rows += gate_rows.evasion_rows(folder)
    if gate_rows.CORPUS.exists():
        rows += gate_rows.corpus_rows()
    return [
        Sample(row, fold(row.content or row.text)[:600])
        for row in rows
        if row.kind not in UNREADABLE and not row.evidence
    ]


def train(rows: Sequence[Sample]) -> tuple[Floats, float]:
    """Return weights and bias by full-batch logistic regression with Adagrad."""
    grams = [features(row.folded) for row in rows]
    sizes = np.array([len(each) for each in grams])
    index = np.fromiter(itertools.chain.from_iterable(grams), dtype=np.int64)
    starts = np.concatenate(([0], np.cumsum(sizes)[:-1]))
    scale = 1.0 / np.sqrt(sizes)
    labels = np.array([row.bad for row in rows], dtype=np.float64)
    share = labels.mean()
    importance = np.where(labels > 0, POSITIVE_SHARE / share, (1 - POSITIVE_SHARE) / (1 - share))
    weights: Floats = np.zeros(1 << BITS)
    squares = np.full(1 << BITS, 1e-8)
    bias, bias_square = 0.0, 1e-8
    for _ in range(STEPS):
        total = np.add.reduceat(weights[index], starts) * scale + bias
        error = (1.0 / (1.0 + np.exp(-np.clip(total, -30, 30))) - labels) * importance / len(rows)
        pull = np.bincount(index, weights=np.repeat(error * scale, sizes), minlength=1 << BITS)
        slope: Floats = pull + RIDGE * weights / len(rows) * 100
        squares += slope**2
        weights -= RATE * slope / np.sqrt(squares)
        bias_slope = float(error.sum())
        bias_square += bias_slope**2
        bias -= RATE * bias_slope / np.sqrt(bias_square)
    return weights, bias


def _scorer(weights: Floats, bias: float, *, hold_at: float = 1.0, lean_at: float = 1.0) -> Scorer:
    return Scorer("left out", weights.tolist(), bias, hold_at, lean_at, {})


def left_out_weights(rows: Sequence[Sample]) -> dict[str, tuple[Floats, float]]:
    """Return, for every source, weights that never saw it."""
    return {
        source: train([row for row in rows if row.source != source])
        for source in sorted({row.source for row in rows})
    }


def left_out_scores(rows: Sequence[Sample], weights: Mapping[str, tuple[Floats, float]]) -> Floats:
    """Return every row's score from weights that never saw its source."""
    scorers = {source: _scorer(*pair) for source, pair in weights.items()}
    return np.array([scorers[row.source].text(row.folded) for row in rows])


def left_out_gate(
    rows: Sequence[Sample],
    weights: Mapping[str, tuple[Floats, float]],
    *,
    hold_at: float,
    lean_at: float,
) -> dict[str, dict[str, int]]:
    """Return how many rows of each source the whole gate holds without having seen it."""
    shipped = default_ruleset()
    counts: dict[str, dict[str, int]] = {}
    for source, pair in weights.items():
        scorer = _scorer(*pair, hold_at=hold_at, lean_at=lean_at)
        ruleset = Ruleset(shipped.rules, macros=shipped.macros, scorer=scorer)
        here = counts.setdefault(
            source, {"bad": 0, "gate_bad_held": 0, "good": 0, "gate_good_held": 0}
        )
        for sample in rows:
            if sample.source == source:
                name = "bad" if sample.bad else "good"
                here[name] += 1
                here[f"gate_{name}_held"] += is_held(judge_row(sample.row, ruleset))
    return counts


def _threshold(good: Floats, share: float) -> float:
    """Return the score that at most this share of good rows reaches."""
    return float(np.quantile(good, 1 - share, method="higher")) + 1e-4


def main() -> None:
    """Train, measure with each source left out, and write the weights."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder with the labelled rows")
    parser.add_argument("--out", type=Path, default=WEIGHTS)
    options = parser.parse_args()
    rows = samples(options.data)
    weights_by_source = left_out_weights(rows)
    scores = left_out_scores(rows, weights_by_source)
    bad = np.array([row.bad for row in rows])
    hold_at = max(0.97, _threshold(scores[~bad], ALARMS_ALONE))
    lean_at = max(0.5, _threshold(scores[~bad], ALARMS_LEAN))
    by_source = left_out_gate(rows, weights_by_source, hold_at=hold_at, lean_at=lean_at)
    for source, counts in by_source.items():
        here = np.array([row.source == source for row in rows])
        counts["scorer_bad_held"] = int((here & bad & (scores >= hold_at)).sum())
        counts["scorer_good_held"] = int((here & ~bad & (scores >= hold_at)).sum())
    weights, bias = train(rows)
    digest = hashlib.sha256(np.round(weights, 4).tobytes()).hexdigest()[:8]
    figures = {
        "rows": len(rows),
        "bad_rows": int(bad.sum()),
        "left_one_source_out": by_source,
        "left_out_recall_alone": round(float((scores[bad] >= hold_at).mean()), 4),
        "left_out_alarms_alone": round(float((scores[~bad] >= hold_at).mean()), 4),
    }
    scorer = Scorer(f"1-{digest}", weights.tolist(), bias, hold_at, lean_at, figures)
    dump(scorer, options.out)
    for source, counts in by_source.items():
        print(source, counts)
    print(f"hold at {hold_at:.4f}, lean at {lean_at:.4f}", figures["left_out_recall_alone"])


if __name__ == "__main__":
    main()
