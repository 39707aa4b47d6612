"""Rows as facts: which column is which field, and a CSV cell as the value it spells.

Owns names and spellings; what a field may hold is the write path's to say.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from records.items import BadRequest, FieldError, Refused, WriteItem
from records.schemas.items import FIELDS, json_object, read_item

TAG_SEPARATORS = ";|"


@dataclass(frozen=True, slots=True)
class Columns:
    """How a file's columns become fields.

    ``renamed`` is field -> column; columns in ``ignored`` are left out.
    ``partition`` puts every row there; ``source`` and ``session`` are for rows
    that name none.
    """

    renamed: Mapping[str, str]
    ignored: frozenset[str] = frozenset()
    partition: str | None = None
    source: str | None = None
    session: str | None = None

    def as_json(self) -> dict[str, Any]:
        """Return the mapping as a run remembers it."""
        return {**asdict(self), "ignored": sorted(self.ignored), "renamed": dict(self.renamed)}

    def check_header(self, header: Iterable[str]) -> None:
        """Raise BadRequest when a CSV's columns cannot all be placed."""
        names = {name for name in header if name}
        errors = [
            FieldError(column, f"is not a column of the file; there are {_listed(names)}")
            for column in self.renamed.values()
            if column not in names
        ]
        taken = set(self.renamed.values()) | self.ignored
        errors += [
            FieldError(
                name,
                "is not a field of a fact: map it to one (--map FIELD=COLUMN) or --ignore it",
                "unknown",
            )
            for name in sorted(names - taken - FIELDS)
        ]
        if errors:
            raise BadRequest(*errors)

    def item(self, values: dict[str, Any], *, is_text: bool) -> WriteItem | Refused:
        """Return one row as an item; ``is_text`` when its values are the cells of a CSV."""
        named = self._named(values)
        if is_text:
            named = {name: _spelled(name, cell) for name, cell in named.items() if cell.strip()}
        if type(named) is dict:  # not one that names a column twice: that one is refused
            if self.partition is not None:
                named["partition"] = self.partition
            if self.source is not None and not named.get("source"):
                named["source"] = self.source
            if self.session is not None and not named.get("session"):
                named["session"] = self.session
        return read_item(named)

    def _named(self, values: dict[str, Any]) -> dict[str, Any]:
        if type(values) is not dict or not (self.renamed or self.ignored):
            return values
        taken = set(self.renamed.values())
        named = {
            name: value
            for name, value in values.items()
            if name not in taken and name not in self.ignored and name not in self.renamed
        }
        for name, column in self.renamed.items():
            if column in values:
                named[name] = values[column]
        return named


def read_mapping(given: Iterable[str]) -> dict[str, str]:
    """Return ``FIELD=COLUMN`` texts as field -> column; BadRequest names a bad one."""
    found: dict[str, str] = {}
    for text in given:
        name, _, column = text.partition("=")
        name, column = name.strip(), column.strip()
        if name not in FIELDS:
            message = f"is not a field of a fact; there are {_listed(FIELDS)}"
            raise BadRequest(FieldError(name or text, message, "unknown"))
        if not column or name in found:
            message = "is mapped twice" if name in found else "needs a column: FIELD=COLUMN"
            raise BadRequest(FieldError(name, message))
        found[name] = column
    return found


def _spelled(name: str, cell: str) -> Any:
    """Return what a CSV cell says; what it does not spell stays text, for the rules to refuse."""
    if name == "confidence":
        try:
            return float(cell)
        except ValueError:
            return cell
    if name in ("metadata", "embedding") or (name == "tags" and cell.lstrip().startswith("[")):
        try:
            return json.loads(cell, object_pairs_hook=json_object)
        except (ValueError, RecursionError):
            return cell
    if name == "tags":
        separator = next((one for one in TAG_SEPARATORS if one in cell), ",")
        return [tag.strip() for tag in cell.split(separator) if tag.strip()]
    return cell


def _listed(names: Iterable[str]) -> str:
    return ", ".join(sorted(names))
