"""Verification: whatever the database's superuser does to sealed events is found and named."""

from __future__ import annotations

import io
import json
import random
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest
from django.conf import settings as django_settings
from django.core.management import CommandError, call_command

from audits import anchors, checks, jobs, keys, seals, verify
from audits.domain import merkle
from audits.leaves import leaf_bytes, leaf_text
from audits.verify import Report, verify_trail
from records.access import Access
from records.jobs import runs
from records.models import Event
from records.scope import workspace_scope

from .trail import happen, own_keys, superuser  # noqa: F401

Database = psycopg.Connection[tuple[Any, ...]]


@pytest.fixture(autouse=True)
def _small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make a few dozen events span several seals and several pieces."""
    monkeypatch.setattr(seals, "SEAL_LIMIT", 8)
    monkeypatch.setattr(verify, "PIECE_EVENTS", 20)
    monkeypatch.setattr(verify, "PIECE_SEALS", 3)


def fill(access: Access, count: int = 40) -> int:
    """Seal that many events; return how many the trail holds."""
    happen(access, *[f"reason {n}" for n in range(count)])
    seals.seal_now(access.workspace_id)
    report = verify_trail(access.workspace_id)
    assert report.is_whole, report.sentence
    return report.events


def event_at(database: Database, access: Access, position: int) -> int:
    row = database.execute(
        "SELECT event_id FROM sealed_event WHERE workspace_id = %s AND position = %s",
        [access.workspace_id, position],
    ).fetchone()
    assert row is not None
    return int(row[0])


def flaw(access: Access) -> verify.Flaw:
    report = verify_trail(access.workspace_id)
    assert report.flaw is not None, report.sentence
    return report.flaw


def test_whole_trail_is_proven_and_says_what_is_not_sealed_yet(access: Access) -> None:
    count = fill(access)
    happen(access, "later")
    report = verify_trail(access.workspace_id)
    assert (report.events, report.unsealed, report.flaw) == (count, 1, None)
    assert "1 not sealed yet" in report.sentence
    assert "no checkpoint" in report.sentence


def test_empty_trail_is_whole(access: Access) -> None:
    report = verify_trail(access.workspace_id)
    assert (report.is_whole, report.events) == (True, 0)


EDITS = {
    "transaction": "(transaction::text::bigint + 1)::text::xid8",
    "workspace_id": "gen_random_uuid()",
    "partition_id": "gen_random_uuid()",
    "at": "at + interval '1 microsecond'",
    "actor_kind": "'user'",
    "actor": "actor || ' '",
    "role": "'x'",
    "action": "'record.Added'",
    "outcome": "'failed'",
    "target_kind": "target_kind || 's'",
    "target_id": "gen_random_uuid()",
    "session_id": "gen_random_uuid()",
    "reason": "overlay(reason placing '#' from 1 for 1)",
    "request_id": "'r'",
    "count": "count + 1",
    "details": "details || '{\"n\": 1.0}'",
}


@pytest.mark.parametrize("column", EDITS)
def test_edit_of_any_column_is_found(access: Access, column: str) -> None:
    count = fill(access, 20)
    with superuser() as database:
        event_id = event_at(database, access, count - 5)
        database.execute(
            f'UPDATE event SET "{column}" = {EDITS[column]} WHERE id = %s'.encode(),
            [event_id],
        )
    found = flaw(access)
    assert (found.number, found.event_id) == (count - 5, event_id)


def test_every_column_of_an_event_is_tried() -> None:
    assert {f.column for f in Event._meta.get_fields()} - {"id"} == set(EDITS)


@pytest.mark.parametrize("times", [100, pytest.param(1_000, marks=pytest.mark.full)])
def test_random_edits_removals_and_reorderings_are_found_and_the_first_is_named(
    access: Access, times: int
) -> None:
    count = fill(access, 60)
    chance = random.Random(times)
    acts = [edit, edit, edit_leaf, edit_seal, remove, swap_events, swap_places, forget_place]
    done: set[str] = set()
    with superuser() as database:
        for _ in range(times):
            act = chance.choice(acts)
            positions = sorted(chance.sample(range(1, count + 1), 2))
            undo, what, first = act(database, access, positions, chance)
            done.add(what)
            found = verify_trail(access.workspace_id).flaw
            assert found is not None, f"{what} at {positions} was not found"
            assert found.number == first, f"{what} at {positions}: {found}"
            undo()
    assert verify_trail(access.workspace_id).is_whole
    if times >= 1_000:  # a hundred may miss a column by chance
        columns = {f.column for f in Event._meta.get_fields()} - {"id"}
        assert done >= {f"edit of event.{one}" for one in columns}
        assert done >= {f"edit of seal.{one}" for one in SEAL_BYTES}


Done = tuple[Callable[[], None], str, int]  # how to undo it, what was done, the first bad number

# One byte of each column's value becomes another: its text, or what is stored of it.
IDS = ("workspace_id", "partition_id", "target_id", "session_id")
WORDS = {
    "actor_kind": ("key", "user", "job", "command", "system", "anonymous"),
    "outcome": ("done", "denied", "failed", "held"),
}
SEAL_BYTES = ("sealed_at", "previous", "root", "key_id", "signature")


def edit(database: Database, access: Access, positions: list[int], chance: random.Random) -> Done:
    """Change one byte of one column of one event."""
    event_id = event_at(database, access, positions[0])
    column = chance.choice(sorted(EDITS))
    row = database.execute(
        f'SELECT "{column}"::text FROM event WHERE id = %s'.encode(), [event_id]
    ).fetchone()
    assert row is not None
    changed, kind = one_byte_other(row[0], column, chance)
    update = f'UPDATE event SET "{column}" = %s::text::{kind} WHERE id = %s'.encode()
    database.execute(update, [changed, event_id])
    return (
        lambda: restore(database, update, [row[0], event_id]),
        f"edit of event.{column}",
        positions[0],
    )


def one_byte_other(value: str | None, column: str, chance: random.Random) -> tuple[str, str]:
    """Return a column's value with one byte changed, still of its type, and the type."""
    if column in IDS:
        kept = UUID(value) if value else uuid4()
        return str(UUID(int=kept.int ^ 1 << chance.randrange(128))), "uuid"
    assert value is not None
    if column in WORDS:  # a check refuses any other word, even to the superuser
        return chance.choice([one for one in WORDS[column] if one != value]), "text"
    if column == "at":
        at = datetime.fromisoformat(value)
        return (at + timedelta(microseconds=1 << chance.randrange(20))).isoformat(), "timestamptz"
    if column in ("transaction", "count"):
        kind = "xid8" if column == "transaction" else "integer"
        return str(int(value) ^ 1 << chance.randrange(8)), kind
    if column == "details":
        said = json.loads(value)
        return json.dumps({**said, "n": said.get("n", 0) + 1}), "jsonb"
    if not value:
        return "x", "text"
    at_byte = chance.randrange(len(value))
    byte = chr(ord(value[at_byte]) ^ 1 << chance.randrange(5))
    return value[:at_byte] + byte + value[at_byte + 1 :], "text"


