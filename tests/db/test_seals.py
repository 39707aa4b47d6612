"""Sealing: dense positions behind the oldest running transaction, each event once."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import UUID

import psycopg
import pytest
from django.conf import settings as django_settings
from django.db import Error, connections, transaction

from audits import jobs, keys, seals
from audits.domain import merkle
from audits.domain.seals import INSTALLATION
from audits.leaves import leaf_bytes, leaf_text
from audits.models import Seal, SealedEvent
from records import events, queries
from records.access import Access
from records.jobs import runs
from records.models import Event
from records.scope import workspace_scope

from .trail import happen, own_keys, superuser  # noqa: F401


def positions(access: Access) -> list[tuple[int, str]]:
    """Return the sealed positions with their events' reasons."""
    with workspace_scope(access.workspace_id), connections["default"].cursor() as cursor:
        cursor.execute(
            """SELECT s.position, e.reason FROM sealed_event s JOIN event e ON e.id = s.event_id
               WHERE s.workspace_id = %s AND e.reason <> '' ORDER BY s.position""",
            [access.workspace_id],
        )
        return list(cursor.fetchall())


def start(access: Access) -> int:
    """Seal what making the workspace has left; return how many events that was."""
    return seals.seal_now(access.workspace_id)


def other_connection() -> psycopg.Connection[Any]:
    """Return a connection of the application's role, in a transaction of its own."""
    values = connections["default"].settings_dict
    return psycopg.connect(
        host=values["HOST"], port=values["PORT"], user=values["USER"], dbname=values["NAME"]
    )


INSERT = """INSERT INTO event (workspace_id, actor_kind, actor, action, reason)
            VALUES (%s, 'key', 'k', 'record.added', %s)"""


def scoped(connection: psycopg.Connection[Any], access: Access) -> None:
    connection.execute(
        """SELECT set_config('memconsole.workspace', %s, true),
                  set_config('memconsole.reach', 'workspace', true)""",
        [str(access.workspace_id)],
    )


def test_finished_events_get_dense_positions_once(access: Access, stranger: Access) -> None:
    begun = start(access)
    happen(access, "a", "b")
    happen(stranger, "not mine")
    happen(access, "c")
    assert seals.seal_now(access.workspace_id) == 3
    assert seals.seal_now(access.workspace_id) == 0
    assert positions(access) == [(begun + 1, "a"), (begun + 2, "b"), (begun + 3, "c")]
    assert positions(stranger) == []


def test_seal_signs_the_root_over_its_events_and_follows_the_last(access: Access) -> None:
    start(access)
    happen(access, "a", "b", "c")
    seals.seal_now(access.workspace_id)
    happen(access, "d")
    seals.seal_now(access.workspace_id)
    with workspace_scope(access.workspace_id), connections["default"].cursor() as cursor:
        cursor.execute(f"SELECT {seals.COLUMNS} FROM seal WHERE workspace_id = %s ORDER BY number",
                       [access.workspace_id])  # fmt: skip
        *_, third, last = [seals.SealRow.of(row) for row in cursor.fetchall()]
        cursor.execute(
            f"""SELECT s.position, {leaf_text("e")}
                FROM sealed_event s JOIN event e ON e.id = s.event_id
                WHERE s.workspace_id = %s AND s.position BETWEEN %s AND %s ORDER BY s.position""",
            [access.workspace_id, third.body.first, third.body.last],
        )
        leaves = [merkle.leaf_hash(leaf_bytes(*row)) for row in cursor.fetchall()]
    assert third.body.size == 3
    assert third.body.root == merkle.root(leaves)
    assert last.body.previous == third.body.digest()
    assert last.body.number == third.body.number + 1
    public = keys.public_keys()[last.body.key_id]
    assert keys.is_signed(last.body.text(), last.signature, public)
    assert not keys.is_signed(third.body.text(), last.signature, public)


def test_transaction_that_commits_late_is_not_missed(access: Access) -> None:
    begun = start(access)
    with other_connection() as slow:
        scoped(slow, access)
        slow.execute(INSERT, [access.workspace_id, "slow"])  # takes the lower id
        happen(access, "quick")
        assert seals.seal_now(access.workspace_id) == 0  # nothing behind a running transaction
        slow.commit()
    assert seals.seal_now(access.workspace_id) == 2
    assert positions(access) == [(begun + 1, "slow"), (begun + 2, "quick")]


