"""Bulk operations: what is previewed is what runs, and all of it can be taken back."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest

from audits import operations
from audits.domain.scope import Scope, Shared
from audits.operations import Refused, receipts
from records import curate, holds
from records.access import Access
from records.items import BadRequest, Conflict, NotFound
from records.models import Claim, Event, Fence, MemoryRecord
from records.scope import workspace_scope

from .operating import (
    actions,
    evict,
    groups,
    outcomes,
    poison,
    preview,
    run,
    session,
    statuses,
    submit,
    undo,
)
from .test_write import NOW, fact, put

LATER = NOW + timedelta(days=1)


def test_groups_of_a_preview_add_up_to_its_total(access: Access) -> None:
    bad = poison(access, 2)
    put(access, fact(predicate="likes", value="poison 0", session="good"))
    old = put(access, fact(value="Evil", session="bad"), NOW)
    put(access, fact(value="Acme", session="good"), LATER)
    gone = put(access, fact(predicate="likes", value="out", session="bad"))
    curate.evict([gone.id], "before", access=access)
    dead = put(access, fact(predicate="likes", value="dead", session="bad"))
    curate.erase([dead.id], "before", access=access)
    found = preview(access, Scope(session_ids=(session(access, "bad"),)))
    assert groups(found) == {"evict": 1, "shared": 1, "superseded": 1, "gone": 1, "beyond": 1}
    assert found.total == sum(found.groups.values()) == 5
    assert operations.asked(found) == 3
    assert actions(access, found) == ["operation.previewed"]
    assert statuses(access, [*bad, old.id]) == ["active", "active", "superseded"]


def test_what_was_previewed_is_evicted_and_fenced_for_its_session(access: Access) -> None:
    ids = poison(access, 3)
    other = put(access, fact(predicate="likes", value="tea", session="good"))
    done = evict(access, Scope(session_ids=(session(access, "bad"),)))
    assert (done.state, done.changed, done.skipped, done.failed) == ("done", 3, 0, 0)
    assert statuses(access, [*ids, other.id]) == ["evicted"] * 3 + ["active"]
    assert actions(access, done) == [
        "operation.previewed",
        "operation.requested",
        "operation.started",
        "operation.finished",
    ]
    now = datetime.now(UTC)
    again = put(access, fact(predicate="likes", value="poison 1", session="bad"), now)
    assert again.decision == "fenced"
    with workspace_scope(access.workspace_id):
        assert operations.fences_of(done)["attempts"] == 1
        assert (
            Event.objects.filter(action="record.evicted", details__operation=str(done.id)).count()
            == 3
        )
    assert done.receipt["residue"] == {
        "by_id": 0,
        "anew": 0,
        "by_text": [3, 0],
        "by_likeness": [3, 0],
    }
    assert done.receipt["residue_total"] == 0
    assert done.receipt["fences"] == 3
    assert done.first_event < done.last_event
    assert done.undo_until - done.finished_at == timedelta(days=30)


def test_undo_brings_back_everything(access: Access) -> None:
    ids = poison(access, 3)
    done = evict(access, Scope(session_ids=(session(access, "bad"),)))
    back = undo(access, done, reason="was right")
    assert (back.kind, back.state, back.changed, back.skipped) == ("restore", "done", 3, 0)
    assert statuses(access, ids) == ["active"] * 3
    with workspace_scope(access.workspace_id):
        assert set(Claim.objects.filter(record_id__in=ids).values_list("state", "dropped_by")) == {
            ("live", None)
        }
        assert not Fence.objects.filter(record_id__in=ids, lifted_at=None).exists()


@pytest.mark.parametrize(
    ("shared", "status", "outcome", "claim"),
    [
        (Shared.KEEP, "active", "", "live"),
        (Shared.DROP, "active", "dropped", "dropped"),
        (Shared.EVICT, "evicted", "evicted", "dropped"),
    ],
)
def test_fact_that_others_assert_too_is_treated_as_chosen(
    access: Access, shared: Shared, status: str, outcome: str, claim: str
) -> None:
    (fine,) = poison(access, 1, "good")
    put(access, fact(predicate="likes", value="poison 0", session="bad"))
    own = put(access, fact(predicate="likes", value="own", session="bad")).id
    done = evict(access, Scope(session_ids=(session(access, "bad"),)), shared=shared)
    assert done.state == "done"
    assert statuses(access, [fine, own]) == [status, "evicted"]
    assert outcomes(access, done)[fine][0] == outcome
    with workspace_scope(access.workspace_id):
        bad = Claim.objects.get(record_id=fine, session_id=session(access, "bad"))
        good = Claim.objects.get(record_id=fine, session_id=session(access, "good"))
        assert (bad.state, good.state) == (claim, "live")
        told = Event.objects.filter(details__operation=str(done.id))
        assert {one.session_id for one in told} == {session(access, "bad")}
    back = undo(access, done)
    assert back.scope == done.scope
    assert statuses(access, [fine, own]) == ["active", "active"]
    assert back.restored_claims == (1 if shared is Shared.DROP else 0)
    with workspace_scope(access.workspace_id):
        assert not Claim.objects.filter(record_id=fine, state="dropped").exists()


def test_unticked_facts_are_left_and_exactly_the_rest_runs(access: Access) -> None:
    ids = poison(access, 8)
    shown = preview(access, Scope(session_ids=(session(access, "bad"),)))
    left = operations.tick(shown.id, untick=ids[:5], access=access)
    assert left.digest != shown.digest
    assert operations.asked(left) == 3
    with pytest.raises(Conflict):
        submit(access, shown)
    done = run(access, left)
    assert done.changed == 3
    assert statuses(access, ids) == ["active"] * 5 + ["evicted"] * 3
    with pytest.raises(Conflict):
        operations.tick(shown.id, untick=[], access=access)


def test_ticking_again_makes_the_first_digest(access: Access) -> None:
    ids = poison(access, 3)
    shown = preview(access, Scope(session_ids=(session(access, "bad"),)))
    operations.tick(shown.id, untick=ids[:1], access=access)
    assert operations.tick(shown.id, untick=[], access=access).digest == shown.digest
    with pytest.raises(Refused):
        operations.tick(shown.id, untick=[uuid4()], access=access)


def test_good_fact_that_was_displaced_comes_back_and_the_preview_says_so(access: Access) -> None:
    good = put(access, fact(value="Acme", session="good"))
    for place, value in enumerate(("Evil", "Worse")):
        put(access, fact(value=value, session="bad"), NOW + timedelta(hours=place + 1))
    shown = preview(access, Scope(session_ids=(session(access, "bad"),)))
    assert shown.options["displaced"] == 1
    with workspace_scope(access.workspace_id):
        assert [row["value"] for row in operations.list_displaced(shown)] == ["Acme"]
    done = run(access, shown)
    assert (done.changed, done.restored) == (2, 1)
    assert statuses(access, [good.id]) == ["active"]
    back = undo(access, done)
    assert back.changed == 2
    assert back.receipt["superseded"] >= 1
    with workspace_scope(access.workspace_id):
        live = MemoryRecord.objects.filter(workspace_id=access.workspace_id, status="active")
        assert [one.value for one in live] == ["Worse"]


def test_unticking_the_last_of_a_chain_brings_nothing_back(access: Access) -> None:
    put(access, fact(value="Acme", session="good"))
    put(access, fact(value="Evil", session="bad"), LATER)
    shown = preview(access, Scope(session_ids=(session(access, "bad"),)))
    with workspace_scope(access.workspace_id):
        (evil,) = MemoryRecord.objects.filter(workspace_id=access.workspace_id, value="Evil")
    assert operations.tick(shown.id, untick=[evil.id], access=access).options["displaced"] == 0


def test_undo_leaves_what_has_changed_since_and_says_why(access: Access) -> None:
    back_by_hand, erased, anew, plain = poison(access, 4)
    done = evict(access, Scope(session_ids=(session(access, "bad"),)))
    curate.restore([back_by_hand], "right", access=access)
    curate.erase([erased], "request", access=access)
    with workspace_scope(access.workspace_id):
        Fence.objects.filter(record_id=anew).update(lifted_at=NOW, lifted_by="test")
    stored = put(access, fact(predicate="likes", value="poison 2", session="other"), LATER)
    assert stored.status == "active"
    back = operations.preview_undo(done.id, access=access, user_id=None)
    assert groups(back) == {"restore": 1, "anew": 1, "changed": 2}
    ended = run(access, back)
    assert (ended.changed, ended.total) == (1, 4)
    assert statuses(access, [back_by_hand, erased, anew, plain]) == [
        "active",
        "erased",
        "evicted",
        "active",
    ]
    with workspace_scope(access.workspace_id):
        told = operations.list_targets(
            ended.id, group="changed", cursor=None, workspace_id=access.workspace_id
        )
    assert len(told.items) == 2
    assert [a for a in actions(access, ended) if a.startswith("operation.")] == [
        "operation.previewed",
        "operation.requested",
        "operation.started",
        "operation.finished",
    ]


def test_undo_revives_the_claims_of_its_own_operation_only(access: Access) -> None:
    (shared,) = poison(access, 1, "a")
    for name in ("b", "good"):
        put(access, fact(predicate="likes", value="poison 0", session=name))
    first = evict(access, Scope(session_ids=(session(access, "a"),)))
    second = evict(access, Scope(session_ids=(session(access, "b"),)))
    undo(access, second)
    with workspace_scope(access.workspace_id):
        live = Claim.objects.filter(record_id=shared, state="live")
        assert {one.session_id for one in live} == {session(access, "b"), session(access, "good")}
    undo(access, first)
    with workspace_scope(access.workspace_id):
        assert Claim.objects.filter(record_id=shared, state="live").count() == 3


def test_undo_is_refused_when_there_is_nothing_to_take_back(access: Access) -> None:
    poison(access, 1)
    shown = preview(access, Scope(session_ids=(session(access, "bad"),)))
    with pytest.raises(Conflict):
        operations.preview_undo(shown.id, access=access, user_id=None)
    done = run(access, shown)
    late = done.undo_until + timedelta(seconds=1)
    with pytest.raises(Conflict):
        operations.preview_undo(done.id, access=access, user_id=None, now=late)
    back = undo(access, done)
    with pytest.raises(Conflict):
        operations.preview_undo(back.id, access=access, user_id=None)


def test_submission_asks_for_what_is_missing(access: Access) -> None:
    poison(access, 1)
    shown = preview(access, Scope(session_ids=(session(access, "bad"),)))
    for fault, field in (
        ({"reason": "  "}, "reason"),
        ({"reason": "x" * 1_001}, "reason"),
        ({"note": "x" * 2_001}, "note"),
    ):
        with pytest.raises(Refused) as refused:
            submit(access, shown, **fault)
        assert refused.value.errors[0].field == field
    with pytest.raises(Conflict):
        submit(access, shown, digest="0" * 32)
    empty = preview(access, Scope(session_ids=(uuid4(),)))
    assert empty.total == 0
    with pytest.raises(Refused):
        submit(access, empty)
    for scope in (Scope(), Scope(text="…")):
        with pytest.raises(Refused):
            preview(access, scope)


def test_stranger_finds_neither_preview_nor_operation(access: Access, stranger: Access) -> None:
    ids = poison(access, 2)
    shown = preview(access, Scope(session_ids=(session(access, "bad"),)))
    with pytest.raises(NotFound):
        submit(stranger, shown)
    with pytest.raises(NotFound):
        operations.tick(shown.id, untick=ids, access=stranger)
    foreign = preview(stranger, Scope(session_ids=(session(access, "bad"),), record_ids=tuple(ids)))
    assert foreign.total == 0
    done = run(access, shown)
    with pytest.raises(NotFound):
        operations.preview_undo(done.id, access=stranger, user_id=None)
    with workspace_scope(stranger.workspace_id):
        page = operations.list_operations(
            operations.OperationFilter(), cursor=None, workspace_id=access.workspace_id
        )
        rows = operations.list_targets(done.id, cursor=None, workspace_id=access.workspace_id)
    assert (list(page.items), list(rows.items)) == ([], [])


def test_fact_on_legal_hold_is_left_unless_holds_are_included(access: Access) -> None:
    held, free = poison(access, 2)
    holds.place("record", held, "court", access=access)
    scope = Scope(session_ids=(session(access, "bad"),))
    shown = preview(access, scope)
    assert groups(shown) == {"evict": 1, "hold": 1}
    done = run(access, shown)
    assert (done.changed, statuses(access, [held, free])) == (1, ["active", "evicted"])
    wider = preview(access, scope, with_held=True)
    assert groups(wider) == {"gone": 1, "hold": 1}
    assert run(access, wider).changed == 1
    assert statuses(access, [held, free]) == ["evicted", "evicted"]
    undo(access, wider)
    assert statuses(access, [held]) == ["active"]


def test_fences_of_a_large_operation_are_told_from_its_receipt(
    access: Access, monkeypatch: pytest.MonkeyPatch
) -> None:
    poison(access, 3)
    done = evict(access, Scope(session_ids=(session(access, "bad"),)))
    put(access, fact(predicate="likes", value="poison 1", session="bad"), datetime.now(UTC))
    with workspace_scope(access.workspace_id):
        live = operations.fences_of(done)
        monkeypatch.setattr(receipts, "COUNTED_LIVE", 0)
        assert operations.fences_of(done) == live
        assert (live["standing"], live["attempts"]) == (3, 1)
    undo(access, done)
    with workspace_scope(access.workspace_id):
        assert operations.fences_of(done)["standing"] == 0


def test_operations_are_listed_newest_first_a_page_at_a_time(access: Access) -> None:
    made = []
    for number in range(3):
        one = put(access, fact(predicate="owns", value=f"thing {number}", session="bad"))
        assert one.id is not None
        made.append(evict(access, Scope(record_ids=(one.id,))).id)
    with workspace_scope(access.workspace_id):
        seen, cursor = [], None
        for _ in range(3):
            page = operations.list_operations(
                operations.OperationFilter(),
                cursor=cursor,
                workspace_id=access.workspace_id,
                limit=1,
            )
            seen += [row["id"] for row in page.items]
            cursor = page.next_cursor
        assert seen == made[::-1]
        assert cursor is None
        with pytest.raises(BadRequest):
            operations.list_operations(
                operations.OperationFilter(), cursor="x", workspace_id=access.workspace_id
            )
