"""Drawing a batch: one statement over the live facts, the same for the same seed.

Owns the population, the weights and the chances. What is drawn from is what an
agent is told as current: active, within its validity, not marked for recheck.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from audits.domain.sampling import CHOSEN, MOST_SIZE, Weighting, chance
from audits.models import SampleBatch, SampleItem
from audits.queries.rows import fetch
from records import events
from records.access import Access
from records.domain.ids import uuid7
from records.events import Happening
from records.items import BadRequest, FieldError
from records.queries import cursor

SERVED_IN = timedelta(days=30)  # what is served now is not what was served last year

# How little reason there is to trust a fact, before anybody looked: 0 for the best.
RISK = """(1 - r.confidence) + CASE WHEN r.corroboration <= 1 THEN 0.5 ELSE 0 END
    + CASE WHEN r.trust = 0 THEN 0.5 ELSE 0 END + r.gate_score
    + 0.5 * least(1, extract(epoch FROM %(now)s - r.last_seen) / 31536000)"""
RAW = {Weighting.UNIFORM: "1", Weighting.SERVES: "coalesce(v.n, 0)", Weighting.RISK: RISK}

# Half of the weight is the same for all: no answer then counts more than twice a plain one's,
# and what was never served can be drawn, too.
DRAW = """WITH served AS (
    SELECT record_id, count(*) AS n FROM serve
    WHERE workspace_id = %(workspace)s AND at > %(since)s GROUP BY record_id),
population AS MATERIALIZED (
    SELECT r.id, r.partition_id, r.predicate, coalesce(v.n, 0) AS served,
           ({raw})::float8 AS raw
    FROM memory_record r LEFT JOIN served v ON v.record_id = r.id
    WHERE r.workspace_id = %(workspace)s AND r.status = 'active' AND NOT r.demoted
      AND coalesce(r.valid_until, 'infinity') > %(now)s
      AND coalesce(r.valid_from, '-infinity') <= %(now)s
      AND (%(predicate)s::text IS NULL OR r.predicate = %(predicate)s)
      AND (%(partition)s::uuid IS NULL OR r.partition_id = %(partition)s)),
whole AS (SELECT count(*)::float8 AS n, sum(raw) AS raw, sum(served) AS served FROM population),
keyed AS (
    SELECT p.*, w.n AS population, w.served AS population_served,
           0.5 / w.n + 0.5 * CASE WHEN w.raw > 0 THEN p.raw / w.raw ELSE 1 / w.n END AS weight,
           (('x' || substr(md5(%(seed)s::text || ':' || p.id::text), 1, 13))::bit(52)::bigint + 0.5)
               / 4503599627370496.0 AS u
    FROM population p CROSS JOIN whole w)
SELECT id, partition_id, predicate, served, population::bigint, population_served::bigint, weight,
       -ln(u) / weight AS key,
       (('x' || substr(md5('again:' || %(seed)s::text || ':' || id::text), 1, 8))::bit(32)::bigint)
           / 4294967296.0 AS again
