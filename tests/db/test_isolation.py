"""Row-level security by itself: every table there is, without one filter of the code.

The tables, their columns and their keys are the catalogue's, so a new table is
covered as soon as it exists. Rows are made up for each by the superuser, in a
transaction that is rolled back; what they are seen through is the
application's role. A second test reads what the product itself wrote, on the
application's own connection.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any
from uuid import NAMESPACE_OID, UUID, uuid4, uuid5

import psycopg
import pytest
from django.conf import settings
from psycopg import sql

from memconsole.database import connection_arguments
from records import curate, feedback
from records.access import Access
from records.domain.facts import HoldReason
from records.items import WriteItem, Written
from records.queries import cursor
from records.retrieve import RecallRequest, recall
from records.scope import partition_scope, workspace_scope
from records.sources import finish_run, start_run
from records.write import write_facts

from .test_schema import NO_ROWS_OF_A_WORKSPACE, rows

APP = "memconsole_app"
REFUSED = (psycopg.errors.InsufficientPrivilege, psycopg.errors.IntegrityError)
_numbers = count(1)

COLUMNS = """
SELECT c.relname, a.attname, format_type(a.atttypid, a.atttypmod),
       a.attnotnull AND NOT a.atthasdef AND a.attidentity = '' AND a.attgenerated = ''
FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
ORDER BY c.relname, a.attnum"""
KEYS = """
SELECT c.conrelid::regclass::text, c.confrelid::regclass::text,
       (SELECT array_agg(a.attname::text ORDER BY k.place)
        FROM unnest(c.conkey) WITH ORDINALITY AS k (n, place)
        JOIN pg_attribute a ON a.attrelid = c.conrelid AND a.attnum = k.n),
       (SELECT array_agg(a.attname::text ORDER BY k.place)
        FROM unnest(c.confkey) WITH ORDINALITY AS k (n, place)
        JOIN pg_attribute a ON a.attrelid = c.confrelid AND a.attnum = k.n)
