"""From the JSON of one fact to a ``WriteItem``, one by one and quickly.

Owns names and JSON kinds: unknown fields, repeated keys, times as text. What a
field may hold (lengths, ranges, blanks) is the write path's to say, so that
every door says the same. Never raises: a bad item is a ``Refused`` and costs
its neighbours nothing.
"""

from __future__ import annotations

import dataclasses
from datetime import UTC, datetime
from typing import Any

from records.items import FieldError, Refused, WriteItem

FIELDS = frozenset(field.name for field in dataclasses.fields(WriteItem))
TIMES = ("written_at", "observed_at", "valid_from", "valid_until")
DEPTH_LIMIT = 32  # of metadata; deeper is no description of a fact
INTEGER_LIMIT = 2**63
_SHOWN = 100


class RepeatedKeys(dict[str, Any]):
    """A JSON object that named ``key`` twice: two readers of it could see two facts."""

    def __init__(self, found: dict[str, Any], *, key: str) -> None:
        super().__init__(found)
        self.key = key


def json_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return one JSON object from its pairs: the hook with which every door reads JSON."""
    found = dict(pairs)
    if len(found) == len(pairs):
        return found
    seen: set[str] = set()
    for key, _ in pairs:
        if key in seen:
            return RepeatedKeys(found, key=key)
        seen.add(key)
    return found


def read_item(raw: Any, *, partition: str | None = None) -> WriteItem | Refused:
    """Return one fact's JSON as an item; ``partition`` is the key's own, when it is bound."""
    if type(raw) is not dict:
        return Refused((_not_an_object(raw),))
    if not raw.keys() <= FIELDS:
        unknown = [name for name in raw if name not in FIELDS]
        return Refused(
            tuple(FieldError(_shown(name), "is not a field here", "unknown") for name in unknown)
        )
    values = raw.copy()
    for name in TIMES:
        if name in values:
            values[name] = read_time(values[name])
    if values.get("partition") is None:
        values["partition"] = partition or ""
    if "metadata" in values and (fault := plain_fault(values["metadata"])):
        return Refused((FieldError("metadata", fault),))
    for name in ("confidence", "embedding"):
        if name in values:
            values[name] = _tamed(values[name])
    return WriteItem(**values)


def read_time(value: Any) -> Any:
    """Return ISO 8601 text as a datetime, in UTC when it has an offset; else the value itself.

    What is no time stays as it came, for the write path to name.
    """
    if type(value) is not str:
        return value
    try:
        found = datetime.fromisoformat(value)
        return found if found.tzinfo is None else found.astimezone(UTC)
    except (ValueError, OverflowError):
        return value


def plain_fault(value: Any) -> str:
    """Say what in a JSON value cannot be kept as it is; empty when all can."""
    level: list[Any] = [value]
    for _ in range(DEPTH_LIMIT):
        deeper: list[Any] = []
        for one in level:
            kind = type(one)
            if kind is RepeatedKeys:
                return f"names {_shown(one.key)} twice"
            if kind is dict:
                deeper += one
                deeper += one.values()
            elif kind is list:
                deeper += one
            elif kind is int:
                if abs(one) > INTEGER_LIMIT:
                    return "holds a whole number of more than 64 bits; send it as a string"
            elif kind is float:
                if one - one != 0:  # NaN or infinite
                    return "holds a number that is not finite"
            elif kind is str and (
                "\x00" in one
                or (not one.isascii() and any("\ud800" <= char <= "\udfff" for char in one))
            ):
                return "contains a NUL character or an unpaired surrogate"
        if not deeper:
            return ""
        level = deeper
    return f"is nested deeper than {DEPTH_LIMIT}"


def _tamed(value: Any) -> Any:
    """Return numbers that no float can hold as infinity, which the write path refuses."""
    if type(value) is int:
        return value if abs(value) < INTEGER_LIMIT else float("inf")
    if type(value) is list and any(type(one) is int for one in value):
        return [_tamed(one) if type(one) is int else one for one in value]
    return value


def _not_an_object(raw: Any) -> FieldError:
    if isinstance(raw, RepeatedKeys):
        return FieldError(_shown(raw.key), "is named twice", "repeated")
    return FieldError("", "a fact must be a JSON object", "type")


def _shown(name: str) -> str:
    """Return a field's name fit to be repeated in an answer."""
    return name[:_SHOWN].encode("utf-8", "replace").decode("utf-8")
