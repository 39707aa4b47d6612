"""One act on several facts of the freshness lists: what it changed, and why the rest stayed.

Owns the choice of the call; the moves are ``records.curate``'s, the batch to
verify ``audits.sampling``'s. One transaction: all of it happens with its events,
or none. What has changed since its preview is left, and said so.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from uuid import UUID

from audits import sampling
from audits.domain.freshness import Verb
from records import curate
from records.access import Access
from records.policies import book
from records.scope import workspace_scope


@dataclass(frozen=True, slots=True)
class Done:
    """How many facts an act changed, how often each reason kept one back, the batch it made."""

    changed: int
    skipped: Mapping[str, int] = field(default_factory=dict)
    batch_id: UUID | None = None


def act(
    verb: Verb,
    versions: Mapping[UUID, int],
    reason: str,
    *,
    until: Mapping[UUID, datetime | None],
    access: Access,
    now: datetime,
) -> Done:
    """Do one act to facts at the versions that were previewed.

    ``until`` is what ``extend`` sets. BadRequest: none of the facts can be verified.
    """
    if verb is Verb.SAMPLE:
        with workspace_scope(access.workspace_id):
            batch = sampling.draw_chosen(list(versions), reason, access=access, now=now)
        left = len(versions) - batch.size
        return Done(batch.size, {"is not live any more": left} if left else {}, batch.id)
    if verb is Verb.EXTEND:
        acted = curate.extend_several(until, reason, access=access, versions=versions, now=now)
    elif verb is Verb.END:
        ended = dict.fromkeys(versions, now)
        acted = curate.extend_several(ended, reason, access=access, versions=versions, now=now)
    elif verb is Verb.CONFIRM:
        acted = curate.confirm_several(reason, access=access, versions=versions, now=now)
    else:
        acted = curate.mark_recheck(reason, access=access, versions=versions, now=now)
    return Done(len(acted.changed), Counter(why for _, why in acted.skipped))


def ends_by_policy(
    predicates: Mapping[UUID, str], *, workspace_id: UUID, now: datetime
) -> dict[UUID, datetime | None]:
    """Return until when each fact holds if it is seen now, as its policy says. Inside a scope."""
    policies = book(workspace_id)
    found: dict[UUID, datetime | None] = {}
    for record_id, predicate in predicates.items():
        days = policies.resolve(predicate).ttl_days
        found[record_id] = None if days is None else now + timedelta(days=days)
    return found
