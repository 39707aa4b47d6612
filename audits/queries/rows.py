"""Rows as templates want them: one mapping each. Owns nothing else."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from django.db import connection


def fetch(statement: str, values: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Run a statement in the scope at hand and return its rows by column name.

    Columns of type jsonb come decoded: Django's connections leave them as text.
    """
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        columns = cursor.description or ()
        names = [column.name for column in columns]
        jsonb = [place for place, column in enumerate(columns) if column.type_code == 3802]
        found = []
        for row in cursor.fetchall():
            values_of = list(row)
            for place in jsonb:
                if isinstance(values_of[place], str):
                    values_of[place] = json.loads(values_of[place])
            found.append(dict(zip(names, values_of, strict=True)))
        return found
