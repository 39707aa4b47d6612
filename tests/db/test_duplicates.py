"""Suggestions of near-duplicates: found within a partition, decided by a person, remembered."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest

from audits import duplicates, jobs, seals
from audits.duplicates.finding import BATCH, look_for_collisions, look_once
from audits.duplicates.reading import ClusterFilter
from audits.models import DuplicatePair, DuplicateSearch
from records import curate, queries
from records.access import Access
from records.items import Conflict, NotFound, WriteItem, Written
from records.jobs.runs import perform
from records.models import Event, MemoryRecord
from records.scope import workspace_scope
from records.write import write_fact, write_facts
from tests.unit.near_pairs import COEXIST, RESTATED

from .conftest import make_access

NOW = datetime.now(UTC)
RED = ("red bicycles", "bicycles that are red", "red bikes")


def write(access: Access, value: str, *, session: str = "s-1", **more: str) -> UUID:
    item = WriteItem(
        partition=more.get("partition", "ada"), subject=more.get("subject", "Ada"),
        predicate=more.get("predicate", "likes"), value=value, session=session,
        source=more.get("source"), source_key=more.get("source_key"),
        content=more.get("content"),
    )  # fmt: skip
    found = write_fact(item, access=access)
    assert isinstance(found, Written)
    assert found.id is not None
    return found.id


def search(access: Access) -> None:
    perform(jobs.DUPLICATES, access.workspace_id, duplicates.find_duplicates, now=NOW)


def pairs(access: Access, state: str = "suggested") -> set[frozenset[UUID]]:
    with workspace_scope(access.workspace_id):
        found = DuplicatePair.objects.filter(state=state)
        return {frozenset((p.one_id, p.other_id)) for p in found}


def clusters(access: Access, **wanted: str) -> list[duplicates.reading.Cluster]:
    with workspace_scope(access.workspace_id):
        page = duplicates.list_clusters(
            ClusterFilter(**wanted), cursor=None, workspace_id=access.workspace_id
        )
    return list(page.items)


def versions(access: Access, ids: list[UUID]) -> dict[UUID, int]:
    with workspace_scope(access.workspace_id):
        return dict(MemoryRecord.objects.filter(id__in=ids).values_list("id", "version"))


def test_restatements_of_one_partition_are_suggested_and_no_others(
    access: Access, stranger: Access
) -> None:
    ids = [write(access, value) for value in RED]
    write(access, "staging port 8080", predicate="port")
    write(access, "production port 8081", predicate="port")
    elsewhere = write(access, "bicycles that are red", partition="bob")
    foreign = write(stranger, "red bicycles")
    search(access)
    (cluster,) = clusters(access)
    assert {m["id"] for m in cluster.members} == set(ids)
    assert cluster.id == min(ids)
    assert not {elsewhere, foreign} & {one for pair in pairs(access) for one in pair}
    assert clusters(stranger) == []
    assert pairs(stranger) == set()


def test_rows_that_only_their_key_and_sentence_tell_apart_are_not_suggested(
    access: Access, stranger: Access
) -> None:
    for who, source, key in (
        (access, "stars", "ada/engine"), (access, "stars", "ada/loom"),
        (access, "bookmarks", "1"), (stranger, "stars", "ada/engine"),
    ):  # fmt: skip
        about = "ada/loom" if source == "bookmarks" else key
        write(who, "starred", predicate="starred_repository", source=source, source_key=key,
              content=f"Ada starred {about}.")  # fmt: skip
    search(access)
    search(stranger)
    with workspace_scope(access.workspace_id):
        keys = {
            frozenset(MemoryRecord.objects.filter(id__in=pair).values_list("source_key", flat=True))
            for pair in pairs(access)
        }
    # Another source's row is the same only when its sentence says so.
    assert keys == {frozenset(("ada/loom", "1"))}
    assert pairs(stranger) == set()


def test_the_search_finds_the_labelled_restatements_and_keeps_out_the_rest(
    access: Access,
) -> None:
    items = [
        WriteItem(partition=f"p{i}", subject=s.subject, predicate=s.predicate, value=s.value,
                  session=f"s{k}")
        for i, pair in enumerate(RESTATED[1::2] + COEXIST[1::2])
        for k, s in enumerate(pair)
    ]  # fmt: skip
    done = write_facts(items, access=access)
    assert all(isinstance(one, Written) for one in done)
    search(access)
    with workspace_scope(access.workspace_id):
        found = set(DuplicatePair.objects.values_list("partition_id", flat=True))
    right = {access.partition_id(f"p{i}") for i in range(len(RESTATED[1::2]))}
    assert found <= right
    assert len(found) / len(right) >= 0.6


def test_running_twice_changes_nothing_the_second_time(access: Access) -> None:
    for value in RED:
        write(access, value)
    search(access)
    before = pairs(access)
    run = perform(jobs.DUPLICATES, access.workspace_id, duplicates.find_duplicates, now=NOW)
    assert run is not None
    assert {k: v for k, v in run.changed.items() if k != "looked_at"} == {}
    assert pairs(access) == before


def test_only_what_is_new_is_looked_at(access: Access) -> None:
    write(access, RED[0])
    later = NOW + timedelta(hours=1)  # what was just written is looked at for two minutes
    with workspace_scope(access.workspace_id), queries.cursor() as cur:
        assert look_once(cur, access.workspace_id, later)[0] == 1
        assert look_once(cur, access.workspace_id, later)[0] == 0
    write(access, RED[1])
    with workspace_scope(access.workspace_id), queries.cursor() as cur:
        assert look_once(cur, access.workspace_id, later) == (1, 1)
    assert BATCH > 1


def test_merging_a_group_makes_one_fact_and_undo_opens_it_again(access: Access) -> None:
    ids = [write(access, value, session=f"s-{i}") for i, value in enumerate(RED)]
    search(access)
    (cluster,) = clusters(access)
    keep = cluster.keep_id
    assert keep is not None
    gone = [one for one in ids if one != keep]
    done = duplicates.merge(keep, gone, "same", versions=versions(access, ids), access=access)
    assert set(done.changed) == set(gone)
    assert (clusters(access), len(clusters(access, state="merged"))) == ([], 1)
    search(access)
    assert clusters(access) == []
    with pytest.raises(Conflict):
        duplicates.merge(keep, gone, "same", versions=dict.fromkeys(ids, 9), access=access)
    undone = duplicates.undo(done.merges, "not the same", access=access)
    assert set(undone.changed) == set(gone)
    assert [{m["id"] for m in c.members} for c in clusters(access)] == [set(ids)]
    with pytest.raises(NotFound):
        duplicates.undo([UUID(int=7)], "no", access=access)


def test_what_is_kept_apart_is_never_suggested_again(access: Access) -> None:
    one, other = write(access, RED[0]), write(access, RED[1])
    search(access)
    assert duplicates.keep_apart([one, other], "two bikes", access=access) == 1
    with workspace_scope(access.workspace_id):
        DuplicateSearch.objects.all().update(after_id=None)
        events = Event.objects.filter(action="duplicates.kept_apart")
        assert {e.target_id for e in events} == {one, other}
        assert {e.reason for e in events} == {"two bikes"}
    search(access)
    assert pairs(access) == set()
    assert duplicates.again([one, other], "after all", access=access) == 1
    assert pairs(access) == {frozenset((one, other))}


def test_keeping_one_apart_splits_its_group(access: Access) -> None:
    one, two, three = (write(access, value) for value in RED)
    search(access)
    duplicates.keep_apart([one, two], "differ", access=access)
    duplicates.keep_apart([one, three], "differ", access=access)
    assert [{m["id"] for m in c.members} for c in clusters(access)] == [{two, three}]


def test_a_suggestion_ends_when_one_side_leaves_and_comes_back_with_it(access: Access) -> None:
    one, other = write(access, RED[0]), write(access, RED[1])
    search(access)
    curate.evict([other], "wrong", access=access)
    assert clusters(access) == []  # before the job has run
    search(access)
    assert pairs(access, "gone") == {frozenset((one, other))}
    curate.restore([other], "right", access=access)
    search(access)
    assert pairs(access) == {frozenset((one, other))}


def test_what_comes_back_is_found_by_its_sealed_event(access: Access) -> None:
    one, other = write(access, RED[0]), write(access, RED[1])
    curate.evict([one], "wrong", access=access)
    search(access)
    assert pairs(access) == set()
    curate.restore([one], "right", access=access)
    later = NOW + timedelta(hours=1)
    perform(jobs.SEALING, access.workspace_id, seals.seal_events)
    perform(jobs.DUPLICATES, access.workspace_id, duplicates.find_duplicates, now=later)
    assert pairs(access) == {frozenset((one, other))}


def test_two_identities_that_a_policy_made_one_are_a_collision(access: Access) -> None:
    one = write(access, "Tea  House", predicate="visits")
    other = write(access, "coffee", predicate="visits")
    # As an older schema would have left it: another fingerprint for what is the same value today.
    with workspace_scope(access.workspace_id):
        row = MemoryRecord.objects.get(id=one)
        MemoryRecord.objects.filter(id=one).update(
            fingerprint="fp_" + "0" * 24, schema_version=row.schema_version - 1
        )
    again = write(access, "tea house", predicate="visits")
    assert again != one
    with workspace_scope(access.workspace_id), queries.cursor() as cur:
        assert look_for_collisions(cur, access.workspace_id, NOW) == 1
    (cluster,) = clusters(access, kind="same")
    assert {m["id"] for m in cluster.members} == {one, again}
    assert other not in {m["id"] for m in cluster.members}
    with workspace_scope(access.workspace_id):
        ratio = duplicates.load_ratio(access.workspace_id)
    assert ratio.collisions == 1


def test_pages_of_groups_neither_repeat_nor_skip(access: Access) -> None:
    values = [
        w
        for i in range(30)
        for w in (f"red bicycles number {i}", f"number {i} bicycles that are red")
    ]
    for i, value in enumerate(values):
        write(access, value, partition=f"p{i // 2}")
    search(access)
    seen: list[UUID] = []
    cursor = None
    while True:
        with workspace_scope(access.workspace_id):
            page = duplicates.list_clusters(
                ClusterFilter(), cursor=cursor, workspace_id=access.workspace_id
            )
        seen += [c.id for c in page.items]
        cursor = page.next_cursor
        if cursor is None:
            break
    assert len(seen) == len(set(seen)) == 30
    assert make_access().workspace_id != access.workspace_id
