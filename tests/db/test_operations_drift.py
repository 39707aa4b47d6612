"""Between the preview and the run the store moves: then nothing is changed, and it says what moved."""

from __future__ import annotations

from datetime import timedelta
from uuid import UUID

import pytest

from audits import operations
from audits.domain.scope import Scope
from audits.models import Operation
from audits.operations.running import perform_waiting
from records import curate
from records.access import Access
from records.models import MemoryRecord
from records.scope import workspace_scope

from .operating import actions, again, poison, preview, run, session, statuses, submit
from .test_write import NOW, fact, put

LATER = NOW + timedelta(days=1)


def shown(access: Access) -> tuple[Operation, list[UUID]]:
    ids = poison(access, 3)
    return preview(access, Scope(session_ids=(session(access, "bad"),))), ids


def drift_of(access: Access, operation: Operation) -> tuple[int, int, int]:
    with workspace_scope(access.workspace_id):
        found = operations.drift(operation, workspace_id=access.workspace_id)
    return found.added, found.removed, found.changed


def test_fact_that_arrives_stops_the_run_and_nothing_has_changed(access: Access) -> None:
    found, ids = shown(access)
    put(access, fact(predicate="likes", value="one more", session="bad"), LATER)
    assert drift_of(access, found) == (1, 0, 0)
    ended = run(access, found)
    assert ended.state == "drifted"
    told = ended.receipt["drift"]
    assert (told["added"], told["removed"], told["changed"]) == (1, 0, 0)
    assert [one["how"] for one in told["sample"]] == ["added"]
    assert statuses(access, ids) == ["active"] * 3
    with workspace_scope(access.workspace_id):
        live = MemoryRecord.objects.filter(workspace_id=access.workspace_id, status="active")
        assert live.count() == 4
    assert actions(access, ended)[-1] == "operation.drifted"
    perform_waiting(access.workspace_id)
    assert again(access, found).state == "drifted"


@pytest.mark.parametrize("how", ["evicted", "shared", "extended", "held"])
def test_fact_that_changes_stops_the_run(access: Access, how: str) -> None:
    found, ids = shown(access)
    if how == "evicted":
        curate.evict([ids[0]], "by hand", access=access)
    elif how == "shared":
        put(access, fact(predicate="likes", value="poison 0", session="good"), LATER)
    elif how == "extended":
        curate.extend(ids[0], LATER, "longer", access=access)
    else:
        from records import holds

        holds.place("record", ids[0], "court", access=access)
    assert drift_of(access, found) == (0, 0, 1)
    before = statuses(access, ids)
    assert run(access, found).state == "drifted"
    assert statuses(access, ids) == before


def test_repeated_assertion_is_no_drift(access: Access) -> None:
    found, ids = shown(access)
    put(access, fact(predicate="likes", value="poison 0", session="bad"), LATER)
    assert drift_of(access, found) == (0, 0, 0)
    assert run(access, found).state == "done"
    assert statuses(access, ids) == ["evicted"] * 3


def test_what_was_left_out_may_move(access: Access) -> None:
    found, ids = shown(access)
    left = operations.tick(found.id, untick=[ids[0]], access=access)
    curate.evict([ids[0]], "by hand", access=access)
    assert drift_of(access, left) == (0, 0, 0)
    assert run(access, left).changed == 2


def test_other_sessions_facts_are_no_drift(access: Access) -> None:
    found, _ = shown(access)
    put(access, fact(predicate="likes", value="tea", session="good"), LATER)
    put(access, fact(predicate="likes", value="tea", partition="bob", session="bad"), LATER)
    assert run(access, found).state == "done"


def test_undo_that_no_longer_holds_stops_too(access: Access) -> None:
    found, ids = shown(access)
    done = run(access, found)
    back = operations.preview_undo(done.id, access=access, user_id=None)
    curate.restore([ids[0]], "by hand", access=access)
    assert drift_of(access, back) == (0, 0, 1)
    assert run(access, back).state == "drifted"
    assert statuses(access, ids) == ["active", "evicted", "evicted"]
    again_back = operations.preview_undo(done.id, access=access, user_id=None)
    assert run(access, again_back).changed == 2


def test_stranger_sees_no_drift(access: Access, stranger: Access) -> None:
    found, _ = shown(access)
    with workspace_scope(stranger.workspace_id), pytest.raises(Exception, match="operation"):
        operations.drift(found, workspace_id=stranger.workspace_id)
    with pytest.raises(Exception, match="operation"):
        submit(stranger, found)
