"""Acts on stored facts: what they move, what they restore, what they refuse."""

from __future__ import annotations

from datetime import timedelta

import pytest

from records import curate
from records.access import Access
from records.domain.canonical import session_id
from records.domain.facts import HoldReason
from records.items import Conflict, NotFound
from records.models import Claim, Event, Fence, MemoryRecord
from records.scope import workspace_scope

from .test_write import NOW, fact, put, record

LATER = NOW + timedelta(days=1)


def live(access: Access) -> list[str]:
    with workspace_scope(access.workspace_id):
        found = MemoryRecord.objects.filter(workspace_id=access.workspace_id, status="active")
        return sorted(r.value for r in found)


def session(access: Access, name: str, partition: str = "ada") -> object:
    return session_id(access.workspace_id, access.partition_id(partition), name)


def test_evicting_a_poisoned_fact_brings_back_what_it_displaced(access: Access) -> None:
    put(access, fact(value="Acme"))
    bad = put(access, fact(value="Evil", session="bad"), LATER)
    done = curate.evict(
        [bad.id], "poison", access=access, session_id=session(access, "bad"), now=LATER
    )
    assert (done.matched, done.changed, len(done.restored)) == (1, [bad.id], 1)
    assert live(access) == ["Acme"]
    undone = curate.restore([bad.id], "was right", access=access, now=LATER)
    assert undone.changed == [bad.id]
    assert live(access) == ["Evil"]


def test_evicting_a_whole_chain_of_poison_reaches_past_all_of_it(access: Access) -> None:
    put(access, fact(value="Acme"))
    poison = [
        put(access, fact(value=v, session="bad"), NOW + timedelta(hours=i + 1))
        for i, v in enumerate(["Evil", "Worse", "Worst"])
    ]
    done = curate.evict(
        [p.id for p in poison], "poison", access=access, session_id=session(access, "bad")
    )
    assert len(done.changed) == 3
    assert live(access) == ["Acme"]


def test_fact_that_others_assert_too_keeps_its_place(access: Access) -> None:
    shared = put(access, fact(value="Acme", session="good"))
    put(access, fact(value="Acme", session="bad"))
    done = curate.evict([shared.id], "poison", access=access, session_id=session(access, "bad"))
    assert (done.changed, done.dropped_claims) == ([], 1)
    assert live(access) == ["Acme"]


def test_evicted_fact_is_fenced_for_its_session_and_held_from_others(access: Access) -> None:
    bad = put(access, fact(value="Evil", session="bad"))
    curate.evict([bad.id], "poison", access=access, session_id=session(access, "bad"), now=NOW)
    again = put(access, fact(value="Evil", session="bad"), LATER)
    assert (again.decision, again.id, again.status) == ("fenced", None, "fenced")
    other = put(access, fact(value="Evil", session="other"), LATER)
    assert (other.decision, other.hold_reason) == ("quarantined", "fence")
    with workspace_scope(access.workspace_id):
        (fence,) = Fence.objects.filter(record_id=bad.id)
    assert fence.attempts == 1


def test_retracted_and_rejected_facts_are_fenced_for_everyone(access: Access) -> None:
    wrong = put(access, fact(predicate="allergy", value="cashews"))
    curate.retract([wrong.id], "no allergy", access=access, now=NOW)
    held = put(access, fact(predicate="birthday", value="3 May 1990"))
    contested = put(access, fact(predicate="birthday", value="5 March 1990"))
    curate.reject([contested.id], "wrong date", access=access, now=NOW)
    for predicate, value in (("allergy", "Cashews"), ("birthday", "1990-03-05")):
        again = put(access, fact(predicate=predicate, value=value, session="any"), LATER)
        assert again.decision == "fenced"
    assert record(access, held).status == "active"


