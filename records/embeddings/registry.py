"""The models of each workspace: which serves, which retires, which callers bring.

Owns table ``embedding_model`` and a short-lived cache of it, since every write
and recall asks. A model that takes over is announced ``ANNOUNCED`` before its
first vector is written, longer than any process caches the list: no recall
ever meets a vector whose model it does not know.

Functions here may be called inside a scope of the workspace, or outside any
transaction, where they open a short one of their own.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.db import connection

from records.items import BadRequest, FieldError
from records.scope import partition_scope

from . import providers
from .model import CALLER_LIMIT, EmbeddingError, Model

CACHED = 5.0  # seconds
ANNOUNCED = timedelta(seconds=15)

SELECT = """SELECT number, provider, name, dimensions, state, created_at,
                   pg_current_xact_id_if_assigned()::text
            FROM embedding_model WHERE workspace_id = %s ORDER BY number"""
INSERT = """INSERT INTO embedding_model (workspace_id, number, provider, name, dimensions, state)
            SELECT %(workspace)s, coalesce(max(number), 0) + 1, %(provider)s, %(name)s,
                   %(dimensions)s, %(state)s
            FROM embedding_model WHERE workspace_id = %(workspace)s"""

_cache: dict[UUID, tuple[float, tuple[Model, ...]]] = {}
_own = threading.local()  # the transaction in which this thread registered a model last


def models_of(workspace_id: UUID) -> tuple[Model, ...]:
    """Return the workspace's models by number; at most five seconds old."""
    found = _cache.get(workspace_id)
    if found is not None and found[0] > time.monotonic():
        return found[1]
    return _read(workspace_id)


def serving_model(workspace_id: UUID) -> Model:
    """Return the model that embeds new writes; EmbeddingError when the workspace has none."""
    return _serving(models_of(workspace_id), now=datetime.now(UTC))


def query_models(workspace_id: UUID) -> tuple[Model, ...]:
    """Return the models that a text query is embedded with: all that vectors may carry."""
    return tuple(m for m in models_of(workspace_id) if m.state in ("serving", "retiring"))


def configured() -> tuple[str, str, int]:
    """Return provider, name and dimensions of the model that the settings ask for."""
    asked: dict[str, Any] = settings.EMBEDDINGS
    if asked["provider"] == providers.OPENAI:
        return providers.OPENAI, str(asked["model"]), int(asked["dimensions"])
    if asked["provider"] == providers.NONE:
        return providers.NONE, "", 0
    if asked["provider"] == providers.WORDLLAMA:
        return providers.WORDLLAMA, providers.WORDLLAMA_NAME, providers.WORDLLAMA_DIMENSIONS
    raise ImproperlyConfigured(
        f"MEMCONSOLE_EMBEDDINGS is {asked['provider']!r}; it may be wordllama, openai or none."
    )


def register_defaults(workspace_id: UUID) -> None:
    """Register model 1 of a new workspace, as configured; repeatable."""
    with _scope(workspace_id):
        _lock(workspace_id)
        if not _read(workspace_id):
            _insert(workspace_id, *configured(), "serving")


def caller_model(workspace_id: UUID, dimensions: int) -> Model:
    """Return the model of callers' own vectors of this length, registered at first sight.

    BadRequest when no vector may have this length.
    """
    if not 1 <= dimensions <= CALLER_LIMIT:
        raise BadRequest(
            FieldError(
                "embedding",
                f"must have 1 to {CALLER_LIMIT} numbers, not {dimensions}",
                "length",
                CALLER_LIMIT,
            )
        )
    name = str(dimensions)
    found = _named(models_of(workspace_id), providers.CALLER, name)
    return found or _register(workspace_id, providers.CALLER, name, dimensions, "caller")


