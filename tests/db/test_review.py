"""Leases and decisions: one item before one person, one decision for one key, all undoable."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from threading import Barrier
from uuid import UUID, uuid4

import pytest
from django.db import connections

from audits import jobs, leases, review
from audits.domain.review import LEASE, Verb
from audits.leases import Lease, Leased, Reviewer
from audits.models import ReviewDecision
from audits.review import AlreadyDecided, Owes, Wish
from records import curate
from records.access import Access
from records.items import Conflict, NotFound
from records.jobs.runs import perform
from records.models import Event
from records.retrieve import RecallRequest, recall
from records.scope import workspace_scope

from .test_curate import live
from .test_write import NOW, fact, put

LATER = NOW + timedelta(days=1)
ANN = Reviewer(UUID(int=1), "ann")
BEN = Reviewer(UUID(int=2), "ben")


def contest(access: Access, number: int = 0) -> UUID:
    """Hold one fact against a more confident one; return its id."""
    subject = f"Person {number}"
    put(access, fact(subject, value="Acme", confidence=0.9))
    held = put(access, fact(subject, value="Helio", confidence=0.6))
    assert held.id is not None
    return held.id


def open_item(access: Access, record_id: UUID, who: Reviewer = ANN) -> Lease:
    with workspace_scope(access.workspace_id):
        lease = leases.take(record_id, who, access=access, now=LATER)
    assert lease is not None
    return lease


def wish(access: Access, lease: Lease, verb: Verb = Verb.APPROVE, **more: object) -> Wish:
    version = int(str(more.pop("version", 1)))
    key = str(more.pop("key", uuid4()))
    return Wish(lease.record_id, version, lease.token, verb, key, **more)  # type: ignore[arg-type]


def test_eight_reviewers_at_once_never_get_the_same_item(access: Access) -> None:
    held = {contest(access, i) for i in range(80)}
    start = Barrier(8)

    def work(number: int) -> list[UUID]:
        mine = Reviewer(uuid4(), f"r{number}")
        got: list[UUID] = []
        start.wait()
        try:
            while True:
                with workspace_scope(access.workspace_id):
                    lease = leases.take_next(mine, access=access, now=LATER, skip=got)
                if lease is None:
                    return got
                got.append(lease.record_id)
        finally:
            connections.close_all()

    with ThreadPoolExecutor(8) as pool:
        handed = [one for got in pool.map(work, range(8)) for one in got]
    assert len(handed) == len(set(handed)) == 80
    assert set(handed) == held


def test_item_in_a_colleagues_hands_is_refused_until_the_lease_ends(access: Access) -> None:
    held = contest(access)
    open_item(access, held, ANN)
    with workspace_scope(access.workspace_id):
        with pytest.raises(Leased) as refused:
            leases.take(held, BEN, access=access, now=LATER)
        assert refused.value.by == "ann"
        assert leases.take(held, BEN, access=access, now=LATER + LEASE) is not None


def test_approval_supersedes_waits_and_can_be_undone_before_anybody_is_served(
    access: Access,
) -> None:
    held = contest(access)
    done = review.decide(
        wish(access, open_item(access, held)), reviewer=ANN, access=access, now=LATER
    )
    assert len(done.answer["superseded"]) == 1
    asked = RecallRequest("ada", "Person 0 employer Helio", top_k=10)
    served = recall(asked, access=access, now=LATER + timedelta(seconds=5))
    assert held not in {item.id for item in served.items}
    undone = review.undo(reviewer=ANN, access=access, now=LATER + timedelta(seconds=6))
    assert (undone.record_id, undone.serves_meanwhile) == (held, 0)
    assert live(access) == ["Acme"]
    later = recall(asked, access=access, now=LATER + timedelta(minutes=1))
    assert held not in {item.id for item in later.items}


def test_repeating_a_key_returns_the_first_answer(access: Access) -> None:
    held = contest(access)
    asked = wish(access, open_item(access, held), key="k1")
    first = review.decide(asked, reviewer=ANN, access=access, now=LATER)
    again = review.decide(asked, reviewer=ANN, access=access, now=LATER)
    assert (again.decision_id, again.answer, again.repeated) == (
        first.decision_id,
        first.answer,
        True,
    )
    with workspace_scope(access.workspace_id):
        assert Event.objects.filter(target_id=held, action="record.approved").count() == 1


def test_same_key_sent_twice_at_once_decides_once(access: Access) -> None:
    held = contest(access)
    asked = wish(access, open_item(access, held), key="k1")
    start = Barrier(4)

    def send(_: int) -> UUID:
        start.wait()
        try:
            return review.decide(asked, reviewer=ANN, access=access, now=LATER).decision_id
        finally:
            connections.close_all()

    with ThreadPoolExecutor(4) as pool:
        assert len(set(pool.map(send, range(4)))) == 1


def test_second_reviewer_learns_who_was_first_and_why(access: Access) -> None:
    held = contest(access)
    mine = open_item(access, held, ANN)
    review.decide(
        wish(access, mine, Verb.REJECT, reason="false"), reviewer=ANN, access=access, now=LATER
    )
    stale = Wish(held, 1, uuid4(), Verb.APPROVE, "other")
    with pytest.raises(AlreadyDecided) as refused:
        review.decide(stale, reviewer=BEN, access=access, now=LATER)
    by = refused.value.by
    assert by is not None
    assert (by.user, by.reason, refused.value.status) == ("ann", "false", "rejected")


def test_decision_owes_a_reason_and_changes_nothing_without(access: Access) -> None:
    held = contest(access)
    lease = open_item(access, held)
    with pytest.raises(Owes):
        review.decide(wish(access, lease, Verb.REJECT), reviewer=ANN, access=access, now=LATER)
    assert record_status(access, held) == "quarantined"


def test_decision_without_the_lease_is_refused(access: Access) -> None:
    held = contest(access)
    open_item(access, held, ANN)
    with pytest.raises(Leased):
        review.decide(
            Wish(held, 1, uuid4(), Verb.APPROVE, "k"), reviewer=BEN, access=access, now=LATER
        )
    with pytest.raises(Conflict):
        review.decide(
            Wish(contest(access, 1), 1, uuid4(), Verb.APPROVE, "k2"),
            reviewer=BEN,
            access=access,
            now=LATER,
        )


def test_snoozed_item_sleeps_until_its_date_or_until_it_is_served(access: Access) -> None:
    held = contest(access)
    until = LATER + timedelta(days=2)
    review.decide(
        wish(access, open_item(access, held), Verb.SNOOZE, snooze_until=until),
        reviewer=ANN,
        access=access,
        now=LATER,
    )
    with workspace_scope(access.workspace_id):
        assert leases.take_next(BEN, access=access, now=LATER + timedelta(days=1)) is None
        assert leases.take_next(BEN, access=access, now=until) is not None


def test_edit_stores_the_reviewers_wording_and_undo_takes_it_back(access: Access) -> None:
    held = contest(access)
    done = review.decide(
        wish(access, open_item(access, held), Verb.EDIT, value="Helio Energy"),
        reviewer=ANN,
        access=access,
        now=LATER,
    )
    assert live(access) == ["Helio Energy"]
    assert record_status(access, held) == "rejected"
    assert done.answer["edited_into"]
    review.undo(reviewer=ANN, access=access, now=LATER + timedelta(minutes=1))
    assert live(access) == ["Acme"]
    assert record_status(access, held) == "quarantined"


def test_undo_of_what_has_moved_on_says_so(access: Access) -> None:
    held = contest(access)
    review.decide(wish(access, open_item(access, held)), reviewer=ANN, access=access, now=LATER)
    curate.retract([held], "wrong after all", access=access, now=LATER)
    with pytest.raises(Conflict):
        review.undo(reviewer=ANN, access=access, now=LATER)
    with pytest.raises(NotFound):
        review.undo(reviewer=BEN, access=access, now=LATER)


def test_colleagues_and_strangers_decide_nothing_of_another_workspace(
    access: Access, stranger: Access
) -> None:
    held = contest(access)
    lease = open_item(access, held)
    with pytest.raises(NotFound):
        review.decide(wish(access, lease), reviewer=ANN, access=stranger, now=LATER)
    with workspace_scope(stranger.workspace_id):
        assert leases.take(held, BEN, access=stranger, now=LATER) is None
        assert ReviewDecision.objects.count() == 0


def record_status(access: Access, record_id: UUID) -> str:
    from records.models import MemoryRecord

    with workspace_scope(access.workspace_id):
        return MemoryRecord.objects.get(id=record_id).status


def test_notes_are_kept_for_colleagues(access: Access) -> None:
    held = contest(access)
    note = review.add_note(held, " check with HR ", access=access, now=LATER)
    assert note.text == "check with HR"
    with pytest.raises(Owes):
        review.add_note(held, "  ", access=access, now=LATER)


def test_job_frees_leases_that_have_run_out(access: Access) -> None:
    held = contest(access)
    lease = open_item(access, held)
    run = perform(jobs.LEASES, access.workspace_id, leases.free, now=LATER + LEASE)
    assert run is not None
    assert run.changed == {"freed": 1}
    with workspace_scope(access.workspace_id):
        assert leases.renew(held, lease.token, now=LATER) is None


def late(access: Access) -> UUID:
    """Hold a fact whose slot has got a newer present since; return its id."""
    held = contest(access)
    put(access, fact("Person 0", value="Novum", confidence=0.9), NOW + timedelta(hours=1))
    return held


def test_approval_behind_a_newer_present_files_into_the_past_and_can_be_undone(
    access: Access,
) -> None:
    held = late(access)
    review.decide(wish(access, open_item(access, held)), reviewer=ANN, access=access, now=LATER)
    assert live(access) == ["Novum"]
    assert record_status(access, held) == "superseded"
    review.undo(reviewer=ANN, access=access, now=LATER + timedelta(seconds=1))
    assert record_status(access, held) == "quarantined"
    assert live(access) == ["Novum"]


def test_supersede_makes_it_the_present_whatever_is_newer_and_undo_puts_all_back(
    access: Access,
) -> None:
    held = late(access)
    asked = wish(access, open_item(access, held), Verb.SUPERSEDE)
    review.decide(asked, reviewer=ANN, access=access, now=LATER)
    assert live(access) == ["Helio"]
    review.undo(reviewer=ANN, access=access, now=LATER + timedelta(seconds=1))
    assert live(access) == ["Novum"]
    again = wish(access, open_item(access, held), version=version_of(access, held))
    review.decide(again, reviewer=ANN, access=access, now=LATER + timedelta(seconds=2))
    assert live(access) == ["Novum"]  # its own place in time is back as well


def version_of(access: Access, record_id: UUID) -> int:
    from records.models import MemoryRecord

    with workspace_scope(access.workspace_id):
        return MemoryRecord.objects.get(id=record_id).version
