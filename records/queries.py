"""Fast statements on Django's own connection: server-side binding, binary bulk inserts.

Owns how rows travel, not what they say. Django's cursor writes parameters into
the statement as text, which is slow for vectors; the cursors here bind them in
binary, inside the same transaction.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

import psycopg
from django.db import connections
from pgvector.psycopg import register_vector

FEW = 32  # up to here one INSERT ... VALUES beats COPY's two extra round trips
_batch = itertools.count(1)

Row = tuple[Any, ...]


def cursor(using: str = "default") -> psycopg.Cursor[Row]:
    """Return a psycopg cursor with server-side binding on Django's connection."""
    wrapper = connections[using]
    wrapper.ensure_connection()
    raw: psycopg.Connection[Row] = wrapper.connection
    if raw.adapters.types.get("halfvec") is None:
        register_vector(raw)
    return psycopg.Cursor(raw)


def working(cur: psycopg.Cursor[Row], *, is_worth: bool = True) -> AbstractContextManager[object]:
    """Let the server work on what the block executes while the block goes on computing.

    Rows can be fetched, and errors come, when the block ends. COPY does not go
    with it. Not ``is_worth``: as if it were not there.
    """
    return cur.connection.pipeline() if is_worth else nullcontext()


class Table:
    """A table as bulk inserts see it: its columns with their PostgreSQL types.

    ``tail`` ends the statement: what happens on conflict, what is returned.
    ``made`` are columns that the database makes of the given ones: name -> expression.
    """

    def __init__(
        self,
        name: str,
        columns: Sequence[tuple[str, str]],
        tail: str = "",
        *,
        made: Mapping[str, str] | None = None,
    ) -> None:
        self.types = [kind for _, kind in columns]
        made = made or {}
        given = ", ".join(column for column, _ in columns)
        names = [column for column, _ in columns if column not in made]
        into = ", ".join([*names, *made])
        chosen = ", ".join([*names, *made.values()])
        self._row = f"({', '.join('%b::' + kind for kind in self.types)})"
        self._few = (
            f"INSERT INTO {name} ({into}) SELECT {chosen} FROM (VALUES ",
            f") AS stage ({given}) {tail}",
        )
        kinds = ", ".join(f"{column} {kind}" for column, kind in columns)
        # COPY into a table with policies is refused: by way of a temporary one.
        self._make_stage = (
            f"CREATE TEMPORARY TABLE IF NOT EXISTS stage_{name} (batch integer, {kinds})"
            " ON COMMIT DELETE ROWS"
        )
        self._copy_in = f"COPY stage_{name} (batch, {given}) FROM STDIN (FORMAT BINARY)"
        self._move = (
            f"INSERT INTO {name} ({into}) SELECT {chosen} FROM stage_{name} AS stage"
            f" WHERE batch = %s {tail}"
        )

    def insert(self, cur: psycopg.Cursor[Row], rows: Sequence[Sequence[Any]]) -> None:
        """Insert the rows in order, in one statement (and one COPY when they are many)."""
        if not rows:
            return
        if len(rows) <= FEW:
            before, after = self._few
            statement = before + ", ".join([self._row] * len(rows)) + after
            cur.execute(statement, list(itertools.chain.from_iterable(rows)))
            return
        cur.execute(self._move, [self._stage(cur, rows)])

    @contextmanager
    def inserting(self, cur: psycopg.Cursor[Row], rows: Sequence[Sequence[Any]]) -> Iterator[None]:
        """Insert the rows while the block runs: the server works on them meanwhile.

        The block may compute, and must not use the connection. What fails in
        the database fails at its end.
        """
        if len(rows) <= FEW:
            self.insert(cur, rows)
            yield
            return
        batch = self._stage(cur, rows)
        with working(cur):
            cur.execute(self._move, [batch])
            yield

    def _stage(self, cur: psycopg.Cursor[Row], rows: Sequence[Sequence[Any]]) -> int:
        """COPY the rows into the temporary table; return the number they have there."""
        cur.execute(self._make_stage)
        batch = next(_batch) % 2**31
        with cur.copy(self._copy_in) as stream:
            stream.set_types(["int4", *self.types])
            for row in rows:
                stream.write_row((batch, *row))
        return batch