def test_elder_transaction_that_writes_its_event_late_is_not_missed(access: Access) -> None:
    begun = start(access)
    with other_connection() as slow:
        scoped(slow, access)
        slow.execute("SELECT pg_current_xact_id()")  # elder by transaction, younger by id
        happen(access, "quick")
        slow.execute(INSERT, [access.workspace_id, "slow"])
        assert seals.seal_now(access.workspace_id) == 0
        slow.commit()
    seals.seal_now(access.workspace_id)
    assert positions(access) == [(begun + 1, "slow"), (begun + 2, "quick")]


def test_rollback_leaves_a_gap_in_ids_and_none_in_positions(access: Access) -> None:
    begun = start(access)
    happen(access, "a")
    with workspace_scope(access.workspace_id):
        events.append([events.Happening("record.added", reason="gone")], access=access)
        transaction.set_rollback(True)
    happen(access, "b")
    seals.seal_now(access.workspace_id)
    assert positions(access) == [(begun + 1, "a"), (begun + 2, "b")]


def test_many_sealers_and_writers_at_once_seal_each_event_once(access: Access) -> None:
    begun = start(access)
    gate = threading.Barrier(8)

    def write() -> None:
        gate.wait()
        for n in range(25):
            happen(access, f"{threading.get_ident()}-{n}")
        connections.close_all()

    def seal() -> None:
        gate.wait()
        for _ in range(25):
            seals.seal_now(access.workspace_id)
        connections.close_all()

    in_threads([write] * 4 + [seal] * 4)
    seals.seal_now(access.workspace_id)
    found = positions(access)
    assert [position for position, _ in found] == list(range(begun + 1, begun + 101))
    assert len({reason for _, reason in found}) == 100


def test_long_backlog_is_sealed_in_several_seals(
    access: Access, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = start(access)
    monkeypatch.setattr(seals, "SEAL_LIMIT", 4)
    happen(access, *[str(n) for n in range(10)])
    assert seals.seal_now(access.workspace_id) == 10
    with workspace_scope(access.workspace_id):
        sizes = [s.last - s.first + 1 for s in Seal.objects.order_by("number") if s.first > begun]
    assert sizes == [4, 4, 2]
    assert [reason for _, reason in positions(access)] == [str(n) for n in range(10)]


def test_a_seal_reads_only_its_own_events_whatever_the_statistics_say(access: Access) -> None:
    start(access)
    happen(access, *[str(n) for n in range(300)])
    with workspace_scope(access.workspace_id), queries.cursor() as cursor:
        last = seals.newest(cursor, access.workspace_id)
        assert last is not None
        values = {
            "workspace": access.workspace_id,
            "limit": 10,
            "horizon": last.horizon,
            "resume": last.resume_id,
        }
        statement = seals.DUE.format(
            chain=seals.chain_condition(access.workspace_id), floor=seals.FLOOR
        )
        with seals.reading_in_order(cursor):
            cursor.execute("EXPLAIN (ANALYZE, FORMAT JSON) " + statement, values)
            row = cursor.fetchone()
        assert row is not None
        plan = str(row[0])
        cursor.execute("SHOW enable_sort")
        assert cursor.fetchone() == ("on",)
    assert "event_by_transaction" in plan
    assert "Sort" not in plan


def test_events_of_a_restored_dump_are_sealed_though_its_transactions_are_ahead(
    access: Access, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = start(access)
    happen(access, "sealed there")
    seals.seal_now(access.workspace_id)
    happen(access, "not sealed there")
    # As after pg_restore: another cluster, whose transaction numbers lie far behind.
    with superuser() as connection:
        connection.execute(
            "UPDATE seal SET cluster = 1, horizon = '9000000' WHERE workspace_id = %s",
            [access.workspace_id],
        )
        connection.execute("UPDATE event SET transaction = '9000000' WHERE reason = 'sealed there'")
        connection.execute(
            "UPDATE event SET transaction = '9000001' WHERE reason = 'not sealed there'"
        )
    happen(access, "written here")
    seals.seal_now(access.workspace_id)
    happen(access, "and here")
    seals.seal_now(access.workspace_id)
    assert [reason for _, reason in positions(access)] == [
        *("sealed there", "written here", "not sealed there", "and here")
    ]
    assert [position for position, _ in positions(access)] == list(range(begun + 1, begun + 5))


def test_events_of_no_workspace_have_a_chain_of_their_own() -> None:
    events.append_denied("key.refused", actor="mc_unknown")
    run = runs.perform(jobs.SEALING_INSTALLATION, None, seals.seal_events, using="maintenance")
    assert run is not None
    assert run.changed["sealed"] >= 1
    with transaction.atomic("maintenance"):
        assert Seal.objects.using("maintenance").filter(workspace_id=INSTALLATION).exists()
    with workspace_scope(INSTALLATION):  # nobody's console reads it
        assert not Event.objects.exists()


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE seal SET number = number",
        "DELETE FROM seal",
        "TRUNCATE seal",
        "UPDATE sealed_event SET position = position",
        "DELETE FROM sealed_event",
        "TRUNCATE sealed_event",
    ],
)
def test_nobody_changes_a_seal(access: Access, statement: str) -> None:
    happen(access, "a")
    seals.seal_now(access.workspace_id)
    for alias in ("default", "maintenance"):
        with (
            pytest.raises(Error, match=r"permission denied|append-only"),
            workspace_scope(access.workspace_id, using=alias),
        ):
            connections[alias].cursor().execute(statement)


