"""Texts to vectors, by the models a workspace has.

Owns which text stands for a fact, and that every vector is finite and of
length one. Needs no scope of its own: see ``registry.py``.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

import numpy as np

from records.items import BadRequest, FieldError

from .model import EmbeddingError, Kind, Matrix, Model, unit
from .providers import provider
from .registry import caller_model, query_models, serving_model

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Embedded:
    """Vectors of some texts: one row each, of length one, ``model.stored`` wide.

    ``partial`` holds the places of texts of which only a part was read.
    """

    model: Model
    vectors: Matrix
    partial: frozenset[int] = frozenset()


def embedding_text(subject: str, predicate: str, value: str, content: str) -> str:
    """Return the text that is embedded, and searched by words, for one fact.

    The sentence, led by what it leaves unsaid: a note is its content, and a
    terse content ("yes") still says whose yes it is.
    """
    said = content.casefold()
    parts = [part for part in (subject, predicate.replace("_", " "), value) if part]
    lead = [part for part in parts if part.casefold() not in said]
    return " ".join([*lead, content] if content else parts)


def embed(texts: Sequence[str], *, workspace_id: UUID, kind: Kind = "document") -> Embedded:
    """Embed texts with the workspace's serving model.

    May ask a server over the network: call before opening the transaction that
    stores. EmbeddingError when there are no vectors now.
    """
    model = serving_model(workspace_id)
    return embed_with(model, texts, kind=kind)


def embed_with(model: Model, texts: Sequence[str], *, kind: Kind) -> Embedded:
    """Embed texts with one model."""
    made = provider(model.provider, model.name, model.dimensions)
    matrix, partial = made.embed(texts, kind)
    return Embedded(model, unit(matrix), partial)


def caller_vectors(vectors: Sequence[Sequence[float]], *, workspace_id: UUID) -> Embedded:
    """Take over vectors of one length that the caller made.

    BadRequest names ``embedding`` when one is too long, not finite or zero.
    """
    model = caller_model(workspace_id, len(vectors[0]))
    try:
        matrix = np.array(vectors, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise _bad("must be a list of finite numbers") from error
    if not np.isfinite(matrix).all():
        raise _bad("must have finite numbers only")
    largest = np.abs(matrix).max(axis=1, keepdims=True)
    if not largest.all():
        raise _bad("must not be zero throughout")
    return Embedded(model, unit(matrix / largest))


def query_vectors(
    workspace_id: UUID, text: str, embedding: Sequence[float] | None = None
) -> tuple[dict[Model, Matrix], bool]:
    """Return the query's vector in each model that records may carry, and whether all are there.

    A model that cannot embed now is left out: its records are found by text.
    """
    found: dict[Model, Matrix] = {}
    is_complete = True
    for model in query_models(workspace_id):
        if not model.dimensions:
            continue
        try:
            found[model] = embed_with(model, [text], kind="query").vectors[0]
        except EmbeddingError as error:
            is_complete = False
            logger.warning("A query is answered without likeness: %s", error)
    if embedding is not None:
        given = caller_vectors([embedding], workspace_id=workspace_id)
        found[given.model] = given.vectors[0]
    return found, is_complete


def _bad(message: str) -> BadRequest:
    return BadRequest(FieldError("embedding", message))
