"""A wording that was merged away, said again: what the ledger makes of it."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

import pytest

from records.domain.facts import Cardinality, Decision, Outcome, Status
from records.domain.ledger import FenceView, Ledger
from records.domain.reconcile import Incoming, Known

NOW = datetime(2026, 6, 1, tzinfo=UTC)
SLOT, OTHER_SLOT, PARTITION, SOURCE = (UUID(int=n) for n in (1, 2, 3, 4))
SESSION = UUID(int=5)


def known(number: int, fingerprint: str, **more: object) -> Known:
    values: dict[str, object] = {
        "slot_id": SLOT, "status": Status.ACTIVE, "cardinality": Cardinality.MANY, "confidence": 0.8,
        "order_at": NOW, "last_seen": NOW, "source_id": SOURCE, "content": fingerprint, **more,
    }  # fmt: skip
    return Known(UUID(int=number), fingerprint, **values)  # type: ignore[arg-type]


KEPT = known(10, "kept", slot_id=OTHER_SLOT)
ALIAS = known(11, "gone", status=Status.SUPERSEDED, superseded_by=KEPT.id, merged_into=KEPT.id)


def said(**more: object) -> Incoming:
    values: dict[str, object] = {
        "id": uuid4(), "fingerprint": "gone", "slot_id": SLOT, "session_id": SESSION,
        "source_id": SOURCE, "cardinality": Cardinality.MANY, "confidence": 0.8,
        "seen_at": NOW + timedelta(days=1), "order_at": NOW + timedelta(days=1),
        "content": "in other words", "partition_id": PARTITION, **more,
    }  # fmt: skip
    return Incoming(**values)  # type: ignore[arg-type]


def ledger(kept: Known = KEPT, alias: Known = ALIAS, **more: object) -> Ledger:
    one = replace(kept, changed=set(), claimants=set(), voices=set())
    other = replace(alias, changed=set(), dropped=set(alias.dropped))
    return Ledger(known=[one, other], now=NOW + timedelta(days=1), **more)  # type: ignore[arg-type]


def test_it_reinforces_what_it_was_merged_into_and_leaves_its_sentence() -> None:
    done = ledger().apply(said(derived=True))
    assert done.decision is Decision.REINFORCED
    assert done.record is not None
    assert (done.record.id, done.record.content, done.seen_count) == (KEPT.id, "kept", 2)


@pytest.mark.parametrize("around", ["gone", "kept"])
@pytest.mark.parametrize("session", [None, SESSION])
def test_a_fence_around_either_wording_holds(around: str, session: UUID | None) -> None:
    fence = FenceView(UUID(int=20), around, session_id=session, partition_id=PARTITION)
    books = ledger(fences=[fence])
    assert books.apply(said()).decision is Decision.FENCED
    assert fence.attempts == 1


def test_a_word_that_was_dropped_on_it_stays_out() -> None:
    alias = replace(ALIAS, dropped={(SESSION, SOURCE)})
    assert ledger(alias=alias).apply(said()).decision is Decision.FENCED
    other = said(session_id=UUID(int=6))
    assert ledger(alias=alias).apply(other).decision is Decision.REINFORCED


def test_what_the_session_was_served_is_an_echo_in_other_words_too() -> None:
    assert ledger(served=[(SESSION, KEPT.id)]).apply(said()).decision is Decision.ECHOED


def test_it_renews_what_expired_by_policy() -> None:
    kept = replace(KEPT, valid_until=NOW + timedelta(hours=1))
    done = ledger(kept).apply(said(valid_until=NOW + timedelta(days=90)))
    assert done.decision is Decision.REINFORCED
    assert done.record is not None
    assert (done.record.id, done.record.valid_until) == (KEPT.id, NOW + timedelta(days=90))


@pytest.mark.parametrize(
    "kept",
    [
        replace(KEPT, valid_until=NOW + timedelta(hours=1), valid_until_given=True),
        replace(KEPT, status=Status.EVICTED),
        replace(KEPT, status=Status.SUPERSEDED, superseded_by=UUID(int=12)),
    ],
)
def test_it_is_a_fact_of_its_own_when_the_kept_one_is_out_and_the_merge_ends(kept: Known) -> None:
    books = ledger(kept)
    new = said()
    done = books.apply(new)
    assert done.decision is Decision.ADDED
    assert done.record is not None
    assert done.record.id == new.id
    assert books.known[ALIAS.id].changed == {"merged_into"}
    assert books.apply(said()).decision is Decision.REINFORCED


def test_a_chain_of_merges_is_followed_to_its_end() -> None:
    last = known(30, "last")
    middle = replace(KEPT, status=Status.SUPERSEDED, superseded_by=last.id, merged_into=last.id)
    books = Ledger(known=[last, middle, replace(ALIAS, changed=set())], now=NOW)
    assert books.apply(said()).record is last


def test_a_rejected_wording_stays_a_rejected_record_of_its_own() -> None:
    new = said(outcome=Outcome.REJECT)
    done = ledger().apply(new)
    assert (done.decision, done.status) == (Decision.REJECTED, Status.REJECTED)
    assert done.record is not None
    assert done.record.fingerprint == "gone"