def switch(workspace_id: UUID) -> Model | None:
    """Register the configured model when another one serves; the other retires.

    Returns the model that took over, or ``None`` when nothing changed. A model
    that comes back gets a new number: its old vectors are of unknown texts.
    """
    with _scope(workspace_id):
        _lock(workspace_id)
        models = _read(workspace_id)
        provider, name, dimensions = configured()
        newest = max((m for m in models if m.state == "serving"), key=_age, default=None)
        if newest is not None and (newest.provider, newest.name, newest.dimensions) == (
            provider,
            name,
            dimensions,
        ):
            return None
        _set_state(workspace_id, "serving", "retiring")
        found = _insert(workspace_id, provider, name, dimensions, "serving")
        _forget_in_transaction(workspace_id)
        return found


def retire_replaced(workspace_id: UUID, numbers: list[int]) -> None:
    """Mark retiring models as retired once no vector of theirs is left."""
    with _scope(workspace_id):
        _set_state(workspace_id, "retiring", "retired", numbers)
        _forget_in_transaction(workspace_id)


def forget() -> None:
    """Empty this process's cache."""
    _cache.clear()


def _serving(models: tuple[Model, ...], *, now: datetime) -> Model:
    """Return the newest model announced long enough; until then the one it replaces."""
    ready = [m for m in models if m.state == "serving" and m.created_at <= now - ANNOUNCED]
    waiting = [m for m in models if m.state in ("serving", "retiring")]
    if not waiting:
        raise EmbeddingError("This workspace has no embedding model.")
    if ready:
        return max(ready, key=_age)
    retiring = [m for m in waiting if m.state == "retiring"]
    return max(retiring, key=_age) if retiring else max(waiting, key=_age)


def _age(model: Model) -> tuple[datetime, int]:
    return model.created_at, model.number


def _named(models: tuple[Model, ...], provider: str, name: str) -> Model | None:
    return next((m for m in models if (m.provider, m.name) == (provider, name)), None)


def _register(workspace_id: UUID, provider: str, name: str, dimensions: int, state: str) -> Model:
    with _scope(workspace_id):
        _lock(workspace_id)
        found = _named(_read(workspace_id), provider, name)
        return found or _insert(workspace_id, provider, name, dimensions, state)


def _lock(workspace_id: UUID) -> None:
    """Let one at a time register: two numbers for one model would never meet."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT id FROM workspace WHERE id = %s FOR NO KEY UPDATE", [workspace_id])


def _insert(workspace_id: UUID, provider: str, name: str, dimensions: int, state: str) -> Model:
    with connection.cursor() as cursor:
        cursor.execute(
            INSERT,
            {
                "workspace": workspace_id,
                "provider": provider,
                "name": name,
                "dimensions": dimensions,
                "state": state,
            },
        )
    _forget_in_transaction(workspace_id)
    return max(_read(workspace_id), key=lambda m: m.number)


def _set_state(workspace_id: UUID, old: str, new: str, numbers: list[int] | None = None) -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            """UPDATE embedding_model SET state = %s WHERE workspace_id = %s AND state = %s
               AND (%s::int[] IS NULL OR number = ANY (%s::int[]))""",
            [new, workspace_id, old, numbers, numbers],
        )


def _read(workspace_id: UUID) -> tuple[Model, ...]:
    with _scope(workspace_id), connection.cursor() as cursor:
        cursor.execute(SELECT, [workspace_id])
        rows = cursor.fetchall()
    models = tuple(Model(workspace_id, *row[:6]) for row in rows)
    # What this very transaction registered may be rolled back: never remember that.
    if models and (rows[0][6] is None or rows[0][6] != getattr(_own, "transaction", None)):
        _cache[workspace_id] = (time.monotonic() + CACHED, models)
    return models


def _forget_in_transaction(workspace_id: UUID) -> None:
    _cache.pop(workspace_id, None)
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_current_xact_id()::text")
        row = cursor.fetchone()
    _own.transaction = row[0] if row else None


@contextmanager
def _scope(workspace_id: UUID) -> Iterator[None]:
    """Stay in the caller's scope, or open one that reaches no partition at all."""
    if connection.in_atomic_block:
        yield
        return
    with partition_scope(workspace_id, []):
        yield
