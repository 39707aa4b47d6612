"""What a policy change would do, before it takes effect: to stored facts, and to the last writes.

Owns the digest that binds a change to its preview: the settings, the version
they replace and the counts that were shown. Inside a workspace scope.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from audits.queries.freshness import load_chosen
from records import policy_replay, recast
from records.access import Access
from records.domain.facts import Policy

KINDS = {
    "superseded": "Give way: their slot now holds one value",
    "merged": "Become one: they now say the same",
    "expired": "Expire at once",
    "revived": "Are valid again",
}


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of effect on stored facts: how many, and the first of them."""

    name: str
    title: str
    count: int
    rows: Sequence[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Preview:
    """Everything that a person sees before a change, and the digest that stands for it."""

    effect: recast.Effect
    kinds: Sequence[Kind]
    replay: policy_replay.Replay
    digest: str


def make(live: Policy, wanted: Policy, *, access: Access, now: datetime) -> Preview:
    """Count what ``wanted`` would do to the store, and try the last writes under it."""
    effect = recast.preview(wanted, access=access, now=now)
    ids = [one for several in effect.samples.values() for one in several]
    rows = {row["id"]: row for row in load_chosen(ids, workspace_id=access.workspace_id)}
    kinds = [
        Kind(
            name,
            title,
            effect.counts[name],
            [rows[one] for one in effect.samples.get(name, ()) if one in rows],
        )
        for name, title in KINDS.items()
    ]
    replay = policy_replay.replay(wanted, access=access)
    return Preview(effect, kinds, replay, digest_of(live, wanted, effect))


def is_still(digest: str, live: Policy, wanted: Policy, *, access: Access, now: datetime) -> bool:
    """Say whether a change would do what its preview showed."""
    effect = recast.preview(wanted, access=access, now=now)
    return hmac.compare_digest(digest, digest_of(live, wanted, effect))


def digest_of(live: Policy, wanted: Policy, effect: recast.Effect) -> str:
    """Return what binds a change to what was shown."""
    said = [live.version, asdict(wanted), effect.counts]
    text = json.dumps(said, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:32]
