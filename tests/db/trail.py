"""What tests of the trail share: events to seal, and the superuser's hand."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import UUID

import psycopg
import pytest
from django.conf import settings

from records import events
from records.access import Access
from records.events import Happening
from records.scope import workspace_scope


def happen(access: Access, *reasons: str) -> None:
    """Append one event per reason, in one transaction."""
    with workspace_scope(access.workspace_id):
        events.append(
            [
                Happening(
                    "record.added", "record", UUID(int=n + 1), reason=reason, details={"n": n}
                )
                for n, reason in enumerate(reasons)
            ],
            access=access,
        )


@contextmanager
def superuser() -> Iterator[psycopg.Connection[tuple[Any, ...]]]:
    """Yield a connection that no policy, grant or trigger stops."""
    with psycopg.connect(**settings.ADMINISTRATOR_CONNECTION, autocommit=True) as connection:
        connection.execute("SET session_replication_role = replica")
        yield connection


@pytest.fixture(autouse=True)
def own_keys(tmp_path: Path, settings: Any) -> None:
    """Keep keys and checkpoints in the test's own folder; import it where a test seals."""
    settings.TRAIL_KEY_FILE = tmp_path / "trail_key"
    settings.TRAIL_PUBLIC_KEYS_FILE = tmp_path / "trail_keys"
    settings.TRAIL_CHECKPOINTS_FILE = tmp_path / "trail_checkpoints"
