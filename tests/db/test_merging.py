"""One fact in two wordings: merged by a person, said again, parted, taken out, destroyed."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from threading import Barrier
from typing import Any
from uuid import UUID

import pytest
from django.db import IntegrityError, connections, transaction

from records import curate, recast, store
from records.access import Access
from records.domain.canonical import session_id
from records.domain.facts import Normaliser
from records.items import Conflict, NotFound, WriteItem, Written
from records.models import Claim, Event, MemoryRecord, RecordMerge, Tally
from records.policies import book, change
from records.queries import cursor
from records.scope import workspace_scope
from records.write import write_facts

from .conftest import make_access
from .test_write import NOW, fact, put, record

LATER = NOW + timedelta(days=1)
KEPT = "red bicycles"
GONE = "bicycles that are red"


def likes(value: str, *, session: str = "s-1", **rest: Any) -> WriteItem:
    return fact(predicate="likes", value=value, session=session, **rest)


def two(access: Access) -> tuple[Written, Written]:
    """Two wordings of one fact, each said by a session of its own."""
    return (
        put(access, likes(KEPT, session="s-1")),
        put(access, likes(GONE, session="s-2")),
    )


def merged(access: Access) -> tuple[Written, Written, UUID]:
    kept, gone = two(access)
    done = curate.merge(kept.id, [gone.id], "the same", access=access, now=NOW)
    assert (done.changed, done.skipped) == ([gone.id], [])
    return kept, gone, done.merges[0]


def session(access: Access, name: str) -> UUID:
    return session_id(access.workspace_id, access.partition_id("ada"), name)


def claims(access: Access, one: Written) -> dict[UUID, tuple[str, int]]:
    with workspace_scope(access.workspace_id):
        return {c.session_id: (c.state, c.count) for c in Claim.objects.filter(record_id=one.id)}


def seen(access: Access, one: Written) -> tuple[int, int]:
    with workspace_scope(access.workspace_id):
        tally = Tally.objects.get(record_id=one.id)
    return tally.seen_count, tally.sessions


def test_merging_unites_provenance_and_takes_the_other_out(
    access: Access, stranger: Access
) -> None:
    kept, gone, merge_id = merged(access)
    one, two = record(access, kept), record(access, gone)
    assert (one.status, two.status, two.superseded_by, two.merged_into) == (
        "active", "superseded", kept.id, kept.id,
    )  # fmt: skip
    assert seen(access, kept) == (2, 2)
    assert one.corroboration == 2
    assert claims(access, gone) == {session(access, "s-2"): ("moved", 1)}
    with workspace_scope(access.workspace_id):
        (event,) = Event.objects.filter(action="record.merged", target_id=gone.id)
        assert (event.reason, event.details["into"]) == ("the same", str(kept.id))
        (event,) = Event.objects.filter(action="record.united", target_id=kept.id)
        assert event.details["others"] == [str(gone.id)]
        assert RecordMerge.objects.get(id=merge_id).after["seen_count"] == 2
    with workspace_scope(stranger.workspace_id):
        assert not RecordMerge.objects.exists()
    with pytest.raises(NotFound):
        curate.merge(kept.id, [gone.id], "theirs", access=stranger)


def test_the_merged_wording_reinforces_the_kept_record_when_it_is_said_again(
    access: Access,
) -> None:
    kept, gone, _ = merged(access)
    said = record(access, kept).content
    again = put(access, likes(GONE, session="s-3"), LATER)
    assert (again.decision, again.id, again.seen_count) == ("reinforced", kept.id, 3)
    assert seen(access, kept) == (3, 3)
    assert (record(access, kept).value, record(access, kept).content) == (KEPT, said)
    assert record(access, gone).status == "superseded"
    mixed = put(access, likes(KEPT, session="s-4"), LATER)
    assert (mixed.decision, mixed.id) == ("reinforced", kept.id)


def test_a_batch_with_both_wordings_is_one_fact(access: Access) -> None:
    kept, _, _ = merged(access)
    found = write_facts(
        [likes(GONE, session="s-5"), likes(KEPT, session="s-5"), likes(GONE, session="s-6")],
        access=access, now=LATER,
    )  # fmt: skip
    assert {one.id for one in found if isinstance(one, Written)} == {kept.id}
    assert seen(access, kept) == (5, 4)


def test_undo_restores_both_as_they_were(access: Access) -> None:
    kept, gone = two(access)
    before = [record(access, one) for one in (kept, gone)]
    done = curate.merge(kept.id, [gone.id], "the same", access=access, now=LATER)
    undone = curate.part(done.merges, "they differ", access=access, now=LATER)
    assert (undone.changed, undone.skipped) == ([gone.id], [])
    with workspace_scope(access.workspace_id):
        told = Event.objects.filter(action__in=("record.parted", "record.divided"))
        assert {(e.action, e.target_id, e.reason) for e in told} == {
            ("record.parted", gone.id, "they differ"),
            ("record.divided", kept.id, "they differ"),
        }
    for old, one in zip(before, (kept, gone), strict=True):
        new = record(access, one)
        for name in ("status", "confidence", "trust", "valid_until", "last_seen", "corroboration",
                     "superseded_by", "merged_into"):  # fmt: skip
            assert getattr(new, name) == getattr(old, name), name
    assert (seen(access, kept), seen(access, gone)) == ((1, 1), (1, 1))
    assert claims(access, kept)[session(access, "s-2")] == ("moved", 0)
    again = put(access, likes(GONE, session="s-3"), LATER)
    assert (again.decision, again.id) == ("reinforced", gone.id)
    # Who had said only the other wording may say this one: nobody took its word out.
    assert put(access, likes(KEPT, session="s-2"), LATER).decision == "reinforced"
    assert curate.part(done.merges, "twice", access=access).skipped == [
        (done.merges[0], "is no standing merge")
    ]


def test_what_was_said_since_stays_with_the_kept_one_and_is_listed(access: Access) -> None:
    kept, gone, merge_id = merged(access)
    put(access, likes(GONE, session="s-2"), LATER)
    undone = curate.part([merge_id], "they differ", access=access, now=LATER)
    assert undone.changed == [gone.id]
    assert undone.skipped == [(kept.id, "what was said since the merge stays with it")]
    assert claims(access, kept)[session(access, "s-2")] == ("live", 1)
    assert claims(access, gone)[session(access, "s-2")] == ("live", 1)


def test_merging_twice_is_one_fact_and_is_undone_from_the_end(access: Access) -> None:
    kept, gone, first = merged(access)
    last = put(access, likes("cherry-red bikes", session="s-9"))
    second = curate.merge(last.id, [kept.id], "the same", access=access, now=NOW).merges[0]
    assert put(access, likes(GONE, session="s-3"), LATER).id == last.id
    refused = curate.part([first], "no", access=access)
    assert refused.changed == []
    assert "undo that first" in refused.skipped[0][1]
    curate.part([second], "no", access=access)
    assert curate.part([first], "no", access=access).changed == [gone.id]
    assert seen(access, gone) == (1, 1)


def test_evicting_the_session_of_one_wording_drops_its_claims_alone(access: Access) -> None:
    kept, gone, merge_id = merged(access)
    bad = session(access, "s-2")
    done = curate.evict([kept.id, gone.id], "poison", access=access, session_id=bad, now=LATER)
    assert (done.changed, record(access, kept).status) == ([gone.id], "active")
    assert seen(access, kept) == (1, 1)
    assert put(access, likes(GONE, session="s-2"), LATER).decision == "fenced"
    back = curate.restore([gone.id, kept.id], "was right", access=access, session_id=bad)
    assert (back.changed, record(access, gone).status) == ([gone.id], "superseded")
    assert claims(access, gone)[bad] == ("moved", 1)
    assert put(access, likes(GONE, session="s-4"), LATER).id == kept.id
    assert curate.part([merge_id], "no", access=access).changed == [gone.id]


def test_evicting_the_kept_one_does_not_let_the_other_wording_back(access: Access) -> None:
    kept, _, _ = merged(access)
    done = curate.evict([kept.id], "wrong", access=access, now=LATER)
    assert done.restored == []
    again = put(access, likes(GONE, session="s-7"), LATER)
    assert again.decision == "fenced"
    curate.restore([kept.id], "was right", access=access)
    assert put(access, likes(GONE, session="s-7"), LATER).id == kept.id


@pytest.mark.parametrize("which", ["kept", "gone"])
def test_retracting_either_side_fences_the_merged_wording(access: Access, which: str) -> None:
    kept, gone, _ = merged(access)
    curate.retract([kept.id if which == "kept" else gone.id], "wrong", access=access)
    assert put(access, likes(GONE, session="s-7"), LATER).decision == "fenced"
    told = put(access, likes(KEPT, session="s-7"), LATER).decision
    assert told == ("fenced" if which == "kept" else "reinforced")


@pytest.mark.parametrize("which", ["kept", "gone"])
def test_erasing_either_side_ends_the_alias_and_keeps_the_wording_out(
    access: Access, which: str
) -> None:
    kept, gone, merge_id = merged(access)
    put(access, likes(GONE, session="s-3", evidence=GONE), LATER)
    curate.erase([kept.id if which == "kept" else gone.id], "request", access=access)
    assert record(access, gone).merged_into is None
    assert put(access, likes(GONE, session="s-7"), LATER).decision == "fenced"
    with workspace_scope(access.workspace_id):
        assert RecordMerge.objects.get(id=merge_id).ended == "erased"
        if which == "gone":
            texts = Claim.objects.filter(record_id=kept.id).values_list("wording", "evidence")
            assert GONE not in str(list(texts))


def test_an_expired_kept_record_is_valid_again_by_the_other_wording(access: Access) -> None:
    kept, _, _ = merged(access)
    much_later = NOW + timedelta(days=5_000)
    again = put(access, likes(GONE, session="s-3"), much_later)
    assert (again.decision, again.id) == ("reinforced", kept.id)
    until = record(access, kept).valid_until
    assert until is None or until > much_later


def test_a_wording_is_a_fact_of_its_own_again_when_the_kept_one_is_out(access: Access) -> None:
    kept, gone, merge_id = merged(access)
    bad = session(access, "s-1")
    curate.evict([kept.id], "poison", access=access, session_id=session(access, "s-2"))
    curate.evict([kept.id], "poison", access=access, session_id=bad)
    assert record(access, kept).status == "evicted"
    again = put(access, likes(GONE, session="s-7"), LATER)
    # What others evicted by provenance is held for a person, in whatever wording.
    assert (again.decision, again.hold_reason) == ("quarantined", "fence")
    with workspace_scope(access.workspace_id):
        assert RecordMerge.objects.get(id=merge_id).ended == "said anew"
        assert Event.objects.filter(action="record.parted", target_id=gone.id).count() == 1
    assert curate.part([merge_id], "no", access=access).changed == []


def test_what_cannot_be_merged_says_why(access: Access) -> None:
    kept, gone = two(access)
    job = put(access, fact(value="Acme"))
    refused = curate.merge(kept.id, [job.id], "no", access=access)
    assert refused.changed == []
    assert "holds the one value" in refused.skipped[0][1]
    other = put(access, likes(KEPT, partition="bob"))
    assert curate.merge(kept.id, [other.id], "no", access=access).skipped == [
        (other.id, "is in another partition")
    ]
    with pytest.raises(Conflict):
        curate.merge(kept.id, [gone.id], "no", access=access, versions={kept.id: 7, gone.id: 1})
    assert curate.merge(
        kept.id, [gone.id], "no", access=access, versions={kept.id: 1, gone.id: 7}
    ).skipped == [(gone.id, "has changed since")]


def test_the_database_lets_no_merged_wording_live_beside_what_it_was_merged_into(
    access: Access,
) -> None:
    kept, gone, _ = merged(access)
    with (
        pytest.raises(IntegrityError),
        workspace_scope(access.workspace_id),
        transaction.atomic(),
    ):
        MemoryRecord.objects.filter(id=kept.id).update(
            fingerprint=record(access, gone).fingerprint, policy_version=99
        )
    with pytest.raises(IntegrityError), workspace_scope(access.workspace_id):
        MemoryRecord.objects.filter(id=gone.id).update(status="active")


def test_a_derived_wording_comes_back_to_its_address(access: Access) -> None:
    kept = put(access, likes(KEPT))
    derived = put(access, likes(GONE, source="crm", source_key="ada/bikes"))
    done = curate.merge(kept.id, [derived.id], "the same", access=access, now=NOW)
    again = put(access, likes(GONE, source="crm", source_key="ada/bikes"), LATER)
    assert (again.decision, again.id, again.superseded) == ("reinforced", kept.id, ())
    curate.part(done.merges, "no", access=access, now=LATER)
    assert [record(access, one).status for one in (kept, derived)] == ["active", "active"]
    moved = put(access, likes("skis", source="crm", source_key="ada/bikes"), LATER)
    assert moved.superseded == (derived.id,)


def test_a_stranger_sees_and_undoes_nothing(access: Access) -> None:
    *_, merge_id = merged(access)
    other = make_access()
    assert curate.part([merge_id], "theirs", access=other).changed == []


def test_a_changed_policy_spells_merged_wordings_anew(access: Access) -> None:
    kept = put(access, likes("Red bicycles"))
    gone = put(access, likes("Bicycles That Are Red", session="s-2"))
    curate.merge(kept.id, [gone.id], "the same", access=access, now=NOW)
    old = record(access, gone).fingerprint
    with workspace_scope(access.workspace_id):
        policy = book(access.workspace_id).resolve("likes")
        change(replace(policy, normaliser=Normaliser.EXACT), reason="test", access=access)
    recast.apply("likes", access=access, now=LATER)
    assert record(access, gone).fingerprint != old
    again = put(access, likes("Bicycles That Are Red", session="s-8"), LATER)
    assert (again.decision, again.id) == ("reinforced", kept.id)


def test_one_probe_of_one_index_finds_a_fact_and_a_merged_wording(access: Access) -> None:
    _, gone, _ = merged(access)
    print_ = record(access, gone).fingerprint
    write_facts([likes(f"thing number {n}") for n in range(1_000)], access=access)
    with connections["owner"].cursor() as owner:
        owner.execute("ANALYZE memory_record")
    with workspace_scope(access.workspace_id), cursor() as cur:
        cur.execute("SET LOCAL enable_seqscan = off")
        for condition in (store.TAKEN, "r.status IN ('active', 'quarantined')"):
            cur.execute(
                f"""EXPLAIN SELECT r.id FROM unnest(%s::uuid[], %s::text[]) AS w (p, f)
                    JOIN memory_record r ON r.partition_id = w.p AND r.fingerprint = w.f
                     AND {condition}""",
                [[access.partition_id("ada")], [print_]],
            )
            plan = "\n".join(str(row[0]) for row in cur)
            assert "memory_record_one_fingerprint" in plan


def test_writers_of_both_wordings_at_once_leave_one_fact(access: Access) -> None:
    kept, gone = two(access)
    ready = Barrier(3)

    def say(value: str) -> None:
        ready.wait()
        for number in range(5):
            put(access, likes(value, session=f"{value} {number}"), LATER)
        connections.close_all()

    def join() -> None:
        ready.wait()
        curate.merge(kept.id, [gone.id], "the same", access=access)
        connections.close_all()

    with ThreadPoolExecutor(3) as pool:
        for one in [pool.submit(say, KEPT), pool.submit(say, GONE), pool.submit(join)]:
            one.result(timeout=60)
    with workspace_scope(access.workspace_id):
        (live,) = MemoryRecord.objects.filter(status="active")
        counted = Claim.objects.filter(record_id=kept.id, state="live")
        assert live.id == kept.id
        assert sum(claim.count for claim in counted) == 12
        assert not Claim.objects.filter(record_id=gone.id, state="live").exists()
    assert seen(access, kept) == (12, 12)
