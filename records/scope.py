"""The database's view of one request: a transaction with its isolation settings.

Everything that touches scoped tables runs inside ``partition_scope`` or
``workspace_scope``. The settings are transaction-local and fail closed; row
level security is the guarantee, filters in queries are for speed and clarity.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from uuid import UUID

from django.db import connections, transaction

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


def _set(
    workspace_id: UUID, partitions: str, reach: str, using: str, settings: Mapping[str, str]
) -> None:
    statement = SETTINGS + ", set_config(%s, %s, true)" * len(settings)
    parameters = [str(workspace_id), partitions, reach]
    for name, value in settings.items():
        parameters += [name, value]
    with connections[using].cursor() as cursor:
        cursor.execute(statement, parameters)