def test_approving_a_contested_fact_makes_it_current(access: Access) -> None:
    old = put(access, fact(value="Acme", confidence=0.9))
    new = put(access, fact(value="Helio", confidence=0.6))
    done = curate.approve(
        new.id, access=access, version=1, activation_delay=timedelta(seconds=10), now=LATER
    )
    assert (done.changed, done.superseded) == ([new.id], [old.id])
    row = record(access, new)
    assert (row.status, row.hold_reason) == ("active", "")
    assert row.serve_after == LATER + timedelta(seconds=10)
    with pytest.raises(Conflict):
        curate.approve(new.id, access=access)


def test_approval_of_another_version_is_a_conflict(access: Access) -> None:
    held = put(access, fact(value="Acme"))
    curate.hold([held.id], HoldReason.MANUAL, access=access)
    with pytest.raises(Conflict):
        curate.approve(held.id, access=access, version=1)


def test_erasing_destroys_the_text_and_keeps_the_fact_out(access: Access) -> None:
    gone = put(access, fact(value="Acme", evidence="I work at Acme"))
    curate.erase([gone.id], "request", access=access, now=NOW)
    row = record(access, gone)
    assert (row.status, row.value, row.content, row.subject, row.salt) == (
        "erased",
        "",
        "",
        "",
        None,
    )
    with workspace_scope(access.workspace_id):
        assert Claim.objects.get(record_id=gone.id).evidence == ""
    again = put(access, fact(value="ACME", session="import"), LATER)
    assert again.decision == "fenced"
    with workspace_scope(access.workspace_id):
        assert "acme" not in str(list(Event.objects.values())).lower()


def test_nothing_of_another_workspace_is_touched(access: Access, stranger: Access) -> None:
    theirs = put(stranger, fact())
    for act in (curate.retract, curate.reject, curate.evict, curate.restore, curate.erase):
        try:
            done = act([theirs.id], "mine now", access=access)
        except NotFound:
            continue
        assert done.changed == []
        assert done.matched == 0
    assert record(stranger, theirs).status == "active"


def test_reopening_an_approval_brings_back_what_it_displaced(access: Access) -> None:
    put(access, fact(value="Acme", confidence=0.9))
    new = put(access, fact(value="Helio", confidence=0.6))
    curate.approve(new.id, access=access, now=LATER)
    assert live(access) == ["Helio"]
    curate.reopen(new.id, "too fast", access=access, now=LATER)
    row = record(access, new)
    assert (row.status, row.hold_reason, row.override) == ("quarantined", "contest", None)
    assert row.risk == 1
    assert live(access) == ["Acme"]


def test_reopening_a_rejection_takes_its_fence_down(access: Access) -> None:
    put(access, fact(value="Acme", confidence=0.9))
    new = put(access, fact(value="Helio", confidence=0.6))
    curate.reject([new.id], "wrong", access=access, now=NOW)
    curate.reopen(new.id, "was right", access=access, now=LATER)
    assert record(access, new).hold_reason == "contest"
    again = put(access, fact(value="Helio", confidence=0.6, session="s2"), LATER)
    assert (again.decision, again.id) == ("contested", new.id)


def test_rejecting_a_fact_that_was_live_brings_back_what_it_displaced(access: Access) -> None:
    put(access, fact(value="Acme"))
    bad = put(access, fact(value="Evil", session="bad"), LATER)
    curate.hold([bad.id], HoldReason.INCIDENT, access=access, now=LATER)
    assert live(access) == []
    assert record(access, bad).risk == 3
    curate.reject([bad.id], "poison", access=access, now=LATER)
    assert live(access) == ["Acme"]


def test_dropped_word_on_a_shared_fact_stays_out_until_it_is_restored(access: Access) -> None:
    shared = put(access, fact(value="Acme", session="good"))
    put(access, fact(value="Acme", session="bad"))
    bad = session(access, "bad")
    curate.evict([shared.id], "poison", access=access, session_id=bad, now=NOW)
    again = put(access, fact(value="Acme", session="bad"), LATER)
    assert (again.decision, again.id) == ("fenced", None)
    assert put(access, fact(value="Acme", session="other"), LATER).seen_count == 2
    undone = curate.restore([shared.id], "was right", access=access, session_id=bad, now=LATER)
    assert (undone.changed, undone.restored_claims) == ([], 1)
    assert put(access, fact(value="Acme", session="bad"), LATER).seen_count == 4
    with workspace_scope(access.workspace_id):
        assert Event.objects.filter(target_id=shared.id, action="claim.restored").count() == 1


