"""Vectors for texts: which models a workspace has, and how each embeds.

Owns the providers (in-process, OpenAI-compatible, the caller's own vectors,
none) and the registry of models. A vector carries its model's number, and a
query only ever meets vectors of its own model. Stores no record; ``store.py``
keeps the vectors and ``retrieve`` compares them. Read ``registry.py`` for how a
new model takes over while the old one serves.
"""

from .embed import Embedded, caller_vectors, embed, embedding_text, query_vectors
from .model import CALLER_LIMIT, STORED_LIMIT, EmbeddingError, Model
from .registry import (
    caller_model,
    configured,
    forget,
    models_of,
    register_defaults,
    retire_replaced,
    serving_model,
    switch,
)

__all__ = [
    "CALLER_LIMIT",
    "STORED_LIMIT",
    "Embedded",
    "EmbeddingError",
    "Model",
    "caller_model",
    "caller_vectors",
    "configured",
    "embed",
    "embedding_text",
    "forget",
    "models_of",
    "query_vectors",
    "register_defaults",
    "retire_replaced",
    "serving_model",
    "switch",
]
