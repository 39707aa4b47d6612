"""Sources and their complete passes: what a feed stopped saying is demoted, not deleted.

Owns runs. Derived facts themselves are written through ``write.py``, which
notes on each address when it was last named; finishing a run compares.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from records import events
from records.access import Access
from records.domain import canonical
from records.domain.ids import uuid7
from records.items import NAME_LIMIT, BadRequest, Conflict, FieldError, NotFound
from records.models import Partition, Source, SourceRun
from records.queries import cursor
from records.scope import partition_scope, retried, workspace_scope


@dataclass(frozen=True, slots=True)
class RunReport:
    """What a finished run saw: addresses named, no longer emitted, and back again."""

    run_id: UUID
    seen: int
    unlisted: int
    relisted: int
    already_finished: bool = False


@retried
def start_run(
    source: str,
    *,
    partition: str,
    access: Access,
    external_id: str = "",
    now: datetime | None = None,
) -> SourceRun:
    """Begin one complete pass over ``source`` for one partition.

    A run with the same ``external_id`` is the same run: a resumed import gets
    it back. Raises ``NotFound`` for a partition out of reach.
    """
    now = now or datetime.now(UTC)
    name = source.strip()
    if not name or len(name) > NAME_LIMIT or "\x00" in name:
        raise BadRequest(
            FieldError("source", f"must be 1 to {NAME_LIMIT} characters", "range", NAME_LIMIT)
        )
    if len(external_id) > NAME_LIMIT or "\x00" in external_id:
        raise BadRequest(
            FieldError("run_id", f"must be at most {NAME_LIMIT} characters", "range", NAME_LIMIT)
        )
    if not access.reaches(partition):
        raise NotFound("partition")
    partition_id = access.partition_id(partition)
    with partition_scope(access.workspace_id, [partition_id]):
        Partition.objects.bulk_create(
            [Partition(id=partition_id, workspace_id=access.workspace_id, name=partition)],
            ignore_conflicts=True,
        )
        source_id = canonical.source_id(access.workspace_id, name)
        Source.objects.bulk_create(
            [Source(id=source_id, workspace_id=access.workspace_id, name=name)],
            ignore_conflicts=True,
        )
        if external_id:
            same = SourceRun.objects.filter(
                source_id=source_id, external_id=external_id, partition_id=partition_id
            ).first()
            if same is not None:
                return same
        run = SourceRun.objects.create(
            id=uuid7(now),
            workspace_id=access.workspace_id,
            source_id=source_id,
            partition_id=partition_id,
            external_id=external_id,
            started_at=now,
        )
        events.append(
            [
                events.Happening(
                    "source.run_started",
                    "source_run",
                    target_id=run.id,
                    partition_id=partition_id,
                    details={"source": str(source_id)},
                )
            ],
            access=access,
        )
    return run


@retried
def finish_run(run_id: UUID, *, access: Access, now: datetime | None = None) -> RunReport:
    """End a run: what it did not name is no longer emitted, what it named again is back.

    Demoted facts stay live, ranked as not current. A second finish reports
    the first one's numbers and changes nothing.
    """
    now = now or datetime.now(UTC)
    partition_id = _partition_of(run_id, access)
    with partition_scope(access.workspace_id, [partition_id]), cursor() as cur:
        run = SourceRun.objects.select_for_update().filter(id=run_id).first()
        if run is None:
            raise NotFound("run")
        if run.finished_at is not None:
            return RunReport(run.id, run.seen_count, run.unlisted_count, run.relisted_count, True)
        arguments: dict[str, Any] = {
            "source": run.source_id,
            "partition": partition_id,
            "started": run.started_at,
            "now": now,
        }
        later = SourceRun.objects.filter(
            source_id=run.source_id,
            partition_id=partition_id,
            started_at__gt=run.started_at,
            finished_at__isnull=False,
        ).exists()
        if later:
            raise Conflict("a later run of this source has finished already")
        cur.execute(
            """SELECT count(*), count(*) FILTER (WHERE relisted_at >= %(started)s) FROM address
               WHERE source_id = %(source)s AND partition_id = %(partition)s
                 AND last_named_at >= %(started)s""",
            arguments,
        )
        seen, relisted = cur.fetchone() or (0, 0)
        cur.execute(
            """SELECT record_id FROM address
               WHERE source_id = %(source)s AND partition_id = %(partition)s
                 AND last_named_at >= %(started)s AND relisted_at >= %(started)s
                 AND record_id IS NOT NULL ORDER BY id""",
            arguments,
        )
        returned = [row[0] for row in cur]
        cur.execute(
            """WITH gone AS (
                   UPDATE address SET unlisted_at = %(now)s
                   WHERE source_id = %(source)s AND partition_id = %(partition)s
                     AND last_named_at < %(started)s AND unlisted_at IS NULL
                   RETURNING record_id)
               UPDATE memory_record r SET unlisted_at = %(now)s FROM gone
               WHERE r.id = gone.record_id AND r.status = 'active' AND r.unlisted_at IS NULL
                 AND NOT EXISTS (SELECT 1 FROM address other WHERE other.record_id = r.id
                                 AND other.last_named_at >= %(started)s)
               RETURNING r.id""",
            arguments,
        )
        unlisted = [row[0] for row in cur]
        run.seen_count, run.unlisted_count, run.relisted_count = seen, len(unlisted), relisted
        run.finished_at = now
        run.save(update_fields=["seen_count", "unlisted_count", "relisted_count", "finished_at"])
        Source.objects.filter(id=run.source_id).update(last_run_at=now)
        events.append(
            [
                events.Happening(
                    "source.run_finished",
                    "source_run",
                    target_id=run.id,
                    partition_id=partition_id,
                    details={"seen": seen, "unlisted": len(unlisted), "relisted": relisted},
                ),
                *(
                    events.Happening(
                        "record.unlisted",
                        "record",
                        target_id=one,
                        partition_id=partition_id,
                        details={"run": str(run.id)},
                    )
                    for one in unlisted
                ),
                *(
                    events.Happening(
                        "record.relisted",
                        "record",
                        target_id=one,
                        partition_id=partition_id,
                        details={"run": str(run.id)},
                    )
                    for one in returned
                ),
            ],
            access=access,
        )
    return RunReport(run.id, seen, len(unlisted), run.relisted_count)


def _partition_of(run_id: UUID, access: Access) -> UUID:
    """Return the partition that a run belongs to, if this access reaches it."""
    if access.partition is not None:
        return access.partition_id(access.partition)
    with workspace_scope(access.workspace_id):
        found = SourceRun.objects.filter(id=run_id).values_list("partition_id", flat=True).first()
    if found is None:
        raise NotFound("run")
    return found