def edit_leaf(
    database: Database, access: Access, positions: list[int], chance: random.Random
) -> Done:
    """Change one bit of the hash that was kept of an event."""
    event_id = event_at(database, access, positions[0])
    flip = "UPDATE sealed_event SET leaf = set_bit(leaf, %s, 1 - get_bit(leaf, %s)) WHERE event_id = %s"
    bit = chance.randrange(256)
    database.execute(flip, [bit, bit, event_id])
    return (
        lambda: restore(database, flip, [bit, bit, event_id]),
        "edit of sealed_event.leaf",
        positions[0],
    )


def edit_seal(
    database: Database, access: Access, positions: list[int], chance: random.Random
) -> Done:
    """Change one byte of the seal that covers an event."""
    column = chance.choice(SEAL_BYTES)
    row = database.execute(
        f"""SELECT number, first, {column} FROM seal
            WHERE workspace_id = %s AND %s BETWEEN first AND last""".encode(),
        [access.workspace_id, positions[0]],
    ).fetchone()
    assert row is not None
    number, first, value = row
    update = f"UPDATE seal SET {column} = %s WHERE workspace_id = %s AND number = %s".encode()
    if isinstance(value, bytes):
        place = chance.randrange(len(value))
        byte = bytes([value[place] ^ 1 << chance.randrange(8)])
        changed: Any = value[:place] + byte + value[place + 1 :]
    elif isinstance(value, str):
        changed = ("0" if value[0] != "0" else "1") + value[1:]
    else:
        changed = value + timedelta(microseconds=1)
    database.execute(update, [changed, access.workspace_id, number])
    return (
        lambda: restore(database, update, [value, access.workspace_id, number]),
        f"edit of seal.{column}",
        first,
    )


def remove(database: Database, access: Access, positions: list[int], chance: random.Random) -> Done:
    event_id = event_at(database, access, positions[0])
    database.execute("CREATE TEMP TABLE gone AS SELECT * FROM event WHERE id = %s", [event_id])
    database.execute("DELETE FROM event WHERE id = %s", [event_id])

    def undo() -> None:
        database.execute("INSERT INTO event OVERRIDING SYSTEM VALUE SELECT * FROM gone")
        database.execute("DROP TABLE gone")

    return undo, "removal of an event", positions[0]


def swap_events(
    database: Database, access: Access, positions: list[int], chance: random.Random
) -> Done:
    """Let two events change their ids, so that each stands where the other was sealed."""
    first, second = (event_at(database, access, position) for position in positions)

    swap_ids(database, first, second)
    return lambda: swap_ids(database, first, second), "swap of two events", positions[0]


