"""What a model of embeddings is, and how long vectors become short enough to index.

Owns the value objects of the package and the reduction of long vectors. No
database, no network.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from hashlib import shake_256
from typing import Any, Literal
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

Kind = Literal["document", "query"]
Matrix = NDArray[np.float32]

# An index tuple holds 2,704 bytes: 2 for each dimension, 664 for 160 search terms, some 130
# for the other columns of memory_record_recall.
STORED_LIMIT = 896
CALLER_LIMIT = 4_096  # the longest vectors of models in use have 4,096 numbers


class EmbeddingError(Exception):
    """The texts could not be embedded now: the write goes on without, the row shows it."""


@dataclass(frozen=True, slots=True)
class Model:
    """One model whose vectors a workspace keeps, under a number of the workspace's own.

    ``dimensions`` is what the provider or the caller gives; ``stored`` what is
    kept of it. ``created_at`` decides from when on it is used (registry.py).
    """

    workspace_id: UUID
    number: int
    provider: str
    name: str
    dimensions: int
    state: str
    created_at: datetime

    @property
    def stored(self) -> int:
        """Return how many numbers of a vector are kept."""
        return min(self.dimensions, STORED_LIMIT)


def unit(vectors: NDArray[Any]) -> Matrix:
    """Return rows of length one, short enough to store; a row of zeros stays zero.

    Long rows are turned by a fixed rotation and cut, which keeps the cosine of
    two of them to about 0.02 whatever the model. Cutting without turning would
    only do for models trained for it.
    """
    matrix = np.ascontiguousarray(vectors, dtype=np.float32)
    if matrix.shape[1] > STORED_LIMIT:
        matrix = _rotated(matrix)[:, :STORED_LIMIT]
    lengths = np.linalg.norm(matrix.astype(np.float64), axis=1, keepdims=True)
    return np.asarray(matrix / np.where(lengths > 0, lengths, 1.0), dtype=np.float32)


def _rotated(matrix: Matrix) -> Matrix:
    """Flip signs at random (but always the same) and apply the Walsh-Hadamard transform."""
    rows, dimensions = matrix.shape
    size = 1 << (dimensions - 1).bit_length()
    turned = np.zeros((rows, size), dtype=np.float32)
    turned[:, :dimensions] = matrix * _signs(dimensions)
    half = 1
    while half < size:
        pairs = turned.reshape(rows, size // (2 * half), 2, half)
        turned = np.stack(
            (pairs[:, :, 0] + pairs[:, :, 1], pairs[:, :, 0] - pairs[:, :, 1]), axis=2
        ).reshape(rows, size)
        half *= 2
    return turned


@lru_cache(maxsize=16)
def _signs(dimensions: int) -> Matrix:
    bits = np.unpackbits(
        np.frombuffer(shake_256(b"memconsole:signs").digest(dimensions // 8 + 1), dtype=np.uint8)
    )
    return (bits[:dimensions].astype(np.float32) * 2) - 1
