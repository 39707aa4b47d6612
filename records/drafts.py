"""One write on its way: what is known of it, and what reconcile gets to see.

Owns resolving a well-formed write to its policy, identities and origin. Reads
no table; ``write.py`` drives it.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from pgvector import HalfVector

from records.access import Access
from records.domain import canonical
from records.domain.facts import Cardinality, Outcome, Policy, Tier, Verdict
from records.domain.identify import Identity, identify
from records.domain.ids import uuid7
from records.domain.ledger import Applied
from records.domain.reconcile import Incoming
from records.domain.validity import expiry
from records.embeddings import embedding_text
from records.policies import PolicyBook
from records.shape import Shaped
from records.store import SourceView

CONVERSATION = "conversation"  # the source of what agents infer from talk
CONFIDENCE_CAP = {Tier.UNTRUSTED: 0.5, Tier.STANDARD: 1.0, Tier.TRUSTED: 1.0}
TRUST = {Tier.UNTRUSTED: 0, Tier.STANDARD: 1, Tier.TRUSTED: 2}
UNJUDGED = Verdict(Outcome.ALLOW)


@dataclass(slots=True)
class Draft:
    """One write on its way: what is known of it grows from step to step."""

    item: int
    shaped: Shaped
    partition_id: UUID
    session_id: UUID
    session_name: str
    synthesised: bool
    source: str
    policy: Policy
    identity: Identity
    id: UUID
    dependent_slots: tuple[UUID, ...] = ()
    origin: SourceView | None = None
    verdict: Verdict = UNJUDGED
    vector: HalfVector | None = None
    model: int | None = None
    vector_partial: bool = False
    arriving: Incoming | None = None
    words: tuple[int, ...] = ()
    applied: Applied | None = None
    opens: bool = False  # the first of this transaction in a slot that did not exist
    _searched: str = ""

    @property
    def cardinality(self) -> Cardinality:
        """How the fact competes for its slot: a negated or doubtful value never does."""
        return Cardinality.MANY if self.identity.negated else self.policy.cardinality

    @property
    def searched(self) -> str:
        """The text whose words find the record, and that its vector stands for; once judged."""
        if not self._searched:
            shaped = self.shaped
            self._searched = embedding_text(
                shaped.subject, self.identity.predicate, shaped.value, shaped.content
            )
        return self._searched

    @property
    def source_view(self) -> SourceView:
        """The source as stored; set before anything is judged."""
        assert self.origin is not None
        return self.origin


def draft(
    place: int, shaped: Shaped, *, policies: PolicyBook, access: Access, now: datetime
) -> Draft:
    """Resolve the policy, the identities and the session of one write."""
    partition_id = access.partition_id(shaped.partition)
    policy = policies.resolve(shaped.predicate)
    name = shaped.session or f"~{access.actor.name}:{now:%Y-%m-%d}"
    identity = _identify(shaped, policy, partition_id, access)
    return Draft(
        item=place,
        shaped=shaped,
        partition_id=partition_id,
        session_id=canonical.session_id(access.workspace_id, partition_id, name),
        session_name=name,
        synthesised=shaped.session is None,
        source=shaped.source or CONVERSATION,
        policy=policy,
        identity=identity,
        id=uuid7(now),
        dependent_slots=tuple(
            canonical.slot_id(access.workspace_id, partition_id, identity.subject_key, dependent)
            for dependent in policy.dependents
        )
        if policy.dependents
        else (),
    )


def redact(one: Draft, *, policies: PolicyBook, access: Access) -> None:
    """Put the masked texts in the place of those with a secret; identity follows the mask.

    The policy too: an unknown predicate's policy is named as the predicate was written.
    """
    masked: dict[str, Any] = {
        name: text
        for name, text in one.verdict.redacted.items()
        if name in ("subject", "predicate", "value", "content", "evidence")
    }
    if one.verdict.outcome is Outcome.REJECT:
        # A secret may be in what cannot be masked by span: nothing of it is kept.
        masked |= {"metadata": {}, "tags": ()}
    one.shaped = one.shaped._replace(**masked, embedding=None)
    one.policy = policies.resolve(one.shaped.predicate)
    one.identity = _identify(one.shaped, one.policy, one.partition_id, access)


def incoming(one: Draft, *, is_approved: bool) -> Incoming:
    """Return the write as reconcile sees it; a person's approval outweighs a hold."""
    shaped, policy = one.shaped, one.policy
    outcome = one.verdict.outcome
    if is_approved and outcome is Outcome.QUARANTINE:
        outcome = Outcome.ALLOW
    return Incoming(
        id=one.id,
        fingerprint=one.identity.fingerprint,
        slot_id=one.identity.slot_id,
        session_id=one.session_id,
        source_id=one.source_view.id,
        cardinality=one.cardinality,
        confidence=min(shaped.confidence, CONFIDENCE_CAP[one.source_view.tier]),
        seen_at=shaped.seen_at,
        order_at=shaped.order_at,
        content=shaped.content,
        sentence=canonical.identifier(shaped.value),
        valid_until=expiry(
            seen_at=shaped.seen_at, ttl_days=policy.ttl_days, given=shaped.valid_until
        ),
        valid_until_given=shaped.valid_until is not None,
        address_id=one.identity.address_id,
        partition_id=one.partition_id,
        derived=shaped.is_derived,
        negated=one.identity.negated,
        immutable=policy.immutable,
        outcome=outcome,
        needs_review=policy.needs_review and not is_approved,
        trust=TRUST[one.source_view.tier],
        dependent_slots=one.dependent_slots,
    )


def _identify(shaped: Shaped, policy: Policy, partition_id: UUID, access: Access) -> Identity:
    return identify(
        workspace_id=access.workspace_id,
        partition_id=partition_id,
        subject=shaped.subject,
        value=shaped.value,
        policy=policy,
        seen_at=shaped.seen_at,
        source=shaped.source,
        source_key=shaped.source_key,
    )
