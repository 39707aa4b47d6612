"""Fast statements on Django's own connection: server-side binding, binary bulk inserts.

Owns how rows travel, not what they say. Django's cursor writes parameters into
the statement as text, which is slow for vectors; the cursors here bind them in
binary, inside the same transaction.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import psycopg
from django.db import connections
from pgvector.psycopg import register_vector
from psycopg import sql

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


class Table:
    """A table as bulk inserts see it: its columns with their PostgreSQL types.

    ``tail`` ends the statement: what happens on conflict, what is returned.
    """

    def __init__(self, name: str, columns: Sequence[tuple[str, str]], tail: str = "") -> None:
        self.name = name
        self.types = [kind for _, kind in columns]
        names = [column for column, _ in columns]
        self._columns = sql.SQL(", ").join(map(sql.Identifier, names))
        self._row = sql.SQL("({})").format(
            sql.SQL(", ").join(sql.SQL("%b::" + kind) for kind in self.types)
        )
        self._tail = sql.SQL(tail)
        self._stage = sql.Identifier(f"stage_{name}")
        self._make_stage = sql.SQL(
            "CREATE TEMPORARY TABLE IF NOT EXISTS {} (batch integer, {}) ON COMMIT DELETE ROWS"
        ).format(
            self._stage,
            sql.SQL(", ").join(
                sql.SQL("{} " + kind).format(sql.Identifier(column)) for column, kind in columns
            ),
        )

    def insert(self, cur: psycopg.Cursor[Row], rows: Sequence[Sequence[Any]]) -> None:
        """Insert the rows in order, in one statement (and one COPY when they are many)."""
        if not rows:
            return
        if len(rows) <= FEW:
            values = sql.SQL(", ").join([self._row] * len(rows))
            statement = sql.SQL("INSERT INTO {} ({}) VALUES {} {}").format(
                sql.Identifier(self.name), self._columns, values, self._tail
            )
            cur.execute(statement, list(itertools.chain.from_iterable(rows)))
            return
        self._copy(cur, rows)

    def _copy(self, cur: psycopg.Cursor[Row], rows: Sequence[Sequence[Any]]) -> None:
        """COPY into a table with policies is refused: by way of a temporary one."""
        cur.execute(self._make_stage)
        batch = next(_batch) % 2**31
        copy = sql.SQL("COPY {} (batch, {}) FROM STDIN (FORMAT BINARY)")
        with cur.copy(copy.format(self._stage, self._columns)) as stream:
            stream.set_types(["int4", *self.types])
            for row in rows:
                stream.write_row((batch, *row))
        cur.execute(
            sql.SQL("INSERT INTO {} ({}) SELECT {} FROM {} WHERE batch = %s {}").format(
                sql.Identifier(self.name), self._columns, self._columns, self._stage, self._tail
            ),
            [batch],
        )
