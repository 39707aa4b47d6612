"""The database's view of one request: a transaction with its isolation settings.

Everything that touches scoped tables runs inside ``partition_scope`` or
``workspace_scope``. The settings are transaction-local and fail closed; row
level security is the guarantee, filters in queries are for speed and clarity.
"""

from __future__ import annotations

import functools
import random
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import ParamSpec, TypeVar
from uuid import UUID

import psycopg
from django.db import OperationalError, connections, transaction

P = ParamSpec("P")
R = TypeVar("R")

SETTINGS = """SELECT set_config('memconsole.workspace', %s, true),
                     set_config('memconsole.partition', %s, true),
                     set_config('memconsole.reach', %s, true)"""


@contextmanager
def partition_scope(
    workspace_id: UUID,
    partition_ids: Iterable[UUID],
    *,
    using: str = "default",
    settings: Mapping[str, str] | None = None,
) -> Iterator[None]:
    """Open a transaction that sees only these partitions: an agent's reach.

    ``settings`` are other settings for this transaction alone (of the planner,
    say), made in the same round trip.
    """
    with transaction.atomic(using=using):
        partitions = ",".join(str(one) for one in partition_ids)
        _set(workspace_id, partitions, "partition", using, settings or {})
        yield


@contextmanager
def workspace_scope(workspace_id: UUID, *, using: str = "default") -> Iterator[None]:
    """Open a transaction that sees a whole workspace: people's and jobs' reach."""
    with transaction.atomic(using=using):
        _set(workspace_id, "", "workspace", using, {})
        yield


# Two writers were in each other's way, and neither is at fault: serialization failure,
# deadlock, lock time-out. Nothing of the attempt is left; the next one finds the way free.
IN_THE_WAY = frozenset({"40001", "40P01", "55P03"})
ATTEMPTS = 4
PAUSE_SECONDS = 0.02  # before the second attempt; doubled before each further one


def retried(act: Callable[P, R]) -> Callable[P, R]:
    """Let ``act``, which opens its own transaction, be tried again when writers collide.

    At most ``ATTEMPTS`` times in all. Inside an outer transaction it is tried
    once: a collision undoes the whole, so only the outermost act may repeat.
    """

    @functools.wraps(act)
    def run(*args: P.args, **named: P.kwargs) -> R:
        if connections["default"].in_atomic_block:
            return act(*args, **named)
        for attempt in range(1, ATTEMPTS):
            try:
                return act(*args, **named)
            except (OperationalError, psycopg.OperationalError) as error:
                if sqlstate(error) not in IN_THE_WAY:
                    raise
            # Unequal pauses, or the same two would meet again.
            time.sleep(PAUSE_SECONDS * 2 ** (attempt - 1) * random.uniform(0.5, 1.5))  # noqa: S311
        return act(*args, **named)

    return run


def sqlstate(error: BaseException) -> str | None:
    """Return PostgreSQL's code for an error, whether Django has wrapped it or not."""
    cause = error if isinstance(error, psycopg.Error) else error.__cause__
    return getattr(cause, "sqlstate", None)


def _set(
    workspace_id: UUID, partitions: str, reach: str, using: str, settings: Mapping[str, str]
) -> None:
    statement = SETTINGS + ", set_config(%s, %s, true)" * len(settings)
    parameters = [str(workspace_id), partitions, reach]
    for name, value in settings.items():
        parameters += [name, value]
    with connections[using].cursor() as cursor:
        cursor.execute(statement, parameters)