FROM keyed ORDER BY key LIMIT %(limit)s"""


@dataclass(frozen=True, slots=True)
class Draw:
    """What to draw: how many, by what, with which seed, from what; how many to look at twice."""

    size: int
    weighting: Weighting
    seed: int
    recheck_share: float = 0.1
    predicate: str | None = None
    partition: str | None = None
    scope: dict[str, Any] = field(default_factory=dict)


def draw(wanted: Draw, *, access: Access, now: datetime) -> SampleBatch:
    """Draw a batch and keep it. BadRequest: nothing to draw from. Inside a workspace scope."""
    if not 1 <= wanted.size <= MOST_SIZE:
        raise BadRequest(FieldError("size", f"must lie between 1 and {MOST_SIZE}", "range"))
    rows = fetch(
        DRAW.format(raw=RAW[wanted.weighting]),
        {
            "workspace": access.workspace_id,
            "since": now - SERVED_IN,
            "now": now,
            "predicate": wanted.predicate,
            "partition": access.partition_id(wanted.partition) if wanted.partition else None,
            "seed": wanted.seed,
            "limit": wanted.size + 1,
        },
    )
    if not rows:
        raise BadRequest(FieldError("scope", "holds no live fact to draw from", "empty"))
    threshold = rows[wanted.size]["key"] if len(rows) > wanted.size else None
    drawn = rows[: wanted.size]
    batch = SampleBatch.objects.create(
        id=uuid7(now),
        workspace_id=access.workspace_id,
        number=_next_number(access.workspace_id),
        weighting=str(wanted.weighting),
        seed=wanted.seed,
        size=len(drawn),
        population=rows[0]["population"],
        population_served=rows[0]["population_served"] or 0,
        scope={
            name: value
            for name, value in (("predicate", wanted.predicate), ("partition", wanted.partition))
            if value
        },
        recheck_share=wanted.recheck_share,
        made_by=access.actor.name,
        made_at=now,
    )
    SampleItem.objects.bulk_create(
        [
            SampleItem(
                id=uuid7(now),
                workspace_id=access.workspace_id,
                batch_id=batch.id,
                partition_id=row["partition_id"],
                record_id=row["id"],
                place=place,
                predicate=row["predicate"],
                chance=min(1.0, chance(row["weight"], threshold)),
                served=row["served"],
                is_recheck=float(row["again"]) < wanted.recheck_share,
            )
            for place, row in enumerate(drawn, start=1)
        ]
    )
    _say("sample.drawn", batch, access, size=batch.size, seed=batch.seed,
         weighting=batch.weighting, population=batch.population)  # fmt: skip
    return batch


CHOOSE = """SELECT r.id, r.partition_id, r.predicate,
    (SELECT count(*) FROM serve v WHERE v.record_id = r.id AND v.at > %(since)s) AS served
FROM unnest(%(ids)s::uuid[]) WITH ORDINALITY AS w (id, place) JOIN memory_record r ON r.id = w.id
WHERE r.workspace_id = %(workspace)s AND r.status = 'active' ORDER BY w.place"""


def draw_chosen(
    record_ids: Sequence[UUID], reason: str, *, access: Access, now: datetime
) -> SampleBatch:
    """Make a batch of exactly these live facts, in this order. Inside a workspace scope.

    It stands for nothing but itself: every fact had the chance 1. BadRequest: none is live.
    """
    if not 1 <= len(record_ids) <= MOST_SIZE:
        raise BadRequest(FieldError("size", f"must lie between 1 and {MOST_SIZE}", "range"))
    values = {"ids": list(record_ids), "workspace": access.workspace_id, "since": now - SERVED_IN}
    rows = fetch(CHOOSE, values)
    if not rows:
        raise BadRequest(FieldError("scope", "holds no live fact to draw from", "empty"))
    batch = SampleBatch.objects.create(
        id=uuid7(now),
        workspace_id=access.workspace_id,
        number=_next_number(access.workspace_id),
        weighting=CHOSEN,
        seed=0,
        size=len(rows),
        population=len(rows),
        population_served=sum(row["served"] for row in rows),
        made_by=access.actor.name,
        made_at=now,
    )
    SampleItem.objects.bulk_create(
        [
            SampleItem(
                id=uuid7(now),
                workspace_id=access.workspace_id,
                batch_id=batch.id,
                partition_id=row["partition_id"],
                record_id=row["id"],
                place=place,
                predicate=row["predicate"],
                chance=1.0,
                served=row["served"],
            )
            for place, row in enumerate(rows, start=1)
        ]
    )
    happening = Happening(
        "sample.chosen", "sample_batch", batch.id, reason=reason, details={"size": batch.size}
    )
    events.append([happening], access=access)
    return batch


def close(batch_id: UUID, *, access: Access, now: datetime) -> bool:
    """End a batch: what is not answered stays unanswered. Inside a workspace scope."""
    changed = SampleBatch.objects.filter(
        id=batch_id, workspace_id=access.workspace_id, closed_at=None
    ).update(closed_at=now, closed_by=access.actor.name)
    if changed:
        _say("sample.closed", SampleBatch.objects.get(id=batch_id), access)
    return bool(changed)


def _next_number(workspace_id: UUID) -> int:
    cur = cursor()
    cur.execute(
        "SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [f"sample batch {workspace_id}"]
    )
    cur.execute(
        "SELECT coalesce(max(number), 0) + 1 FROM sample_batch WHERE workspace_id = %s",
        [workspace_id],
    )
    row = cur.fetchone()
    assert row is not None
    return int(row[0])


def _say(action: str, batch: SampleBatch, access: Access, **details: Any) -> None:
    events.append([Happening(action, "sample_batch", batch.id, details=details)], access=access)
