"""The learned scorer: a small logistic regression over hashed words and word stems.

Owns the features, the score and the weights file. It is a net below the rules
and a tie-breaker for weak ones, never their judge: it can hold a write, not
release one. Must not be trained here; ``bench/train_gate_scorer.py`` writes the
weights and their figures. A few microseconds per sentence: character n-grams were
no better on sources left out and took five times as long.

Sentences are scored one by one and the worst counts, so that a long harmless
text around an order does not thin it out.
"""

from __future__ import annotations

import base64
import functools
import json
import math
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from records.domain.gate import shape

WEIGHTS = Path(__file__).parent / "scorer.json"
BITS = 15  # 32,768 buckets: larger gained nothing on held-out sources
LONGEST = 600  # characters of one sentence that are read
MOST_SENTENCES = 64
_MASK = (1 << BITS) - 1
_STEM = 5  # the first letters of a word stand for its inflections
_SPACED = str.maketrans('.,:;!?"()[]', " " * 11)


def features(sentence: str) -> list[int]:
    """Return the buckets of a folded sentence: words, stems, pairs of stems, the first word."""
    words = sentence[:LONGEST].translate(_SPACED).split()
    if not words:
        return [_bucket("^")]
    buckets = [_bucket(f"^{words[0]}")]
    before = ""
    for word in words:
        own, stem_bucket, stem = _word(word)
        buckets += (own, stem_bucket)
        if before:
            buckets.append(_pair(before, stem))
        before = stem
    return buckets


@functools.lru_cache(maxsize=1 << 16)
def _word(word: str) -> tuple[int, int, str]:
    """Return the buckets of a word and its stem, and the stem; frequent words are hashed once."""
    stem = word[:_STEM]
    return _bucket(word), _bucket(f"{stem}~"), stem


@functools.lru_cache(maxsize=1 << 16)
def _pair(one: str, two: str) -> int:
    return _bucket(f"{one} {two}")


def _bucket(name: str) -> int:
    return zlib.crc32(name.encode("utf-8", "replace")) & _MASK


@dataclass(frozen=True)
class Scorer:
    """Weights with their thresholds and the figures they were measured at."""

    version: str
    weights: Sequence[float]
    bias: float
    hold_at: float  # alone enough to hold a write
    lean_at: float  # enough to make a weak rule count
    figures: dict[str, Any]

    def sentence(self, folded: str) -> float:
        """Return the score of one folded sentence, 0 (a fact) to 1 (an order or attack)."""
        weights = self.weights
        buckets = features(folded)
        total = sum([weights[bucket] for bucket in buckets]) / math.sqrt(len(buckets)) + self.bias
        return 1.0 / (1.0 + math.exp(-max(-30.0, min(30.0, total))))

    def text(self, folded: str) -> float:
        """Return the worst score of the text's sentences."""
        if next(shape.borders(folded), None) is None:
            return self.sentence(folded)
        spans = [span for span in shape.sentences(folded) if span[1] - span[0] > 3]
        parts = [folded[start:end] for start, end in spans[:MOST_SENTENCES]]
        return max((self.sentence(part) for part in parts), default=0.0)


def dump(scorer: Scorer, path: Path) -> None:
    """Write the weights, quantised to one byte each, with their figures."""
    weights = np.array(scorer.weights)
    top = float(np.abs(weights).max()) or 1.0
    small = np.round(weights / top * 127).astype(np.int8)
    body = {
        "version": scorer.version,
        "bits": BITS,
        "scale": top / 127,
        "bias": scorer.bias,
        "hold_at": scorer.hold_at,
        "lean_at": scorer.lean_at,
        "figures": scorer.figures,
        "weights": base64.b85encode(small.tobytes()).decode(),
    }
    path.write_text(json.dumps(body, indent=1) + "\n", encoding="utf-8")


def parse(body: dict[str, Any]) -> Scorer:
    """Return the scorer that a weights file describes."""
    if body["bits"] != BITS:
        raise ValueError(f"bits: the weights are for {body['bits']} bits, the code for {BITS}")
    small = np.frombuffer(base64.b85decode(body["weights"]), dtype=np.int8)
    return Scorer(
        version=body["version"],
        weights=(small.astype(np.float64) * float(body["scale"])).tolist(),
        bias=float(body["bias"]),
        hold_at=float(body["hold_at"]),
        lean_at=float(body["lean_at"]),
        figures=body["figures"],
    )


@functools.cache
def shipped() -> Scorer | None:
    """Return the shipped scorer; ``None`` when its weights were left out of the package."""
    if not WEIGHTS.exists():
        return None
    return parse(json.loads(WEIGHTS.read_text(encoding="utf-8")))