def swap_places(
    database: Database, access: Access, positions: list[int], chance: random.Random
) -> Done:
    """Let two rows of the trail change their positions, leaf and all."""

    def swap() -> None:
        for old, new in (
            (positions[0], 999_999),
            (positions[1], positions[0]),
            (999_999, positions[1]),
        ):
            database.execute(
                "UPDATE sealed_event SET position = %s WHERE workspace_id = %s AND position = %s",
                [new, access.workspace_id, old],
            )

    swap()
    return swap, "swap of two places", positions[0]


def forget_place(
    database: Database, access: Access, positions: list[int], chance: random.Random
) -> Done:
    event_id = event_at(database, access, positions[0])
    row = database.execute(
        "DELETE FROM sealed_event WHERE event_id = %s RETURNING *", [event_id]
    ).fetchone()
    assert row is not None
    return (
        lambda: restore(database, "INSERT INTO sealed_event VALUES (%s, %s, %s, %s)", [*row]),
        "removal of a place",
        positions[0],
    )


def restore(database: Database, statement: str, values: list[Any]) -> None:
    database.execute(statement, values)


def swap_ids(database: Database, first: int, second: int) -> None:
    """Swap two ids that the database generates: only a new row can be given one."""
    columns = ", ".join(f.column for f in Event._meta.get_fields() if f.name != "id")
    database.execute(
        f"""CREATE TEMP TABLE swapped AS
            SELECT CASE id WHEN {first} THEN {second} ELSE {first} END AS id, {columns}
            FROM event WHERE id IN ({first}, {second})"""
    )
    database.execute("DELETE FROM event WHERE id IN (%s, %s)", [first, second])
    database.execute(
        f"""INSERT INTO event (id, {columns}) OVERRIDING SYSTEM VALUE
            SELECT id, {columns} FROM swapped"""
    )
    database.execute("DROP TABLE swapped")


def test_forged_leaf_beside_a_forged_event_breaks_the_root(access: Access) -> None:
    count = fill(access)
    with superuser() as database:
        event_id = event_at(database, access, count - 2)
        database.execute("UPDATE event SET reason = 'forged' WHERE id = %s", [event_id])
        text = database.execute(
            f"SELECT {leaf_text('e')} FROM event e WHERE id = %s", [event_id]
        ).fetchone()
        assert text is not None
        leaf = merkle.leaf_hash(leaf_bytes(count - 2, text[0]))
        database.execute("UPDATE sealed_event SET leaf = %s WHERE event_id = %s", [leaf, event_id])
    found = flaw(access)
    assert "do not make the root" in found.what
    assert found.number <= count - 2 < found.number + seals.SEAL_LIMIT


@pytest.mark.parametrize(
    "change",
    [
        "root = sha256('x')",
        "previous = sha256('x')",
        "sealed_at = sealed_at + interval '1 microsecond'",
        "signature = sha512('x')",
        "key_id = 'ffffffffffffffff'",
    ],
)
def test_changed_seal_is_found(access: Access, change: str) -> None:
    fill(access)
    with superuser() as database:
        database.execute(
            f"UPDATE seal SET {change} WHERE workspace_id = %s AND number = 3",
            [access.workspace_id],
        )
        row = database.execute(
            "SELECT first FROM seal WHERE workspace_id = %s AND number = 3", [access.workspace_id]
        ).fetchone()
    assert row is not None
    assert flaw(access).number == row[0]


def test_removed_seal_in_the_middle_is_found(access: Access) -> None:
    fill(access)
    with superuser() as database:
        database.execute(
            "DELETE FROM seal WHERE workspace_id = %s AND number = 2", [access.workspace_id]
        )
    assert "seal 2 is missing" in flaw(access).what


def test_event_put_in_behind_the_seals_is_found(access: Access) -> None:
    fill(access)
    with superuser() as database:
        row = database.execute(
            """INSERT INTO event (transaction, workspace_id, actor_kind, actor, action)
               SELECT min(transaction), workspace_id, 'user', 'mallory', 'record.added'
               FROM event WHERE workspace_id = %s GROUP BY workspace_id RETURNING id""",
            [access.workspace_id],
        ).fetchone()
    assert row is not None
    found = flaw(access)
    assert (found.what, found.event_id) == ("an event was put in behind the seals", row[0])


def drop_newest(database: Database, access: Access) -> None:
    """Remove the newest seal with its events, leaving a shorter trail that is whole."""
    where = """workspace_id = %(w)s AND position >= (
        SELECT first FROM seal WHERE workspace_id = %(w)s ORDER BY number DESC LIMIT 1)"""
    values = {"w": access.workspace_id}
    database.execute(
        f"DELETE FROM event WHERE id IN (SELECT event_id FROM sealed_event WHERE {where})", values
    )
    database.execute(f"DELETE FROM sealed_event WHERE {where}", values)
    database.execute(
        """DELETE FROM seal WHERE workspace_id = %(w)s
           AND number = (SELECT max(number) FROM seal WHERE workspace_id = %(w)s)""",
        values,
    )


