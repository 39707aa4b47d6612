"""Undoing an eviction leaves alone what another act has taken out since, and its fences."""

from __future__ import annotations

from datetime import timedelta
from uuid import UUID

import pytest

from audits import operations
from audits.domain.scope import Scope
from audits.models import Operation
from records import curate
from records.access import Access
from records.items import BadRequest

from .operating import evict, groups, outcomes, poison, run, session, statuses, undo
from .test_write import NOW, fact, put


def taken_out(access: Access) -> tuple[Operation, UUID, UUID]:
    """Evict a session's fact; let another session say it again; return both records."""
    (first,) = poison(access, 1)
    done = evict(access, Scope(session_ids=(session(access, "bad"),)))
    said = put(access, fact(predicate="likes", value="poison 0", session="good"), NOW)
    assert said.id is not None
    assert said.id != first
    curate.approve(said.id, access=access)  # what is fenced around one origin waits for a person
    assert statuses(access, [first, said.id]) == ["evicted", "active"]
    return done, first, said.id


def say(access: Access, name: str) -> str:
    later = NOW + timedelta(minutes=5)
    return put(access, fact(predicate="likes", value="poison 0", session=name), later).status


@pytest.mark.parametrize("how", ["retracted", "evicted"])
def test_undo_does_not_bring_back_what_was_taken_out_again(access: Access, how: str) -> None:
    done, first, second = taken_out(access)
    if how == "retracted":
        curate.retract([second], "wrong", access=access)
    else:
        evict(access, Scope(record_ids=(second,)))
    back = operations.preview_undo(done.id, access=access, user_id=None)
    assert groups(back) == {"changed": 1}
    with pytest.raises(BadRequest):
        run(access, back)
    alone = curate.restore([first], "back", access=access)
    assert alone.skipped == [(first, f"the same fact was {how} since")]
    assert statuses(access, [first, second]) == ["evicted", how]
    assert say(access, "third") == "fenced"


def test_undo_does_not_bring_back_what_was_erased_since(access: Access) -> None:
    done, first, second = taken_out(access)
    (other,) = poison(access, 1, name="elsewhere", subject="Bob")
    more = evict(access, Scope(session_ids=(session(access, "elsewhere"),)))
    curate.erase([second], "request", access=access)
    back = operations.preview_undo(done.id, access=access, user_id=None)
    assert groups(back) == {"changed": 1}
    alone = curate.restore([first], "back", access=access)
    assert alone.skipped == [(first, "the same fact was erased since")]
    assert statuses(access, [first, second]) == ["evicted", "erased"]
    undo(access, more)
    assert statuses(access, [other]) == ["active"]


def test_undo_brings_back_what_was_only_taken_out_once(access: Access) -> None:
    (first,) = poison(access, 1)
    done = evict(access, Scope(session_ids=(session(access, "bad"),)))
    back = undo(access, done)
    assert outcomes(access, back)[first] == ("restored", "")
    assert say(access, "bad") == "active"


def test_restored_fact_leaves_the_fence_of_another_origin(access: Access) -> None:
    done, first, second = taken_out(access)
    evict(access, Scope(session_ids=(session(access, "good"),)))
    undo(access, done)
    assert statuses(access, [first, second]) == ["active", "evicted"]
    assert say(access, "good") == "fenced"
    assert say(access, "bad") == "active"
