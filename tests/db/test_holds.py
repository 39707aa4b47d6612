"""Legal holds: what they cover, and that nothing destroys it, by any way."""

from __future__ import annotations

from uuid import UUID, uuid4

import pytest
from django.db import IntegrityError, connection

from records import curate, holds
from records.access import Access
from records.items import Conflict, NotFound
from records.queries import cursor
from records.scope import workspace_scope
from tests.factories import make_claim, make_partition, make_record, make_session, make_source
from tests.factories import select as rows


def covered(access: Access, *record_ids: UUID) -> set[UUID]:
    with workspace_scope(access.workspace_id):
        return holds.held_among(cursor(), record_ids, access.workspace_id)


def target_of(access: Access, kind: str, record_id: UUID) -> UUID:
    if kind == "record":
        return record_id
    if kind == "session":
        return make_session(access)
    return make_source(access) if kind == "source" else make_partition(access)


@pytest.mark.parametrize("kind", ["record", "session", "source", "partition"])
def test_what_is_held_is_skipped_by_name_and_erased_once_released(
    access: Access, kind: str
) -> None:
    held = make_record(access)
    free = make_record(access, partition="bob", session="s9", source="feed", subject="Bob")
    hold = holds.place(kind, target_of(access, kind, held), "litigation", access=access)
    assert covered(access, held, free) == {held}
    acted = curate.erase([held, free], "asked to", access=access)
    assert acted.changed == [free]
    assert acted.skipped == [(held, "is on legal hold")]
    assert rows(access, "SELECT value FROM memory_record WHERE id = %s", [held]) == [("Acme",)]
    holds.release(hold, "the case is closed", access=access)
    assert covered(access, held) == set()
    assert curate.erase([held], "asked to", access=access).changed == [held]


def test_hold_on_a_session_covers_what_it_only_restated_and_what_was_dropped(
    access: Access,
) -> None:
    other = make_record(access, session="s1")
    make_claim(access, other, session="s2", state="dropped")
    holds.place("session", make_session(access, external_id="s2"), "case 7", access=access)
    assert covered(access, other) == {other}


def test_database_refuses_to_erase_what_is_held_whoever_asks(access: Access) -> None:
    record = make_record(access)
    holds.place("partition", make_partition(access), "case 7", access=access)
    with (
        pytest.raises(IntegrityError, match="legal hold"),
        workspace_scope(access.workspace_id),
        connection.cursor() as plain,
    ):
        plain.execute("UPDATE memory_record SET status = 'erased' WHERE id = %s", [record])


def test_hold_keeps_content_but_not_service(access: Access) -> None:
    record = make_record(access)
    holds.place("record", record, "case 7", access=access)
    assert curate.evict([record], "poisoned", access=access).changed == [record]
    assert curate.restore([record], "not so", access=access).changed == [record]


def test_second_hold_second_release_and_unknown_targets_are_refused(access: Access) -> None:
    record = make_record(access)
    hold = holds.place("record", record, "case 7", access=access)
    with pytest.raises(Conflict):
        holds.place("record", record, "case 8", access=access)
    holds.release(hold, "closed", access=access)
    with pytest.raises(Conflict, match="released by"):
        holds.release(hold, "closed", access=access)
    again = holds.place("record", record, "case 8", access=access)
    assert again != hold
    for kind in holds.TABLES:
        with pytest.raises(NotFound):
            holds.place(kind, uuid4(), "case", access=access)
    with pytest.raises(ValueError, match="kind"):
        holds.place("workspace", record, "case", access=access)
    for reason in ("", " ", "x" * 1_001):
        with pytest.raises(ValueError, match="reason"):
            holds.place("record", record, reason, access=access)


def test_holds_are_each_workspace_s_own(access: Access, stranger: Access) -> None:
    record = make_record(access)
    with pytest.raises(NotFound):
        holds.place("record", record, "case 7", access=stranger)
    hold = holds.place("record", record, "case 7", access=access)
    with pytest.raises(NotFound):
        holds.release(hold, "mine", access=stranger)
    assert rows(stranger, "SELECT id FROM legal_hold", []) == []


def test_placing_and_releasing_are_events_of_what_is_held(access: Access) -> None:
    record = make_record(access)
    hold = holds.place("record", record, "case 7", access=access)
    holds.release(hold, "closed", access=access)
    found = rows(
        access,
        "SELECT action, reason, details->>'hold' FROM event WHERE target_id = %s ORDER BY id",
        [record],
    )
    assert found == [("hold.placed", "case 7", str(hold)), ("hold.released", "closed", str(hold))]
