"""Trains the gate's model extra: ``python -m bench.train_gate_extra --data DIR``.

Owns the training of ``records/judges/extra.json`` on the scorer's rows. Every
source is left out in turn to measure and to set the threshold; the shipped
weights are then trained on all of it. Newton's method from zero: the same rows
give the same weights. Prints recall and false alarms, alone and of what the
gate lets pass, with 95 % Wilson intervals.
"""

from __future__ import annotations

import argparse
import hashlib
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memconsole.settings")

from bench import gate_rows
from bench.train_gate_scorer import Sample, samples
from records.domain.gate import default_ruleset
from records.domain.gate.figures import is_held, judge_row, wilson
from records.embeddings.providers import WORDLLAMA_NAME
from records.judges.extra import WEIGHTS, Extra, dump, probabilities, vectors_of

NEWTON_STEPS = 12  # the tenth moves no weight by more than a millionth
RIDGE = 1.0  # on the sum of the losses, each label weighing half of the rows
# Shares of left-out good rows that may be held: the gate's own bars.
ALARMS = {"real facts": 0.003, "people and preferences": 0.003, "technical hard negatives": 0.02}

Floats = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]


def train(vectors: Floats, bad: Mask) -> tuple[Floats, float]:
    """Return weights and bias of a ridge-penalised logistic regression, labels balanced."""
    rows = np.hstack([vectors, np.ones((len(vectors), 1))])
    share = bad.mean()
    importance = np.where(bad, 0.5 / share, 0.5 / (1 - share))
    ridge = np.full(rows.shape[1], RIDGE)
    ridge[-1] = 1e-6
    weights = np.zeros(rows.shape[1])
    for _ in range(NEWTON_STEPS):
        guess = probabilities(rows, weights, 0.0)
        slope = rows.T @ ((guess - bad) * importance) + ridge * weights
        curve = (rows * (importance * guess * (1 - guess))[:, None]).T @ rows + np.diag(ridge)
        weights -= np.linalg.solve(curve, slope)
    return weights[:-1], float(weights[-1])


def text_of(sample: Sample) -> str:
    """Return the text as it would be stored."""
    return (sample.row.content or sample.row.text)[:600]


def left_out_scores(rows: Sequence[Sample], vectors: Floats, bad: Mask) -> Floats:
    """Return every row's score from weights that never saw its source."""
    texts = [text_of(row) for row in rows]
    scores = np.zeros(len(rows))
    for source in sorted({row.source for row in rows}):
        here = np.array([row.source == source for row in rows])
        weights, bias = train(vectors[~here], bad[~here])
        extra = Extra("left out", WORDLLAMA_NAME, weights, bias, 1.0, {})
        scores[here] = extra.scores([text for text, own in zip(texts, here, strict=True) if own])
    return scores


def threshold(scores: Floats, groups: Sequence[str]) -> float:
    """Return the lowest score at which no group of good rows exceeds its bar."""
    marks = [
        float(np.quantile(scores[here], 1 - share, method="higher")) + 1e-6
        for name, share in ALARMS.items()
        if (here := np.array([group == name for group in groups])).any()
    ]
    return max(0.5, *marks)


def figure(held: Mask, where: Mask) -> dict[str, Any]:
    """Return how many of the rows are held, with the interval of the share."""
    hits, count = int((held & where).sum()), int(where.sum())
    low, high = wilson(hits, count)
    return {"rows": count, "held": hits, "interval": [round(low, 4), round(high, 4)]}


def measure(rows: Sequence[Sample], scores: Floats, hold_at: float) -> dict[str, Any]:
    """Return the left-out figures by group and source, and of the rows that the gate lets pass."""
    held = scores >= hold_at
    bad = np.array([row.bad for row in rows])
    groups = np.array([gate_rows.group_of(row.row) for row in rows])
    sources = np.array([row.source for row in rows])
    rules = default_ruleset()
    passed = np.array([not is_held(judge_row(row.row, rules)) for row in rows])
    kinds = {("bad" if label else "good"): bad == label for label in (True, False)}
    return {
        "by_group": {
            name: {"alone": figure(held, at := groups == name),
                   "of_what_the_gate_passes": figure(held, at & passed)}
            for name in sorted(set(groups.tolist()))
        },
        "by_source": {
            source: {name: figure(held, (sources == source) & at) for name, at in kinds.items()}
            for source in sorted(set(sources.tolist()))
        },
        "of_what_the_gate_passes": {
            name: figure(held, at & passed) for name, at in kinds.items()
        },
        "alone": {name: figure(held, at) for name, at in kinds.items()},
    }  # fmt: skip


def show(name: str, one: dict[str, Any]) -> None:
    """Print one figure."""
    low, high = one["interval"]
    share = one["held"] / one["rows"] if one["rows"] else 0.0
    print(f"{name:60} {one['held']:>6} of {one['rows']:>6}  {share:6.2%}  [{low:.2%}, {high:.2%}]")


def main() -> None:
    """Train, measure with each source left out, and write the weights."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder with the labelled rows")
    parser.add_argument("--out", type=Path, default=WEIGHTS)
    options = parser.parse_args()
    rows = samples(options.data)
    bad = np.array([row.bad for row in rows])
    vectors = vectors_of([text_of(row) for row in rows])
    scores = left_out_scores(rows, vectors, bad)
    groups = ["" if row.bad else gate_rows.group_of(row.row) for row in rows]
    hold_at = threshold(scores, groups)
    figures = measure(rows, scores, hold_at)
    weights, bias = train(vectors, bad)
    digest = hashlib.sha256(np.round(weights, 4).tobytes()).hexdigest()[:8]
    extra = Extra(f"1-{digest}", WORDLLAMA_NAME, weights, bias, hold_at, figures)
    dump(extra, options.out)
    print(f"{extra.version}: holds at {hold_at:.4f}; every source left out in turn\n")
    for name, one in figures["alone"].items():
        show(f"alone, {name}", one)
    for name, one in figures["of_what_the_gate_passes"].items():
        show(f"of what the gate lets pass, {name}", one)
    for name, both in figures["by_group"].items():
        for how, one in both.items():
            show(f"{name}, {how.replace('_', ' ')}", one)
    for source, labels in figures["by_source"].items():
        for name, one in labels.items():
            if one["rows"]:
                show(f"{source}, {name}", one)


if __name__ == "__main__":
    main()
