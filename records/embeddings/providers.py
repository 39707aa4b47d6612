"""Who turns texts into vectors: in this process, over HTTP, or nobody.

Owns loading and calling; knows no workspace and no database. Providers return
vectors of any length, ``embed.py`` normalises them. Texts never reach a log.
"""

from __future__ import annotations

import json
import logging
import threading
import urllib.error
import urllib.request
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from django.conf import settings

from .model import EmbeddingError, Kind, Matrix

logger = logging.getLogger(__name__)

WORDLLAMA, OPENAI, CALLER, NONE = "wordllama", "openai", "caller", "none"

# Raise the version when the wheel brings other weights or tokens: tests pin their digest.
WORDLLAMA_NAME = "l2_supercat_256/1"
WORDLLAMA_DIMENSIONS = 256

REQUEST_TEXTS = 256  # the smallest limit among servers that speak this protocol is above it
REQUEST_CHARACTERS = 8_000  # a text's part that is read: about 2,000 to 8,000 tokens
ERROR_CHARACTERS = 200


class Provider(Protocol):
    """What embeds texts; ``partial`` names those of which only a part was read."""

    def embed(self, texts: Sequence[str], kind: Kind) -> tuple[Matrix, frozenset[int]]:
        """Return one row for each text; EmbeddingError when that is impossible now."""


class WordLlama:
    """Static word vectors from the ``wordllama`` wheel, averaged over a text's tokens.

    The average is made here and not by the wheel, which pads a batch to its
    longest text. Reads a text of any length whole.
    """

    def __init__(self) -> None:
        try:
            import wordllama
        except ImportError as error:
            raise EmbeddingError(
                "The wordllama package is not installed (it has no wheel for this platform): "
                "memories are found by their words only. Install it with a C compiler, or set "
                "MEMCONSOLE_EMBEDDINGS to openai."
            ) from error
        folder = Path(wordllama.__file__).parent
        loaded = wordllama.WordLlama.load(cache_dir=folder, disable_download=True)
        self._vectors = loaded.embedding
        self._tokenizer = loaded.tokenizer
        self._tokenizer.no_padding()

    def embed(self, texts: Sequence[str], kind: Kind) -> tuple[Matrix, frozenset[int]]:
        """Return the mean of each text's token vectors."""
        found = self._tokenizer.encode_batch_fast(list(texts), add_special_tokens=False)
        lengths = np.array([len(one.ids) for one in found])
        ids = np.fromiter((i for one in found for i in one.ids), dtype=np.int64)
        matrix = np.zeros((len(texts), self._vectors.shape[1]), dtype=np.float32)
        filled = lengths > 0
        if ids.size:
            starts = (np.cumsum(lengths) - lengths)[filled]
            matrix[filled] = np.add.reduceat(self._vectors[ids], starts, axis=0)
            matrix[filled] /= lengths[filled, None]
        return matrix, frozenset()


class OpenAiCompatible:
    """Any server that answers ``POST {url}/embeddings`` as OpenAI's does."""

    def __init__(self, name: str, dimensions: int) -> None:
        configured: dict[str, Any] = settings.EMBEDDINGS
        self._url = str(configured["url"]).rstrip("/") + "/embeddings"
        self._key = str(configured.get("key", ""))
        self._timeout = float(configured.get("timeout", 10.0))
        self._asks_dimensions = bool(configured.get("ask_dimensions"))
        self._name = name
        self._dimensions = dimensions

    def embed(self, texts: Sequence[str], kind: Kind) -> tuple[Matrix, frozenset[int]]:
        """Return the server's vectors, asked for in portions."""
        partial = frozenset(i for i, text in enumerate(texts) if len(text) > REQUEST_CHARACTERS)
        portions = [
            self._ask([text[:REQUEST_CHARACTERS] for text in texts[start : start + REQUEST_TEXTS]])
            for start in range(0, len(texts), REQUEST_TEXTS)
        ]
        matrix = np.concatenate(portions) if portions else np.zeros((0, self._dimensions))
        return matrix.astype(np.float32), partial

    def _ask(self, texts: list[str]) -> Matrix:
        body: dict[str, Any] = {"model": self._name, "input": texts, "encoding_format": "float"}
        if self._asks_dimensions:
            body["dimensions"] = self._dimensions
        answer = self._post(json.dumps(body).encode())
        try:
            rows = sorted(answer["data"], key=lambda row: row["index"])
            matrix = np.array([row["embedding"] for row in rows], dtype=np.float32)
        except (KeyError, TypeError, ValueError) as error:
            raise EmbeddingError(f"{self._url} answered something else than vectors.") from error
        if matrix.shape != (len(texts), self._dimensions) or not np.isfinite(matrix).all():
            raise EmbeddingError(
                f"{self._url} answered a matrix of {matrix.shape} for {len(texts)} texts; "
                f"MEMCONSOLE_EMBEDDINGS_DIMENSIONS says {self._dimensions} numbers each."
            )
        return matrix

    def _post(self, body: bytes) -> Any:
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if self._key:
            headers["Authorization"] = f"Bearer {self._key}"
        request = urllib.request.Request(self._url, body, headers)  # noqa: S310 - set by the operator
        try:
            with urllib.request.urlopen(request, timeout=self._timeout) as answer:  # noqa: S310
                return json.load(answer)
        except urllib.error.HTTPError as error:
            with error:
                raise EmbeddingError(f"{self._url} answered {error.code}.") from error
        except (OSError, ValueError) as error:
            reason = str(getattr(error, "reason", error))[:ERROR_CHARACTERS]
            raise EmbeddingError(f"{self._url} cannot be asked: {reason}") from error


_loading = threading.Lock()


def provider(name: str, model: str, dimensions: int) -> Provider:
    """Return the provider of a model, loaded once for the process.

    EmbeddingError when there is none; it is said once in the log.
    """
    with _loading:
        found = _provider(name, model, dimensions)
    if isinstance(found, EmbeddingError):
        raise EmbeddingError(str(found))
    return found


@lru_cache(maxsize=16)
def _provider(name: str, model: str, dimensions: int) -> Provider | EmbeddingError:
    try:
        if name == WORDLLAMA:
            if model != WORDLLAMA_NAME:
                raise EmbeddingError(f"The installed wordllama has no model {model}.")
            return WordLlama()
        if name == OPENAI:
            return OpenAiCompatible(model, dimensions)
    except EmbeddingError as error:
        logger.warning("%s", error)
        return error
    return EmbeddingError(f"Vectors of {name} cannot be made here.")
