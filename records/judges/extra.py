"""The model extra: a logistic regression over the in-process embedding of a write's sentences.

Owns the score, the weights file and the finding ``model.embedding``. It can hold
a write and release none, and is off unless ``MEMCONSOLE_GATE_MODEL`` says
``embedding``. Must not be trained here; ``bench/train_gate_extra.py`` writes
``extra.json``. Its figures are in docs/gate.md.
"""

from __future__ import annotations

import functools
import json
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from records.domain.facts import Fact, Finding, Outcome
from records.domain.gate import shape
from records.domain.gate.spans import excerpt
from records.embeddings import EmbeddingError
from records.embeddings.model import unit
from records.embeddings.providers import WORDLLAMA, WORDLLAMA_DIMENSIONS, WORDLLAMA_NAME, provider

log = logging.getLogger(__name__)

WEIGHTS = Path(__file__).parent / "extra.json"
RULE = "model.embedding"
LONGEST = 600  # characters of one sentence that are read, as the scorer reads
MOST_SENTENCES = 64

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Extra:
    """Weights over one embedding model, with the threshold and the figures they were measured at."""

    version: str
    embedding: str
    weights: Floats
    bias: float
    hold_at: float
    figures: dict[str, Any]

    def scores(self, texts: Sequence[str]) -> Floats:
        """Return each text's score, 0 (a fact) to 1 (an order): that of its worst sentence.

        EmbeddingError when the embedding model is not there.
        """
        parts = [sentences(text) for text in texts]
        vectors = vectors_of([part for own in parts for part in own])
        every = probabilities(vectors, self.weights, self.bias)
        starts = np.cumsum([0, *(len(own) for own in parts)])[:-1]
        return np.maximum.reduceat(every, starts) if len(every) else every


def sentences(text: str) -> list[str]:
    """Return the sentences of a text that are scored, at least one."""
    if next(shape.borders(text), None) is None:
        return [text[:LONGEST]]
    spans = [span for span in shape.sentences(text) if span[1] - span[0] > 3]
    return [text[start:end][:LONGEST] for start, end in spans[:MOST_SENTENCES]] or [text[:LONGEST]]


def vectors_of(texts: Sequence[str]) -> Floats:
    """Return the texts' in-process vectors, of length one."""
    made = provider(WORDLLAMA, WORDLLAMA_NAME, WORDLLAMA_DIMENSIONS)
    return unit(made.embed(texts, "document")[0]).astype(np.float64)


def probabilities(vectors: Floats, weights: Floats, bias: float) -> Floats:
    """Return the logistic function of the weighted vectors."""
    return np.asarray(1.0 / (1.0 + np.exp(-np.clip(vectors @ weights + bias, -30, 30))))


def findings(facts: Sequence[Fact]) -> list[tuple[Finding, ...]]:
    """Return what the model says of each fact; nothing where its embedding is not installed."""
    extra = shipped()
    nothing: list[tuple[Finding, ...]] = [()] * len(facts)
    if not facts:
        return nothing
    # What is shown to an agent is the sentence; what is compared is the value. Either may order.
    read = [(place, name) for place in range(len(facts)) for name in _texts(facts[place])]
    try:
        scores = extra.scores([getattr(facts[place], name) for place, name in read])
    except EmbeddingError as error:
        log.warning("the gate judges without its model extra: %s", error)
        return nothing
    for (place, name), score in zip(read, scores.tolist(), strict=True):
        if score >= extra.hold_at and not nothing[place]:
            nothing[place] = (_finding(facts[place], name, score),)
    return nothing


def _texts(fact: Fact) -> tuple[str, ...]:
    return ("value",) if fact.content in ("", fact.value) else ("value", "content")


def _finding(fact: Fact, name: str, score: float) -> Finding:
    text = getattr(fact, name)
    return Finding(
        rule=RULE,
        outcome=Outcome.QUARANTINE,
        severity="low",
        field=name,
        view="raw",
        span=(0, len(text)),
        matched=excerpt(text, (0, len(text))),
        reason=f"Its meaning is close to orders and attacks for the model extra ({score:.3f}).",
    )


def dump(extra: Extra, path: Path) -> None:
    """Write the weights, rounded to what moves no score, with their figures."""
    body = {
        "version": extra.version,
        "embedding": extra.embedding,
        "hold_at": round(extra.hold_at, 6),
        "bias": round(extra.bias, 5),
        "figures": extra.figures,
        "weights": [round(weight, 5) for weight in extra.weights.tolist()],
    }
    text = json.dumps(body, indent=1)
    head, _, tail = text.partition('"weights": [')
    path.write_text(head + '"weights": [' + " ".join(tail.split()) + "\n", encoding="utf-8")


def parse(body: dict[str, Any]) -> Extra:
    """Return the model that a weights file describes; ValueError for another embedding's."""
    if body["embedding"] != WORDLLAMA_NAME:
        raise ValueError(
            f"embedding: the weights are for {body['embedding']}, not {WORDLLAMA_NAME}"
        )
    return Extra(
        version=body["version"],
        embedding=body["embedding"],
        weights=np.array(body["weights"], dtype=np.float64),
        bias=float(body["bias"]),
        hold_at=float(body["hold_at"]),
        figures=body["figures"],
    )


@functools.cache
def shipped() -> Extra:
    """Return the shipped model."""
    return parse(json.loads(WEIGHTS.read_text(encoding="utf-8")))