def test_workspace_sees_only_its_own_seals(access: Access, stranger: Access) -> None:
    for one in (access, stranger):
        happen(one, "a")
        seals.seal_now(one.workspace_id)
    with workspace_scope(access.workspace_id):
        assert {s.workspace_id for s in Seal.objects.all()} == {access.workspace_id}
        assert {s.workspace_id for s in SealedEvent.objects.all()} == {access.workspace_id}
    with transaction.atomic():
        assert not Seal.objects.exists()


def test_key_is_made_once_private_and_rotation_keeps_the_old_one_believed(
    access: Access,
) -> None:
    happen(access, "a")
    seals.seal_now(access.workspace_id)
    path: Path = django_settings.TRAIL_KEY_FILE
    assert path.stat().st_mode & 0o777 == 0o600
    first = keys.signer().key_id
    assert keys.signer().key_id == first
    path.rename(path.with_name("old"))
    assert keys.signer().key_id != first
    assert set(keys.public_keys()) == {first, keys.signer().key_id}


def test_damaged_key_file_is_named(access: Access) -> None:
    happen(access, "a")
    django_settings.TRAIL_KEY_FILE.write_text("not a key")
    with pytest.raises(keys.KeyFileError, match="trail_key does not hold a key"):
        seals.seal_now(access.workspace_id)


def test_leaf_text_is_pinned(access: Access) -> None:
    """A changed leaf breaks every seal ever made."""
    with workspace_scope(access.workspace_id), connections["default"].cursor() as cursor:
        cursor.execute(
            f"""SELECT {leaf_text("e")} FROM (SELECT
                7::bigint AS id, '42'::xid8 AS transaction, %s::uuid AS workspace_id,
                NULL::uuid AS partition_id, '2026-03-03 10:00:00.5+02'::timestamptz AS at,
                'key' AS actor_kind, 'k"1' AS actor, '' AS role, 'record.added' AS action,
                'done' AS outcome, 'record' AS target_kind, %s::uuid AS target_id,
                NULL::uuid AS session_id, E'tab\\t é' AS reason, 'r-1' AS request_id, 1 AS count,
                '{{"b": 1.0, "a": [true, null]}}'::jsonb AS details) e""",
            [UUID(int=1), UUID(int=2)],
        )
        (text,) = cursor.fetchone()
    assert text == (
        '{"id":7,"transaction":"42","workspace_id":"00000000-0000-0000-0000-000000000001",'
        '"partition_id":null,"at":"2026-03-03T08:00:00.500000Z",'
        '"actor_kind":"key","actor":"k\\"1","role":"","action":"record.added","outcome":"done",'
        '"target_kind":"record","target_id":"00000000-0000-0000-0000-000000000002",'
        '"session_id":null,"reason":"tab\\t é","request_id":"r-1","count":1,'
        '"details":{"a": [true, null], "b": 1.0}}'
    )
    assert list(json.loads(text)) == [f.column for f in Event._meta.get_fields()]


def in_threads(targets: list[Callable[[], None]]) -> None:
    threads = [threading.Thread(target=target) for target in targets]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not any(thread.is_alive() for thread in threads)
