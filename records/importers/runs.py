"""How far an import got: its run's row, moved in the transaction that wrote the facts.

Owns ``import_run`` and ``import_fact``. A run's row only ever moves on from
where its importer believes it to be, so that two processes on one run cannot
both count a row.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from typing import Any
from uuid import UUID

from records import events
from records.access import Access
from records.domain.ids import uuid7
from records.importers.report import FACTS
from records.items import BadRequest, Conflict, FieldError
from records.models import ImportRun
from records.queries import cursor
from records.scope import workspace_scope

RUN_ID_LIMIT = 100


@dataclass(frozen=True, slots=True)
class Place:
    """A place between two rows of a file, and between two rows of its errors."""

    position: int
    line: int
    digest: bytes
    errors_size: int


def open_run(
    run_id: str,
    *,
    name: str,
    options: Mapping[str, Any],
    errors_path: str,
    errors_size: int,
    access: Access,
    now: datetime,
) -> ImportRun:
    """Return the run of this id, begun now or earlier.

    BadRequest when the id cannot be one, or its run was begun with other options:
    what is behind it would mean something else than what is ahead.
    """
    if not 1 <= len(run_id) <= RUN_ID_LIMIT or not run_id.isprintable():
        message = f"must be 1 to {RUN_ID_LIMIT} printable characters"
        raise BadRequest(FieldError("run-id", message, "range", RUN_ID_LIMIT))
    with workspace_scope(access.workspace_id):
        run, is_new = ImportRun.objects.get_or_create(
            workspace_id=access.workspace_id,
            run_id=run_id,
            defaults={
                "id": uuid7(now),
                "name": name,
                "options": dict(options),
                "errors_path": errors_path,
                "errors_size": errors_size,
                "started_by": str(access.actor),
                "started_at": now,
                "moved_at": now,
            },
        )
        if is_new:
            events.append([_happening("import.started", run)], access=access)
    if run.options != options:
        changed = sorted(k for k in options if options[k] != run.options.get(k))
        message = f"run {run_id} was begun with another {', '.join(changed)}; start a new run"
        raise BadRequest(FieldError("run-id", message, "options"))
    return run


def unfinished_run(name: str, *, access: Access) -> str | None:
    """Return the id of the last run of a file of this name that was not finished."""
    with workspace_scope(access.workspace_id):
        return (
            ImportRun.objects.filter(
                workspace_id=access.workspace_id, name=name, finished_at=None, position__gt=0
            )
            .order_by("-started_at")
            .values_list("run_id", flat=True)
            .first()
        )


def move(
    run: ImportRun,
    place: Place,
    *,
    counts: Mapping[str, int],
    facts: Iterable[tuple[UUID, str]],
    now: datetime,
) -> None:
    """Note that everything before ``place`` is done. Call inside the writing transaction.

    ``facts`` are the (partition, fingerprint) pairs that were met. Conflict when
    another process has moved the run, which undoes what this one wrote.
    """
    total = Counter(run.counts)
    total.update({**counts, FACTS: _meet(run, facts)})
    moved = ImportRun.objects.filter(
        id=run.id, workspace_id=run.workspace_id, position=run.position, finished_at=None
    ).update(
        position=place.position,
        line=place.line,
        digest=place.digest,
        errors_size=place.errors_size,
        counts=dict(total),
        moved_at=now,
    )
    if moved == 0:
        raise Conflict(f"another process is working on run {run.run_id}")


def moved_to(run: ImportRun, *, access: Access) -> ImportRun:
    """Return the run as it stands in the database."""
    with workspace_scope(access.workspace_id):
        return ImportRun.objects.get(id=run.id, workspace_id=access.workspace_id)


def finish(run: ImportRun, *, access: Access, now: datetime) -> None:
    """Note that the file is done; what was only kept to count is deleted."""
    with workspace_scope(access.workspace_id):
        open_runs = ImportRun.objects.filter(
            id=run.id, workspace_id=access.workspace_id, finished_at=None
        )
        if open_runs.update(finished_at=now) == 0:
            return
        cursor().execute(
            "DELETE FROM import_fact WHERE import_run_id = %s AND workspace_id = %s",
            [run.id, access.workspace_id],
        )
        events.append([_happening("import.finished", run)], access=access)


def _meet(run: ImportRun, facts: Iterable[tuple[UUID, str]]) -> int:
    """Remember which facts the run met; return how many it had not met before."""
    digests = sorted({_fact_id(*one) for one in facts})
    if not digests:
        return 0
    cur = cursor()
    cur.execute(
        """INSERT INTO import_fact (import_run_id, fact, workspace_id)
           SELECT %s, fact, %s FROM unnest(%s::uuid[]) AS f (fact) ON CONFLICT DO NOTHING""",
        [run.id, run.workspace_id, digests],
    )
    return cur.rowcount


def _fact_id(partition_id: UUID, fingerprint: str) -> UUID:
    return UUID(bytes=sha256(partition_id.bytes + fingerprint.encode()).digest()[:16])


def _happening(action: str, run: ImportRun) -> events.Happening:
    return events.Happening(
        action,
        "import_run",
        target_id=run.id,
        details={"run": run.run_id, "counts": dict(run.counts)},
    )
