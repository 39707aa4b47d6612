"""What one batch of an operation does, by kind: the curator's act, told as outcomes.

Owns the translation between frozen targets and ``records.curate``. Runs inside
the step of ``running.py``, which saves what this returns.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from audits.domain.operations import Kind
from audits.domain.scope import Scope, Shared
from audits.models import Operation
from audits.operations.scoping import Chosen, choose_for
from records import curate, queries, scans
from records.access import Access
from records.curate import Acted, Provenance
from records.domain.facts import HoldReason

Frozen = tuple[UUID, int]  # a target and the version it was shown at


@dataclass(slots=True)
class Batch:
    """What became of a batch's targets: (record, outcome, why), and the counts."""

    outcomes: list[tuple[UUID, str, str]] = field(default_factory=list)
    changed: int = 0
    restored: int = 0
    superseded: int = 0
    dropped_claims: int = 0
    restored_claims: int = 0
    skipped: int = 0
    failed: int = 0


def act(operation: Operation, targets: Sequence[Frozen], *, access: Access, now: datetime) -> Batch:
    """Do one batch in the transaction at hand; say what became of each target."""
    return ACTS[Kind(operation.kind)](operation, targets, access, now)


def _evict(operation: Operation, targets: Sequence[Frozen], access: Access, now: datetime) -> Batch:
    ids = [one for one, _ in targets]
    chosen = choose_for(operation, is_frozen=True)
    acted = curate.evict(
        ids,
        operation.reason,
        access=access,
        provenance=_provenance(operation, chosen, ids),
        operation_id=operation.id,
        shared=Shared(operation.options["shared"]),
        versions=dict(targets),
        now=now,
    )
    why = dict(acted.skipped)
    batch = _batch(acted, "evicted")
    for one in ids:
        if one in acted.dropped and one in why:
            batch.outcomes.append((one, "dropped", why.pop(one)))
            batch.dropped_claims += 1
    return _left(batch, why)


def _restore(
    operation: Operation, targets: Sequence[Frozen], access: Access, now: datetime
) -> Batch:
    if operation.options.get("of") == Kind.HOLD:
        acted = curate.release_held(
            [one for one, _ in targets],
            operation.reason,
            access=access,
            operation_id=operation.id,
            versions=dict(targets),
            now=now,
        )
        return _left(_batch(acted, "restored"), dict(acted.skipped))
    acted = curate.restore(
        [one for one, _ in targets],
        operation.reason,
        access=access,
        operation_id=operation.undoes,
        undone_by=operation.id,
        versions=dict(targets),
        now=now,
    )
    why = dict(acted.skipped)
    batch = _batch(acted, "restored")
    batch.outcomes += [(one, "revived", why.pop(one, "")) for one in sorted(acted.revived)]
    batch.restored_claims = len(acted.revived)
    return _left(batch, why)


def _erase(operation: Operation, targets: Sequence[Frozen], access: Access, now: datetime) -> Batch:
    acted = curate.erase(
        [one for one, _ in targets],
        operation.reason,
        access=access,
        versions=dict(targets),
        operation_id=operation.id,
        now=now,
    )
    return _left(_batch(acted, "erased"), dict(acted.skipped))


def _hold(operation: Operation, targets: Sequence[Frozen], access: Access, now: datetime) -> Batch:
    """Hold what fails by the scan's rules as of now, with the findings of now."""
    scan = scans.load(UUID(operation.scope["scan_id"]), workspace_id=operation.workspace_id)
    ids = [one for one, _ in targets]
    verdicts = scans.judge_again(scan, ids, now=now)
    failing = [one for one in ids if one in verdicts]
    acted = curate.hold(
        failing,
        HoldReason.RESCAN,
        access=access,
        note=operation.reason,
        versions=dict(targets),
        findings={key: [f.as_json() for f in v.findings] for key, v in verdicts.items()},
        ruleset=scan.ruleset,
        details={"operation": str(operation.id), "scan": str(scan.id)},
        now=now,
    )
    batch = _batch(acted, "held")
    passes = {one: "passes the rules by now" for one in ids if one not in verdicts}
    return _left(batch, dict(acted.skipped) | passes)


ACTS: dict[Kind, Callable[[Operation, Sequence[Frozen], Access, datetime], Batch]] = {
    Kind.EVICT: _evict,
    Kind.RESTORE: _restore,
    Kind.ERASE: _erase,
    Kind.HOLD: _hold,
}


def _batch(acted: Acted, outcome: str) -> Batch:
    return Batch(
        outcomes=[(one, outcome, "") for one in acted.changed],
        changed=len(acted.changed),
        restored=len(acted.restored),
        superseded=len(acted.superseded),
    )


def _left(batch: Batch, why: dict[UUID, str]) -> Batch:
    """Add the targets that were left, with the reason."""
    batch.outcomes += [(one, "skipped", reason) for one, reason in why.items()]
    batch.skipped = len(why)
    return batch


def _provenance(operation: Operation, chosen: Chosen, ids: Sequence[UUID]) -> Provenance | None:
    """Return the claims that the operation drops on these records; None: it evicts records."""
    if chosen.claim is None:
        return None
    claims: dict[UUID, list[tuple[UUID, UUID]]] = {one: [] for one in ids}
    values = {**chosen.values, "batch": list(ids)}
    with queries.cursor() as cur:
        if chosen.whole is not None:
            cur.execute(
                f"SELECT r.id FROM memory_record r WHERE r.id = ANY(%(batch)s) AND {chosen.whole}",
                values,
            )
            for (one,) in cur.fetchall():
                del claims[one]
        cur.execute(
            f"""SELECT c.record_id, c.session_id, c.source_id
                FROM claim c JOIN memory_record r ON r.id = c.record_id
                WHERE c.record_id = ANY(%(batch)s) AND c.workspace_id = %(workspace)s
                  AND c.state <> 'dropped' AND {chosen.claim}""",
            values,
        )
        for record_id, session_id, source_id in cur.fetchall():
            if record_id in claims:
                claims[record_id].append((session_id, source_id))
    scope = Scope.from_json(operation.scope)
    listed = {e["kind"] for e in operation.options.get("entries", ())} & {"session", "source"}
    return Provenance(claims, is_by_source=scope.is_by_source or listed == {"source"})