def anchor(access: Access) -> None:
    assert runs.perform(jobs.ANCHORING, access.workspace_id, anchors.anchor_head) is not None


def test_removal_of_the_newest_events_is_found_against_the_checkpoint(
    access: Access, stranger: Access
) -> None:
    for one in (access, stranger):
        fill(one)
        anchor(one)
    count = verify_trail(access.workspace_id).events
    with superuser() as database:
        drop_newest(database, access)
    found = flaw(access)
    assert f"events up to #{count} were sealed" in found.what
    assert count - seals.SEAL_LIMIT < found.number <= count
    assert verify_trail(stranger.workspace_id).anchored > 0


def test_trail_rewritten_with_the_key_itself_is_found_against_the_checkpoint(
    access: Access,
) -> None:
    fill(access)
    anchor(access)
    with superuser() as database:
        drop_newest(database, access)
        happen(access, "another past")
        seals.seal_now(access.workspace_id)
    assert "not the one in the checkpoint file" in flaw(access).what


def test_checkpoint_is_written_once_per_head_and_an_edited_one_is_not_believed(
    access: Access,
) -> None:
    fill(access)
    anchor(access)
    anchor(access)
    path = django_settings.TRAIL_CHECKPOINTS_FILE
    (line,) = path.read_text().splitlines()
    path.write_text(line.replace('"last": ', '"last": 1') + "\n{broken " + str(access.workspace_id))
    report = verify_trail(access.workspace_id)
    assert (report.is_whole, report.doubtful_anchors, report.anchored) == (True, 2, 0)
    assert "2 checkpoints cannot be believed" in report.sentence


def test_key_that_nobody_believes_proves_nothing(access: Access) -> None:
    fill(access)
    django_settings.TRAIL_PUBLIC_KEYS_FILE.unlink()
    assert "which nobody believes" in flaw(access).what
    assert keys.public_keys() == {}


def test_scheduled_check_keeps_its_report_and_tells_it(access: Access) -> None:
    count = fill(access)
    assert checks.last_check(access.workspace_id) is None
    runs.perform(jobs.VERIFICATION, access.workspace_id, checks.check_trail)
    report = checks.last_check(access.workspace_id)
    assert report is not None
    assert (report["whole"], report["events"]) == (True, count)
    with superuser() as database:
        event_id = event_at(database, access, 2)
        database.execute("UPDATE event SET actor = 'mallory' WHERE id = %s", [event_id])
    runs.perform(jobs.VERIFICATION, access.workspace_id, checks.check_trail)
    report = checks.last_check(access.workspace_id)
    assert report is not None
    assert (report["whole"], report["flaw"]["number"]) == (False, 2)
    with workspace_scope(access.workspace_id):
        told = [e.action for e in Event.objects.filter(action__startswith="trail.").order_by("id")]
    assert told == ["trail.verified", "trail.broken"]


def test_check_goes_on_where_its_worker_was_lost(access: Access) -> None:
    count = fill(access)
    run = runs.claim(jobs.VERIFICATION, access.workspace_id)
    assert run is not None
    walk = verify.Verification(access.workspace_id)
    with run.step():
        walk.advance()
        head = walk.report.head
        run.cursor.update(number=head.number, last=head.last, digest=head.digest.hex())
    assert 0 < head.last < count
    checks.check_trail(run, now=None)  # type: ignore[arg-type]
    assert run.cursor["report"]["events"] == count


def test_command_proves_and_fails_naming_the_event(access: Access) -> None:
    count = fill(access)
    out = io.StringIO()
    call_command("verify_trail", workspace=access.workspace, json=True, stdout=out)
    assert json.loads(out.getvalue())["events"] == count
    with superuser() as database:
        database.execute(
            "UPDATE event SET count = 9 WHERE id = %s", [event_at(database, access, 3)]
        )
    out = io.StringIO()
    with pytest.raises(CommandError, match="1 of the trails is broken"):
        call_command("verify_trail", workspace=access.workspace, stdout=out)
    assert "Broken at #3" in out.getvalue()
    with pytest.raises(CommandError, match="no workspace called 'nowhere'"):
        call_command("verify_trail", workspace="nowhere")


def test_progress_is_told_piece_by_piece(access: Access) -> None:
    count = fill(access)
    seen: list[int] = []

    def note(report: Report) -> None:
        seen.append(report.events)

    verify_trail(access.workspace_id, progress=note)
    assert len(seen) > 2
    assert seen == sorted(seen)
    assert seen[-1] == count