FROM pg_constraint c WHERE c.contype = 'f' AND c.connamespace = 'public'::regnamespace"""
CHECKS = """
SELECT conrelid::regclass::text, conname FROM pg_constraint
WHERE contype = 'c' AND connamespace = 'public'::regnamespace
  AND NOT EXISTS (SELECT 1 FROM pg_class c WHERE c.oid = conrelid AND c.relispartition)"""
FILLERS = {
    "boolean": "false",
    "timestamp with time zone": "now()",
    "timestamp without time zone": "localtimestamp",
    "date": "current_date",
    "time without time zone": "localtime",
    "interval": "'1 day'",
    "jsonb": "'{}'",
    "tstzmultirange": "'{}'",
}


@dataclass(frozen=True)
class Place:
    """Whose a row is: one partition of one workspace."""

    workspace: UUID
    partition: UUID


@dataclass(frozen=True)
class Pointer:
    """One foreign key between scoped tables: the column that says which row."""

    column: str
    target: str
    carried: frozenset[str]


@dataclass
class Catalogue:
    """The scoped tables as they really are."""

    columns: dict[str, dict[str, tuple[str, bool]]] = field(
        default_factory=lambda: defaultdict(dict)
    )
    pointers: dict[str, list[Pointer]] = field(default_factory=lambda: defaultdict(list))

    @classmethod
    def read(cls) -> Catalogue:
        found = cls()
        for table, column, kind, is_needed in rows(COLUMNS):
            found.columns[str(table)][str(column)] = (str(kind), bool(is_needed))
        for child, target, mine, theirs in rows(KEYS):
            assert isinstance(mine, list)
            assert isinstance(theirs, list)
            if {str(child), str(target)} & NO_ROWS_OF_A_WORKSPACE or target == "workspace":
                continue
            (column,) = [m for m, t in zip(mine, theirs, strict=True) if t == "id"] or [""]
            if column:
                pointer = Pointer(column, str(target), frozenset(mine) - {column})
                found.pointers[str(child)].append(pointer)
        return found

    @property
    def tables(self) -> list[str]:
        return [t for t in self.columns if self.workspace_column(t)]

    def workspace_column(self, table: str) -> str | None:
        if table == "workspace":
            return "id"
        return "workspace_id" if "workspace_id" in self.columns[table] else None

    def partition_column(self, table: str) -> str | None:
        if table == "partition":
            return "id"
        return "partition_id" if "partition_id" in self.columns[table] else None

    def id_of(self, table: str, place: Place) -> UUID:
        """Return the id that the made-up row of this place has."""
        if table in ("workspace", "partition"):
            return place.workspace if table == "workspace" else place.partition
        scope = place.partition if self.partition_column(table) else place.workspace
        return uuid5(NAMESPACE_OID, f"{table}/{scope}")

    def row(self, table: str, place: Place) -> dict[str, sql.Composable]:
        """Return a made-up row: what must have a value gets one of its type."""
        values: dict[str, sql.Composable] = {}
        targets = {p.column: p.target for p in self.pointers[table]}
        for name, (kind, is_needed) in self.columns[table].items():
            if name == self.partition_column(table):
                values[name] = sql.Literal(place.partition)
            elif name == self.workspace_column(table):
                values[name] = sql.Literal(place.workspace)
            elif name == "id" and kind == "uuid":
                values[name] = sql.Literal(self.id_of(table, place))
            elif is_needed and name in targets:
                values[name] = sql.Literal(self.id_of(targets[name], place))
            elif is_needed:
                values[name] = _filler(kind)
        return values


def _filler(kind: str) -> sql.Composable:
    number = next(_numbers)
    if kind == "uuid":
        return sql.Literal(uuid4())
    if kind.endswith("[]"):
        return sql.SQL("'{}'")
    if kind in FILLERS:
        return sql.SQL(FILLERS[kind])
    if kind == "bytea":
        return sql.SQL("decode({}, 'hex')").format(sql.Literal(f"{number:064x}"))
    if kind.startswith(("text", "character")):
        return sql.Literal(f"made up {number}")
    if kind == "bigint":
        return sql.Literal(10**15 + number)  # beyond what real rows of other tests have
    return sql.Literal(str(number % 30_000))  # unknown to the parser until it meets its column


HERE, BESIDE, ELSEWHERE = "here", "another partition", "another workspace"


@dataclass
class Stage:
    """A transaction that ends in a rollback, with a made-up row of each place in each table."""

    connection: psycopg.Connection[Any]
    catalogue: Catalogue
    places: dict[str, Place]

    def enter(self, place: Place, *, reach: str = "partition") -> None:
        """Become the application, in the scope of one partition or workspace."""
        self.connection.execute(sql.SQL("SET LOCAL ROLE {}").format(sql.Identifier(APP)))
        for name, value in (
            ("workspace", place.workspace),
            ("partition", place.partition if reach == "partition" else ""),
            ("reach", reach),
        ):
            self.connection.execute(
                "SELECT set_config(%s, %s, true)", [f"memconsole.{name}", str(value)]
            )

    def insert(self, table: str, place: Place, **changes: sql.Composable) -> None:
        row = self.catalogue.row(table, place) | changes
        self.connection.execute(
            sql.SQL("INSERT INTO {} ({}) VALUES ({})").format(
                sql.Identifier(table),
                sql.SQL(", ").join(map(sql.Identifier, row)),
                sql.SQL(", ").join(row.values()),
            )
        )

    def try_out(self, statement: sql.Composable) -> int:
        """Return how many rows the statement touches; -1 when it is refused."""
        with self.connection.transaction(force_rollback=True):
            try:
                with self.connection.transaction():
                    done = self.connection.execute(statement).rowcount
                    self.connection.execute("SET CONSTRAINTS ALL IMMEDIATE")
                    return done
            except REFUSED:
                return -1

    def seen(self, table: str) -> list[dict[str, Any]]:
        """Return every row that the scope shows, by a statement without a filter."""
        if not self.may(table, "SELECT"):
            return []
        with self.connection.cursor(row_factory=psycopg.rows.dict_row) as cur:
            return cur.execute(sql.SQL("SELECT * FROM {}").format(sql.Identifier(table))).fetchall()

    def may(self, table: str, right: str) -> bool:
        row = self.connection.execute(
            "SELECT has_table_privilege(%s, %s, %s)", [APP, table, right]
        ).fetchone()
        assert row is not None
        return bool(row[0])


@contextmanager
def stage() -> Iterator[Stage]:
    arguments = connection_arguments(settings.DATABASES["owner"])
    arguments.pop("options", None)  # the superuser itself: it alone may put keys aside
    with psycopg.connect(**arguments) as connection:
        try:
            catalogue = Catalogue.read()
            home, other = uuid4(), uuid4()
            places = {
                HERE: Place(home, uuid4()),
                BESIDE: Place(home, uuid4()),
                ELSEWHERE: Place(other, uuid4()),
            }
            # What a row says does not matter here, only whose it is.
            for table, name in connection.execute(CHECKS).fetchall():
                connection.execute(
                    sql.SQL("ALTER TABLE {} DROP CONSTRAINT {}").format(
                        sql.Identifier(table), sql.Identifier(name)
                    )
                )
            connection.execute("SET LOCAL session_replication_role = replica")
            made = Stage(connection, catalogue, places)
            for table in catalogue.tables:
                for name, place in places.items():
                    # A table without partitions has one row for both of a workspace.
                    if name != BESIDE or catalogue.partition_column(table):
                        made.insert(table, place)
            connection.execute("SET LOCAL session_replication_role = origin")
            yield made
        finally:
            connection.rollback()


def test_made_up_rows_reach_every_scoped_table() -> None:
    with stage() as made:
        for table in made.catalogue.tables:
            found = made.connection.execute(
                sql.SQL("SELECT 1 FROM {} WHERE {} = ANY(%s)").format(
                    sql.Identifier(table),
                    sql.Identifier(made.catalogue.workspace_column(table) or ""),
                ),
                [[p.workspace for p in made.places.values()]],
            ).fetchall()
            assert len(found) == (3 if made.catalogue.partition_column(table) else 2), table
        assert {"memory_record", "claim", "event", "serve", "fence"} <= set(made.catalogue.tables)


# What an agent's door reads and writes; what people do about it shows no row to a partition.
AGENTS_OWN = {
    *("memory_record", "claim", "slot", "address", "tally", "standing", "fence", "feedback"),
    *("session", "session_totals", "partition", "recall", "serve", "event"),
}


def test_partition_scope_shows_no_row_of_another_partition_or_workspace() -> None:
    with stage() as made:
        here = made.places[HERE]
        made.enter(here)
        shown: set[str] = set()
        for table in made.catalogue.tables:
            for row in made.seen(table):
                assert row[made.catalogue.workspace_column(table) or ""] in (
                    here.workspace,
                    None,
                ), table
                column = made.catalogue.partition_column(table)
                assert column is None or row[column] in (here.partition, None), table
                shown.add(table)
        assert shown >= AGENTS_OWN, "the scope shows too little to prove anything"


def test_workspace_scope_shows_no_row_of_another_workspace() -> None:
    with stage() as made:
        here = made.places[HERE]
        made.enter(here, reach="workspace")
        for table in made.catalogue.tables:
            column = made.catalogue.workspace_column(table) or ""
            for row in made.seen(table):
                assert row[column] in (here.workspace, None), table
            if made.catalogue.partition_column(table) and made.may(table, "SELECT"):
                assert len(made.seen(table)) >= 2, f"{table}: people see all of their workspace"


@pytest.mark.parametrize("workspace", ["", "here"])
def test_unset_scope_shows_nothing(workspace: str) -> None:
    with stage() as made:
        made.enter(made.places[HERE])
        if not workspace:
            made.connection.execute("SELECT set_config('memconsole.workspace', '', true)")
        made.connection.execute("SELECT set_config('memconsole.partition', '', true)")
        for table in made.catalogue.tables:
            if workspace and not made.catalogue.partition_column(table):
                continue  # what belongs to the workspace as a whole
            for row in made.seen(table):
                scope = made.catalogue.partition_column(table) if workspace else None
                assert row[scope or made.catalogue.workspace_column(table) or ""] is None, table


@pytest.mark.parametrize("whose", [BESIDE, ELSEWHERE])
def test_foreign_rows_can_neither_be_added_changed_nor_removed(whose: str) -> None:
    with stage() as made:
        foreign = made.places[whose]
        made.enter(made.places[HERE])
        refused_inserts = 0
        for table in made.catalogue.tables:
            column = made.catalogue.partition_column(table)
            if whose == BESIDE and column is None:
                continue
            name = column if whose == BESIDE else made.catalogue.workspace_column(table)
            is_theirs = sql.SQL("{} = {}").format(
                sql.Identifier(name or ""),
                sql.Literal(foreign.partition if whose == BESIDE else foreign.workspace),
            )
            target = sql.Identifier(table)
            update = sql.SQL("UPDATE {} SET {} = {} WHERE {}").format(
                target, sql.Identifier(name or ""), sql.Identifier(name or ""), is_theirs
            )
            delete = sql.SQL("DELETE FROM {} WHERE {}").format(target, is_theirs)
            for statement in (update, delete):
                assert made.try_out(statement) <= 0, f"{table}: {statement.as_string()}"
            row = made.catalogue.row(table, foreign)
            if "id" in row and table not in ("workspace", "partition"):
                row["id"] = sql.Literal(uuid4())
            insert = sql.SQL("INSERT INTO {} ({}) VALUES ({})").format(
                target,
                sql.SQL(", ").join(map(sql.Identifier, row)),
                sql.SQL(", ").join(row.values()),
            )
            if made.may(table, "INSERT"):
                assert made.try_out(insert) == -1, f"{table} took a row of {whose}"
                refused_inserts += 1
        assert refused_inserts > 5


@pytest.mark.parametrize("whose", [BESIDE, ELSEWHERE])
def test_own_rows_cannot_be_moved_out_or_pointed_at_foreign_ones(whose: str) -> None:
    with stage() as made:
        here, foreign = made.places[HERE], made.places[whose]
        made.enter(here)
        pointed = 0
        for table in made.catalogue.tables:
            catalogue = made.catalogue
            scope = catalogue.partition_column(table)
            own = sql.SQL("{} = {}").format(
                sql.Identifier(scope or catalogue.workspace_column(table) or ""),
                sql.Literal(here.partition if scope else here.workspace),
            )
            moves = {scope: foreign.partition} if whose == BESIDE else {}
            if whose == ELSEWHERE:
                moves = {catalogue.workspace_column(table): foreign.workspace}
            for column, value in moves.items():
                if column is not None:
                    assert made.try_out(_update(table, column, value, own)) <= 0, (
                        f"{table}.{column} moved out"
                    )
            for pointer in catalogue.pointers[table]:
                if whose == BESIDE and catalogue.partition_column(pointer.target) is None:
                    continue
                if not (made.may(table, "UPDATE") and made.seen(table)):
                    continue
                theirs = catalogue.id_of(pointer.target, foreign)
                mine = catalogue.id_of(pointer.target, here)
                if (table, pointer.column) != (pointer.target, "superseded_by"):
                    # Refused for what it points at, not because nothing may be pointed at.
                    assert made.try_out(_update(table, pointer.column, mine, own)) == 1, (
                        f"{table}.{pointer.column} cannot even point at its own {pointer.target}"
                    )
                assert made.try_out(_update(table, pointer.column, theirs, own)) == -1, (
                    f"{table}.{pointer.column} points into {whose}"
                )
                pointed += 1
        assert pointed > 5


def _update(table: str, column: str, value: UUID, where: sql.Composable) -> sql.Composable:
    return sql.SQL("UPDATE {} SET {} = {} WHERE {}").format(
        sql.Identifier(table), sql.Identifier(column), sql.Literal(value), where
    )


def test_keys_between_partitioned_tables_carry_the_partition_too() -> None:
    catalogue = Catalogue.read()
    for table in catalogue.tables:
        for pointer in catalogue.pointers[table]:
            assert "workspace_id" in pointer.carried, f"{table}.{pointer.column}"
            if catalogue.partition_column(pointer.target) == "partition_id" and (
                catalogue.partition_column(table)
            ):
                assert "partition_id" in pointer.carried, f"{table}.{pointer.column}"


def live_in(access: Access, name: str) -> None:
    """Leave a trace of everything an agent and its people do in one partition."""
    items = [
        WriteItem(partition=name, subject="Ada", predicate=p, value=f"{name} {v}",
                  session=f"{name} {s}", evidence=f"{name} said",
                  source=source, source_key=source and f"{name}/{v}")
        for p, v, s, source in (
            ("employer", "Acme", "s1", None), ("employer", "Helio", "s2", None),
            ("allergy", "kiwi", "s1", "clinic"), ("allergy", "nuts", "s1", None),
            ("allergy", "dust", "s2", None), ("allergy", "milk", "s2", None),
        )
    ]  # fmt: skip
    run = start_run("clinic", partition=name, access=access)
    done = [r for r in write_facts(items, access=access) if isinstance(r, Written)]
    write_facts(items[2:4], access=access)
    finish_run(run.id, access=access)
    answer = recall(RecallRequest(name, "kiwi nuts", session=f"{name} s3"), access=access)
    feedback.give(answer.recall_id, answer.items[0].id, "confirmed", access=access)
    ids = [one.id for one in done if one.id]
    curate.evict([ids[4]], "poison", access=access)
    curate.hold([ids[5]], HoldReason.MANUAL, access=access)


def test_what_the_product_wrote_is_seen_from_its_own_partition_alone(
    access: Access, stranger: Access
) -> None:
    for one, name in ((access, "ada"), (access, "ben"), (stranger, "ada")):
        live_in(one, name)
    catalogue = Catalogue.read()
    here = access.partition_id("ada")
    seen: dict[str, int] = {}
    for scope in (
        partition_scope(access.workspace_id, [here]),
        partition_scope(stranger.workspace_id, [here]),  # a foreign id in one's own workspace
    ):
        is_mine = scope is not None and not seen
        with scope, cursor() as cur:
            for table in catalogue.tables:
                allowed = cur.execute(
                    "SELECT has_table_privilege(%s, 'SELECT')", [table]
                ).fetchone()
                assert allowed is not None
                if not allowed[0]:
                    continue
                cur.execute(sql.SQL("SELECT * FROM {}").format(sql.Identifier(table)))
                assert cur.description is not None
                names = [column.name for column in cur.description]
                for row in cur.fetchall():
                    values = dict(zip(names, row, strict=True))
                    column = catalogue.partition_column(table)
                    if column is None:
                        continue
                    assert is_mine, table
                    assert values[column] in (here, None), table
                    assert "ben" not in str(values), table
                    seen[table] = seen.get(table, 0) + 1
    traces = {"partition", "session", "slot", "address", "memory_record", "claim", "tally", "fence",
              "feedback", "recall", "serve", "event", "source_run", "session_totals"}  # fmt: skip
    assert traces <= set(seen)
    with workspace_scope(access.workspace_id), cursor() as cur:
        row = cur.execute("SELECT count(DISTINCT partition_id) FROM memory_record").fetchone()
        assert row == (2,)
    narrowed = replace(access, partition="ada")
    with pytest.raises(Exception, match="partition"):
        write_facts(
            [WriteItem(partition="ben", subject="a", predicate="b", value="c")], access=narrowed
        )