def test_past_fact_is_live_again_when_all_that_followed_it_is_out(access: Access) -> None:
    a, b, c = (put(access, fact(value=v), NOW + i * (LATER - NOW)) for i, v in enumerate("ABC"))
    curate.evict([a.id], "doubt", access=access, now=LATER)
    curate.evict([b.id, c.id], "poison", access=access, now=LATER)
    assert live(access) == []
    curate.restore([a.id], "was right", access=access, now=LATER)
    assert live(access) == ["A"]
    curate.restore([b.id], "was right", access=access, now=LATER)
    assert live(access) == ["B"]
    curate.restore([c.id], "was right", access=access, now=LATER)
    assert live(access) == ["C"]
    assert [record(access, x).superseded_by for x in (a, b)] == [b.id, c.id]


def test_whole_chain_that_is_restored_at_once_stands_as_before(access: Access) -> None:
    chain = [put(access, fact(value=v), NOW + i * (LATER - NOW)) for i, v in enumerate("ABC")]
    ids = [one.id for one in chain]
    curate.evict([*ids, ids[0]], "poison", access=access, now=LATER)
    done = curate.restore(ids, "all right", access=access, now=LATER)
    assert sorted(done.changed) == sorted(ids)
    rows = [record(access, one) for one in chain]
    assert [r.status for r in rows] == ["superseded", "superseded", "active"]
    assert [r.superseded_by for r in rows] == [ids[1], ids[2], None]


def test_restoring_what_is_stored_anew_is_skipped_whatever_it_was(access: Access) -> None:
    held = put(access, fact(predicate="allergy", value="kiwi", session="bad"))
    curate.hold([held.id], HoldReason.MANUAL, access=access, now=NOW)
    curate.evict([held.id], "poison", access=access, session_id=session(access, "bad"), now=NOW)
    anew = put(access, fact(predicate="allergy", value="kiwi", session="other"), LATER)
    assert anew.status == "quarantined"
    done = curate.restore([held.id], "undo", access=access, now=LATER)
    assert (done.changed, len(done.skipped)) == ([], 1)
    curate.approve(anew.id, access=access, now=LATER)
    curate.evict([anew.id], "poison", access=access, now=LATER)
    third = put(access, fact(predicate="allergy", value="kiwi", session="third"), LATER)
    assert third.status in ("quarantined", "fenced")


def test_two_evicted_rows_of_one_fact_come_back_as_one(access: Access) -> None:
    one = put(access, fact(predicate="allergy", value="kiwi", session="bad"))
    curate.evict([one.id], "poison", access=access, session_id=session(access, "bad"), now=NOW)
    two = put(access, fact(predicate="allergy", value="kiwi", session="other"), LATER)
    curate.approve(two.id, access=access, now=LATER)
    curate.evict([two.id], "poison", access=access, session_id=session(access, "other"), now=LATER)
    done = curate.restore([one.id, two.id], "undo", access=access, now=LATER)
    assert (len(done.changed), len(done.skipped)) == (1, 1)
    assert live(access) == ["kiwi"]


def test_approving_a_new_address_casts_doubt_on_what_depends_on_it(access: Access) -> None:
    put(access, fact(predicate="address", value="12 Elm Road, Leeds", confidence=0.9))
    commute = put(access, fact(predicate="commute", value="tram 7, 20 minutes"))
    held = put(access, fact(predicate="address", value="4 Quay Street, Hull", confidence=0.5))
    assert held.decision == "contested"
    assert record(access, commute).recheck_at is None
    curate.approve(held.id, access=access, now=LATER)
    row = record(access, commute)
    assert (row.recheck_at, row.recheck_reason) == (LATER, "dependent")
    with workspace_scope(access.workspace_id):
        assert Event.objects.filter(target_id=commute.id, action="record.recheck").count() == 1
