"""What a bulk operation is about: which facts, by what they share. Pure.

Owns the value and its JSON form, which is stored with the operation. What it
selects is ``audits/operations/scoping.py``'s.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any
from uuid import UUID

from audits.domain.categories import Category
from records.domain.facts import Shared, Status

__all__ = ["CHOICES", "IDS_LIMIT", "STANDINGS", "Scope", "Shared", "WrongScope"]

IDS_LIMIT = 10_000  # sessions or records named one by one
STANDINGS = ("current", "expired", "recheck", "unlisted")
CHOICES = {
    "standing": STANDINGS,
    "status": tuple(str(one) for one in Status),
    "seen": ("again",),
    "found": tuple(str(one) for one in Category),
}

_IDS = frozenset({"source_id", "partition_id", "incident_id", "scan_id"})
_ID_LISTS = frozenset({"session_ids", "record_ids"})
_TIMES = frozenset({"since", "until"})
_PROVENANCE = ("session_ids", "source_id", "agent", "extracted_by")


class WrongScope(ValueError):
    """A scope that says nothing that can be looked up: the field and the problem."""

    def __init__(self, field: str, problem: str) -> None:
        super().__init__(f"{field}: {problem}")
        self.field = field
        self.problem = problem


@dataclass(frozen=True, slots=True)
class Scope:
    """Which facts: all parts hold at once; several sessions, or record ids, are alternatives.

    ``since`` (included) and ``until`` (left out) say when the claim was first
    made. ``extracted_by`` is the model that read the fact out of the talk. An
    ``incident_id`` stands for all that the incident's scope lists, any of it;
    a ``scan_id`` for the new hits of a scan, with ``rule`` for those of one rule.
    """

    session_ids: tuple[UUID, ...] = ()
    source_id: UUID | None = None
    agent: str | None = None
    extracted_by: str | None = None
    partition_id: UUID | None = None
    since: datetime | None = None
    until: datetime | None = None
    subject: str | None = None
    predicate: str | None = None
    text: str | None = None
    status: str | None = None
    hold_reason: str | None = None
    standing: str | None = None
    tag: str | None = None
    seen: str | None = None  # "again": said more than once
    found: str | None = None  # a category of what the gate found
    record_ids: tuple[UUID, ...] = ()
    incident_id: UUID | None = None
    scan_id: UUID | None = None
    rule: str | None = None

    def __post_init__(self) -> None:
        for name in _ID_LISTS:
            if len(getattr(self, name)) > IDS_LIMIT:
                raise WrongScope(name, f"may name at most {IDS_LIMIT:,}")
        for name in _TIMES:
            at = getattr(self, name)
            if at is not None and at.utcoffset() is None:
                raise WrongScope(name, "must say its time zone")
        if self.since is not None and self.until is not None and self.since >= self.until:
            raise WrongScope("until", "must be later than since")
        for name, choices in CHOICES.items():
            value = getattr(self, name)
            if value is not None and value not in choices:
                raise WrongScope(name, f"must be one of {', '.join(choices)}")

        if self.rule is not None and self.scan_id is None:
            raise WrongScope("rule", "goes with a scan")

    @property
    def is_empty(self) -> bool:
        """Whether nothing is said, which would be everything."""
        return not self.as_json()

    @property
    def is_provenance(self) -> bool:
        """Whether the facts are chosen by who asserts them: then claims are what is evicted."""
        return any(getattr(self, name) for name in _PROVENANCE)

    @property
    def is_by_source(self) -> bool:
        """Whether a source, and no session, is what the fences keep out."""
        return self.source_id is not None and not (
            self.session_ids or self.agent or self.extracted_by
        )

    def as_json(self) -> dict[str, Any]:
        """Return the parts that are said, as JSON."""
        found: dict[str, Any] = {}
        for field in fields(self):
            value = getattr(self, field.name)
            if value is None or value in ((), ""):
                continue
            if field.name in _ID_LISTS:
                found[field.name] = [str(one) for one in value]
            elif field.name in _TIMES:
                found[field.name] = value.isoformat()
            else:
                found[field.name] = str(value)
        return found

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Scope:
        """Read what ``as_json`` wrote, or a client did. WrongScope names what is wrong."""
        names = {field.name for field in fields(cls)}
        values: dict[str, Any] = {}
        for name, value in data.items():
            if name not in names:
                raise WrongScope(name, "is not a part of a scope")
            if value is not None:
                values[name] = _read(name, value)
        return cls(**values)


def _read(name: str, value: Any) -> Any:
    if name in _ID_LISTS:
        if not isinstance(value, list | tuple):
            raise WrongScope(name, "must be a list of ids")
        return tuple(dict.fromkeys(_uuid(name, one) for one in value))
    if name in _IDS:
        return _uuid(name, value)
    if not isinstance(value, str):
        raise WrongScope(name, "must be text")
    if name in _TIMES:
        try:
            return datetime.fromisoformat(value)
        except ValueError as error:
            raise WrongScope(name, "must be a time in ISO 8601") from error
    if "\0" in value or any("\ud800" <= letter <= "\udfff" for letter in value):
        raise WrongScope(name, "must be text without NUL and lone surrogates")
    return value


def _uuid(name: str, value: Any) -> UUID:
    try:
        return UUID(str(value))
    except ValueError as error:
        raise WrongScope(name, "must be an id") from error
