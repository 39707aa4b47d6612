"""One write's identities together: keys, fingerprint, slot and address.

Owns which parts of a write make its identity; how each part is spelled is
``canonical.py``'s. For predicates whose policy is ``keyed`` the source's key is
part of the fact: sixty starred repositories are sixty facts with one value.
"""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from records.domain import canonical
from records.domain.facts import Policy


class Identity(NamedTuple):
    """What a fact is, as keys; ``address_id`` only for derived facts."""

    subject_key: str
    predicate: str
    fingerprint: str
    slot_id: UUID
    address_id: UUID | None
    negated: bool


def identify(
    *,
    workspace_id: UUID,
    partition_id: UUID,
    subject: str,
    value: str,
    policy: Policy,
    seen_at: datetime,
    source: str | None = None,
    source_key: str | None = None,
) -> Identity:
    """Return the identities of one write under ``policy``, whose predicate is canonical."""
    subject_key = canonical.identifier(subject)
    value_key = canonical.value_key(value, policy, seen_at)
    slot_subject = subject_key
    address = None
    if source is not None and source_key is not None:
        address = canonical.address_id(workspace_id, partition_id, source, source_key)
        if policy.keyed and subject_key != canonical.identifier(source_key):
            value_key = f"at:{address.hex}:{value_key}"
            slot_subject = f"{subject_key}\x1fat:{address.hex}"
    return Identity(
        subject_key=subject_key,
        predicate=policy.predicate,
        fingerprint=canonical.fingerprint(subject_key, policy.predicate, value_key),
        slot_id=canonical.slot_id(workspace_id, partition_id, slot_subject, policy.predicate),
        address_id=address,
        negated=canonical.is_negated(value),
    )
