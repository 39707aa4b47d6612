"""A changed policy and the facts that are stored already."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from records import recast
from records.access import Access
from records.domain.facts import Cardinality, Normaliser, Policy
from records.models import Claim, MemoryRecord
from records.policies import book, change
from records.scope import workspace_scope

from .test_curate import live
from .test_write import NOW, fact, put, record


def make(access: Access, policy: Policy) -> recast.Effect:
    with workspace_scope(access.workspace_id):
        foreseen = recast.preview(policy, access=access, now=NOW)
        change(policy, reason="test", access=access)
    done = recast.apply(policy.predicate, access=access, now=NOW)
    assert (foreseen.records, foreseen.superseded, foreseen.merged, foreseen.expired) == (
        done.records,
        done.superseded,
        done.merged,
        done.expired,
    )
    assert recast.apply(policy.predicate, access=access, now=NOW).records == 0
    return done


def current(access: Access, predicate: str) -> Policy:
    with workspace_scope(access.workspace_id):
        return book(access.workspace_id).resolve(predicate)


def test_predicate_that_becomes_one_valued_keeps_the_newest_and_a_chain(access: Access) -> None:
    rows = [
        put(access, fact(predicate="plan tier x", value=v), NOW + timedelta(days=i))
        for i, v in enumerate(["gold", "silver", "bronze"])
    ]
    one = replace(current(access, "plan tier x"), cardinality=Cardinality.ONE)
    done = make(access, one)
    assert (done.superseded, live(access)) == (2, ["bronze"])
    assert record(access, rows[0]).superseded_by == rows[1].id
    new = put(access, fact(predicate="plan tier x", value="tin"), NOW + timedelta(days=9))
    assert (new.decision, new.superseded) == ("updated", (rows[2].id,))


def test_predicate_that_becomes_many_valued_lets_values_stand_together(access: Access) -> None:
    put(access, fact(value="Acme"))
    make(access, replace(current(access, "employer"), cardinality=Cardinality.MANY))
    put(access, fact(value="Helio"), NOW + timedelta(days=1))
    assert live(access) == ["Acme", "Helio"]


def test_values_that_now_say_the_same_become_one_with_both_claims(access: Access) -> None:
    first = put(access, fact(predicate="hotline", value="+49 30 555 0101"))
    put(access, fact(predicate="hotline", value="0049305550101", session="s2"))
    assert len(live(access)) == 2
    done = make(access, replace(current(access, "hotline"), normaliser=Normaliser.PHONE))
    assert (done.merged, live(access)) == (1, ["+49 30 555 0101"])
    with workspace_scope(access.workspace_id):
        claims = Claim.objects.filter(record_id=first.id, state="live")
        assert {c.session.external_id for c in claims.select_related("session")} == {"s1", "s2"}
        assert MemoryRecord.objects.get(id=first.id).corroboration == 2
    again = put(access, fact(predicate="hotline", value="+49305550101", session="s3"))
    assert (again.decision, again.id, again.seen_count) == ("reinforced", first.id, 3)


def test_shorter_life_counts_from_last_seen(access: Access) -> None:
    put(access, fact(predicate="mood x", value="fine"), NOW - timedelta(days=20))
    fresh = put(access, fact(predicate="mood x", value="great"), NOW)
    done = make(access, replace(current(access, "mood x"), ttl_days=7.0))
    assert (done.expired, done.revived) == (1, 0)
    assert record(access, fresh).valid_until == NOW + timedelta(days=7)


def test_another_workspaces_facts_are_left_alone(access: Access, stranger: Access) -> None:
    for place in (access, stranger):
        put(place, fact(predicate="plan tier x", value="gold"))
        put(place, fact(predicate="plan tier x", value="silver"))
    make(access, replace(current(access, "plan tier x"), cardinality=Cardinality.ONE))
    assert live(stranger) == ["gold", "silver"]
