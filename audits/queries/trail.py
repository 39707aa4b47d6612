"""The audit trail as a list: any filter, keyset pages, newest first, and one event with its place.

Owns the statements. A page walks one index (the *lead*) in its order and looks
at no more than ``BUDGET`` events for what no index knows; then it hands out a
cursor from where it stopped, so that paging on reaches every match and no page
takes long. ``condition`` says the same filter to an export. Inside a workspace
scope.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from audits.queries.flows import FLOWS, HIT
from audits.queries.rows import fetch
from records.cursors import SIGNER, Page, list_key, make_page, open_cursor

PAGE = 50
BUDGET = 10_000  # events that one page looks into for what no index knows
# What every write brings: dense, and not in the index by action (audits/sql/trail_reads.sql).
HOT_ACTIONS = frozenset(
    f"record.{one}" for one in ("added", "reinforced", "updated", "superseded", "echoed")
)
BULK = "(e.count > 1 OR e.details ? 'operation')"
REFUSED = "e.outcome IN ('denied', 'failed')"
COLUMNS = {  # the columns that a filter names, with their types
    "action": "text",
    "actor": "text",
    "actor_kind": "text",
    "role": "text",
    "outcome": "text",
    "target_kind": "text",
    "target_id": "uuid",
    "partition_id": "uuid",
    "session_id": "uuid",
    "request_id": "text",
    "reason": "text",
}
SHOWN = """e.id, s.position, encode(s.leaf, 'hex') AS leaf, e.at, e.actor_kind, e.actor, e.role,
    e.action, e.outcome, e.target_kind, e.target_id, e.partition_id, e.session_id,
    se.external_id AS session, p.name AS partition, e.reason, e.request_id, e.count, e.details,
    e.details->>'operation' AS operation, e.details->>'incident' AS incident"""
BESIDE = """LEFT JOIN sealed_event s ON s.event_id = e.id
LEFT JOIN session se ON se.id = e.session_id
LEFT JOIN partition p ON p.id = e.partition_id"""
RELATED = {"operation", "incident"}
LEADS_OF_PEOPLE = ("actor", "actor_kind")
LIKE_SPECIAL = str.maketrans({one: f"\\{one}" for one in "\\%_"})


@dataclass(frozen=True, slots=True)
class TrailFilter:
    """Which events to list; what is empty filters nothing.

    ``equal`` and ``unequal`` go by column. An action may end in ``.*``: the
    whole family. ``first`` and ``last`` are positions in the trail.
    """

    equal: tuple[tuple[str, str], ...] = ()
    unequal: tuple[tuple[str, tuple[str, ...]], ...] = ()
    operation: UUID | None = None
    incident: UUID | None = None
    since: datetime | None = None
    until: datetime | None = None
    first: int | None = None
    last: int | None = None
    is_denied: bool = False
    is_bulk: bool = False
    mine: str | None = None  # the name of the person who looks
    text: str | None = None
    flow: str | None = None  # what it did to the queue (queries/flows.py)
    rule: str | None = None  # a rule of the gate that hit a write

    @property
    def is_empty(self) -> bool:
        """Whether this is the list of everything."""
        return self == TrailFilter()


@dataclass(frozen=True, slots=True)
class Walk:
    """The way through the events: what the database follows, in which order, from where."""

    source: str
    key: tuple[str, ...]  # the columns of the order, all descending
    types: tuple[str, ...]
    leads: tuple[str, ...] = ()  # the conditions that the way itself takes care of


@dataclass(frozen=True, slots=True)
class TrailPage:
    """A page of events; ``looked_back_to`` when it stopped looking before it was full."""

    page: Page
    looked_back_to: datetime | None = None


BY_TIME = Walk("event e", ("e.at", "e.id"), ("timestamptz", "int8"))
BY_ID = Walk("event e", ("e.id",), ("int8",))
BY_POSITION = Walk(
    "sealed_event t JOIN event e ON e.id = t.event_id",
    ("t.position",),
    ("int8",),
    ("first", "last"),
)


def list_trail(
    wanted: TrailFilter, *, cursor: str | None, workspace_id: UUID, limit: int = PAGE
) -> TrailPage:
    """Return a page of events, newest first. BadRequest: the cursor is not one of this list."""
    key = list_key("console.trail", workspace_id, asdict(wanted))
    place = open_cursor(cursor, key=key)
    parts, values = conditions(wanted)
    walk = _walk(wanted, parts)
    values |= {"workspace": workspace_id, "limit": limit + 1, "budget": BUDGET, "before": 2**62}
    inner = ["e.workspace_id = %(workspace)s"]
    if walk is BY_POSITION:
        inner.append("t.workspace_id = %(workspace)s")
    if walk.leads == LEADS_OF_PEOPLE:
        inner.append("e.actor_kind <> 'key'")  # as the index by actor has it
    # The bounds and the leads narrow the walk; the rest is looked at on the way.
    narrow = {"since", "until", *walk.leads}
    inner += [text for name, text in parts.items() if name in narrow - RELATED]
    rest = [text for name, text in parts.items() if name not in narrow]
    if place is not None:
        names = [f"place_{n}" for n in range(len(walk.key))]
        values |= dict(zip(names, place, strict=True))
        values["before"] = place[-1]
        cast = ", ".join(f"%({n})s::{t}" for n, t in zip(names, walk.types, strict=True))
        inner.append(f"({', '.join(walk.key)}) < ({cast})")
    order = ", ".join(f"{one} DESC" for one in walk.key)
    way = f"FROM {walk.source} WHERE {' AND '.join(inner)} ORDER BY {order}"
    keys = ", ".join(f"{one} AS key_{n}" for n, one in enumerate(walk.key))
    seen = f"SELECT e.*, {keys} {way} LIMIT {'%(budget)s' if rest else '%(limit)s'}"
    shown_keys = [f"e.key_{n}" for n in range(len(walk.key))]
    shown_order = ", ".join(f"{one} DESC" for one in shown_keys)
    rows = fetch(
        f"""WITH page AS MATERIALIZED (SELECT * FROM ({seen}) AS e
                WHERE {" AND ".join(rest) or "true"} LIMIT %(limit)s)
            SELECT {SHOWN}, {", ".join(shown_keys)}
            FROM page e {BESIDE} ORDER BY {shown_order}""",
        values,
    )

    def place_of(row: Mapping[str, Any]) -> list[Any]:
        return [_text(row[f"key_{n}"]) for n in range(len(walk.key))]

    page = make_page(rows, limit=limit, key=key, place=place_of)
    if not rest or page.next_cursor is not None:
        return TrailPage(page)
    stopped = fetch(f"SELECT e.at, {keys} {way} OFFSET %(budget)s - 1 LIMIT 1", values)
    if not stopped:
        return TrailPage(page)
    on = SIGNER.sign_object([key, [str(part) for part in place_of(stopped[0])]])
    return TrailPage(Page(page.items, on), stopped[0]["at"])


def conditions(wanted: TrailFilter) -> tuple[dict[str, str], dict[str, Any]]:
    """Return a filter's conditions on the event ``e`` by name, with their values.

    Those called ``first`` and ``last`` are on the position ``t.position``.
    """
    parts: dict[str, str] = {}
    values: dict[str, Any] = {}
    for column, value in wanted.equal:
        parts[column] = _equal(column, value, f"is_{column}", values)
    for column, several in wanted.unequal:
        ways = [
            _equal(column, value, f"not_{column}_{n}", values) for n, value in enumerate(several)
        ]
        # What has no session is not of the session left out.
        parts[f"not_{column}"] = f"({' OR '.join(ways)}) IS NOT TRUE"
    for name in ("operation", "incident"):
        related = getattr(wanted, name)
        if related is not None:
            parts[name] = f"e.details ? '{name}' AND e.details ->> '{name}' = %({name})s"
            values[name] = str(related)
    bounds: tuple[tuple[str, Any, str], ...] = (
        ("since", wanted.since, "e.at >= %(since)s"),
        ("until", wanted.until, "e.at < %(until)s"),
        ("first", wanted.first, "t.position >= %(first)s"),
        ("last", wanted.last, "t.position <= %(last)s"),
    )
    for name, bound, text in bounds:
        if bound is not None:
            parts[name] = text
            values[name] = bound
    if wanted.is_denied:
        parts["refused"] = REFUSED
    if wanted.is_bulk:
        parts["bulk"] = BULK
    if wanted.mine is not None:
        parts["mine"] = "e.actor_kind = 'user' AND e.actor = %(mine)s"
        values["mine"] = wanted.mine
    if wanted.flow is not None:
        parts["flow"] = f"({FLOWS[wanted.flow]})"
    if wanted.rule is not None:
        parts["rule"] = f"({HIT} AND e.details->'rules' ? %(rule)s)"
        values["rule"] = wanted.rule
    if wanted.text is not None:
        words = wanted.text.split() or [wanted.text]
        for n, word in enumerate(words):
            values[f"word_{n}"] = f"%{word.translate(LIKE_SPECIAL)}%"
        parts["text"] = " AND ".join(
            f"(e.action ILIKE %(word_{n})s OR e.reason ILIKE %(word_{n})s"
            f" OR e.details::text ILIKE %(word_{n})s)"
            for n in range(len(words))
        )
    return parts, values


def _equal(column: str, value: str, name: str, values: dict[str, Any]) -> str:
    if column == "action" and value.endswith(".*"):
        values[name] = f"{value[:-1].translate(LIKE_SPECIAL)}%"
        return f"e.action LIKE %({name})s"
    values[name] = value
    return f"e.{column} = %({name})s::{COLUMNS[column]}"


def _walk(wanted: TrailFilter, parts: Mapping[str, str]) -> Walk:
    """Choose the way that leads past the fewest events."""
    if "first" in parts or "last" in parts:
        return BY_POSITION
    for name in ("operation", "incident"):
        if name in parts:
            source = (
                f"memconsole_events_of('{name}', %({name})s::uuid, %(before)s::bigint, %(budget)s)"
                " AS found (id) JOIN event e ON e.id = found.id"
            )
            return Walk(source, BY_ID.key, BY_ID.types, (name,))
    equal = dict(wanted.equal)
    for name in ("target_id", "session_id"):
        if name in equal:
            return Walk(BY_ID.source, BY_ID.key, BY_ID.types, (name,))
    return Walk(BY_TIME.source, BY_TIME.key, BY_TIME.types, _leads(equal, parts))


def _leads(equal: Mapping[str, str], parts: Mapping[str, str]) -> tuple[str, ...]:
    """Return the conditions that have an index in the order of time; at most one such index."""
    action = equal.get("action", "")
    if action and not action.endswith(".*") and action not in HOT_ACTIONS:
        return ("action",)
    if "mine" in parts:
        return ("mine",)
    if "actor" in equal and equal.get("actor_kind", "key") != "key":
        return LEADS_OF_PEOPLE
    if equal.get("outcome") in ("denied", "failed"):
        return ("outcome",)
    return next(((one,) for one in ("refused", "bulk") if one in parts), ())


def _text(value: Any) -> str:
    return value.isoformat() if isinstance(value, datetime) else str(value)


def load_event(event_id: int, *, workspace_id: UUID) -> dict[str, Any] | None:
    """Return one event with its place in the trail; ``None`` for unknown and foreign alike."""
    found = fetch(
        f"SELECT {SHOWN} FROM event e {BESIDE} WHERE e.id = %(id)s AND e.workspace_id = %(w)s",
        {"id": event_id, "w": workspace_id},
    )
    return found[0] if found else None


def load_neighbours(position: int, *, workspace_id: UUID) -> list[dict[str, Any]]:
    """Return the events before and after a position, in the trail's order."""
    return fetch(
        """SELECT s.position, s.event_id AS id, e.at, e.action, e.actor
           FROM sealed_event s LEFT JOIN event e ON e.id = s.event_id
           WHERE s.workspace_id = %(w)s AND s.position IN (%(p)s - 1, %(p)s + 1)
           ORDER BY s.position""",
        {"w": workspace_id, "p": position},
    )


def find_position(position: int, *, workspace_id: UUID) -> int | None:
    """Return the event at a position of the trail."""
    found = fetch(
        "SELECT event_id FROM sealed_event WHERE workspace_id = %(w)s AND position = %(p)s",
        {"w": workspace_id, "p": position},
    )
    return int(found[0]["event_id"]) if found else None
