"""The database's view of one request: a transaction with its isolation settings.

Everything that touches scoped tables runs inside ``partition_scope`` or
``workspace_scope``. The settings are transaction-local and fail closed; row
level security is the guarantee, filters in queries are for speed and clarity.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from uuid import UUID

from django.db import connections, transaction

SETTINGS = """SELECT set_config('memconsole.workspace', %s, true),
                     set_config('memconsole.partition', %s, true),
                     set_config('memconsole.reach', %s, true)"""


@contextmanager
def partition_scope(
    workspace_id: UUID, partition_ids: Iterable[UUID], *, using: str = "default"
) -> Iterator[None]:
    """Open a transaction that sees only these partitions: an agent's reach."""
    with transaction.atomic(using=using):
        _set(workspace_id, ",".join(str(one) for one in partition_ids), "partition", using)
        yield


@contextmanager
def workspace_scope(workspace_id: UUID, *, using: str = "default") -> Iterator[None]:
    """Open a transaction that sees a whole workspace: people's and jobs' reach."""
    with transaction.atomic(using=using):
        _set(workspace_id, "", "workspace", using)
        yield


def _set(workspace_id: UUID, partitions: str, reach: str, using: str) -> None:
    with connections[using].cursor() as cursor:
        cursor.execute(SETTINGS, [str(workspace_id), partitions, reach])
