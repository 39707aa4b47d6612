"""From a scope to SQL: which records it selects, and what would become of each.

Owns the statements' text; runs nothing but the look-up of an incident's list, and of what was erased.
The conditions on a record are those of the records list, so that what a filter
shows is what its operation targets. Statements are for a workspace scope.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import UUID

from audits.domain.categories import Category, found_condition
from audits.domain.operations import Kind
from audits.domain.scope import Scope, WrongScope
from audits.models import Incident, IncidentScope, Operation
from audits.queries.records import SEEN, STANDINGS
from records import queries
from records.curate.fencing import ENDINGS, erased_among
from records.domain import canonical
from records.domain.terms import query_terms
from records.holds import HELD
from records.items import NotFound
from records.store import TAKEN

OUT = "('evicted', 'erased', 'retracted', 'rejected')"
ANEW = TAKEN.replace("r.", "o.")  # the same fact ``o`` stands again, or is merged elsewhere
# What an operation evicted where facts have been erased, which only their digests tell.
FENCED_BY_DIGEST = """SELECT r.id, r.partition_id, r.fingerprint
FROM operation_target t JOIN memory_record r ON r.id = t.record_id
WHERE t.operation_id = %(undoes)s AND t.workspace_id = %(workspace)s AND t.outcome = 'evicted'
  AND r.status = 'evicted' AND t.partition_id IN (
    SELECT f.partition_id FROM fence f WHERE f.workspace_id = %(workspace)s AND f.keyed AND f.lifted_at IS NULL)"""
Entry = dict[str, str]  # one thing of an incident's list: its kind, and its id or text


@dataclass(slots=True)
class Parts:
    """A statement as it is put together: its conditions and the values they name."""

    values: dict[str, Any]
    where: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Chosen:
    """What a scope selects, as SQL: ``rows`` gives (id, partition_id, version, grp).

    ``claim`` is the condition on a claim ``c`` of a record ``r`` that the scope
    is about, and ``whole`` the one on a record that is meant whoever asserts it;
    None where there is no such thing.
    """

    rows: str
    values: dict[str, Any]
    claim: str | None
    whole: str | None


def choose(kind: str, scope: Scope, *, workspace_id: UUID, entries: Sequence[Entry] = ()) -> Chosen:
    """Return the statement of a scope's targets as of now; ``entries`` are its incident's.

    WrongScope: it would select everything, or nothing that can be looked up.
    """
    if scope.is_empty:
        raise WrongScope("scope", "must name something: not every fact there is")
    parts = Parts({"workspace": workspace_id})
    claim, whole = _conditions(scope, entries, parts)
    sources = []
    if claim is not None:
        sources.append(
            f"""SELECT r.id, bool_or(c.state <> 'dropped') AS is_claimed, false AS is_whole
                FROM claim c JOIN memory_record r ON r.id = c.record_id
                WHERE c.workspace_id = %(workspace)s AND {claim} GROUP BY r.id"""
        )
    if whole is not None:
        sources.append(f"SELECT r.id, true, true FROM {_table(scope, parts)} WHERE {whole}")
    found = sources[0]
    if len(sources) > 1:
        found = f"""SELECT id, bool_or(is_claimed) AS is_claimed, bool_or(is_whole) AS is_whole
                    FROM ({" UNION ALL ".join(sources)}) AS every GROUP BY id"""
    elif claim is None:
        found = f"SELECT id, true AS is_claimed, true AS is_whole FROM ({found}) AS every"
    group = _group(kind, claim)
    where = " AND ".join(["r.workspace_id = %(workspace)s", *parts.where])
    rows = f"""SELECT r.id, r.partition_id, r.version, {group} AS grp
        FROM ({found}) AS chosen JOIN memory_record r ON r.id = chosen.id WHERE {where}"""
    return Chosen(rows, parts.values, claim, whole)


def choose_for(operation: Operation, *, is_frozen: bool = False) -> Chosen:
    """Return the statement of an operation's targets as of now.

    ``is_frozen``: an incident's list as it was at the preview, not as it is.
    """
    if operation.kind == Kind.RESTORE:
        assert operation.undoes is not None
        return choose_undo(operation.undoes, workspace_id=operation.workspace_id)
    scope = Scope.from_json(operation.scope)
    entries = (
        operation.options.get("entries", ())
        if is_frozen
        else entries_of(scope, workspace_id=operation.workspace_id)
    )
    return choose(operation.kind, scope, workspace_id=operation.workspace_id, entries=entries)


def choose_undo(operation_id: UUID, *, workspace_id: UUID) -> Chosen:
    """Return the statement of what undoing an operation would bring back as of now."""
    # An eviction, and a hold, move a record's version by exactly one.
    rows = f"""SELECT r.id, r.partition_id, r.version, CASE
            WHEN t.outcome = 'dropped' THEN CASE WHEN EXISTS (
                SELECT 1 FROM claim c WHERE c.record_id = r.id AND c.state = 'dropped'
                  AND c.dropped_by = %(undoes)s) AND r.status IN ('active', 'superseded')
                THEN 'claims' ELSE 'changed' END
            WHEN t.outcome = 'held' AND (r.status <> 'quarantined' OR r.version <> t.version + 1)
                THEN 'changed'
            WHEN t.outcome = 'held' THEN CASE WHEN EXISTS (
                SELECT 1 FROM memory_record o WHERE o.partition_id = r.partition_id
                  AND o.fingerprint = r.fingerprint AND o.status = 'active')
                THEN 'anew' ELSE 'restore' END
            WHEN r.status <> 'evicted' OR r.version <> t.version + 1 THEN 'changed'
            WHEN r.id = ANY(%(erased)s::uuid[]) OR EXISTS ({ENDINGS}) THEN 'changed'
            WHEN r.prior_status <> 'superseded' AND EXISTS (
                SELECT 1 FROM memory_record o WHERE o.partition_id = r.partition_id
                  AND o.fingerprint = r.fingerprint AND {ANEW}) THEN 'anew'
            ELSE 'restore' END AS grp
        FROM operation_target t JOIN memory_record r ON r.id = t.record_id
        WHERE t.operation_id = %(undoes)s AND t.workspace_id = %(workspace)s
          AND t.outcome IN ('evicted', 'dropped', 'held')"""
    values: dict[str, Any] = {"workspace": workspace_id, "undoes": operation_id}
    with queries.cursor() as cur:
        cur.execute(FENCED_BY_DIGEST, values)
        values["erased"] = erased_among(cur, cur.fetchall(), workspace_id)
    return Chosen(rows, values, None, None)


def entries_of(scope: Scope, *, workspace_id: UUID) -> list[Entry]:
    """Return what the scope's incident lists now; NotFound when there is no such incident."""
    if scope.incident_id is None:
        return []
    if not Incident.objects.filter(id=scope.incident_id, workspace_id=workspace_id).exists():
        raise NotFound("incident")
    listed = IncidentScope.objects.filter(
        incident_id=scope.incident_id, workspace_id=workspace_id, removed_at=None
    ).order_by("id")
    return [{"kind": one.kind, "text": one.text, "id": str(one.target_id or "")} for one in listed]


def _conditions(
    scope: Scope, entries: Sequence[Entry], parts: Parts
) -> tuple[str | None, str | None]:
    """Return the condition on claims and the one on records, of which at least one is there."""
    if scope.incident_id is not None:
        _narrow(replace(scope, incident_id=None), parts)
        return _listed(scope, entries, parts)
    if scope.is_provenance:
        _narrow(scope, parts)
        return _claimed(scope, parts), None
    whole = Parts(parts.values)
    _narrow(scope, whole)
    if scope.since is not None or scope.until is not None:
        window = _window(scope, parts)
        whole.where.append(f"EXISTS (SELECT 1 FROM claim c WHERE c.record_id = r.id AND {window})")
    return None, " AND ".join(["r.workspace_id = %(workspace)s", *whole.where])


def _table(scope: Scope, parts: Parts) -> str:
    """Return where records are read from: the text index first, where words are given."""
    if scope.incident_id is not None or (scope.text is None and scope.tag is None):
        return "memory_record r"
    return f"{_searched(scope, parts)} AS hit (id) JOIN memory_record r ON r.id = hit.id"


def _searched(scope: Scope, parts: Parts) -> str:
    """Return the call that finds records by their words and a tag, all of them."""
    terms = query_terms(scope.text) if scope.text is not None else None
    if terms is not None and not terms:
        raise WrongScope("text", "has no word to look for")
    parts.values |= {"terms": list(terms) if terms else None, "tag": scope.tag}
    return "memconsole_search(%(terms)s, %(tag)s, NULL)"


def _narrow(scope: Scope, parts: Parts) -> None:
    """Add the conditions on the record, the same as the records list's."""
    for column in ("status", "hold_reason", "partition_id", "predicate"):
        value = getattr(scope, column)
        if value is not None:
            parts.where.append(f"r.{column} = %({column})s")
            parts.values[column] = value
    if scope.hold_reason is not None and scope.status is None:
        parts.where.append("r.status = 'quarantined'")
    if scope.subject is not None:
        parts.where.append("r.subject_key = %(subject)s")
        parts.values["subject"] = canonical.identifier(scope.subject)
    if scope.standing is not None:
        parts.where.append(f"({STANDINGS[scope.standing]})")
    if scope.seen is not None:
        parts.where.append(SEEN[scope.seen])
    if scope.found is not None:
        parts.where.append(found_condition(Category(scope.found)))
        if scope.status is None:
            parts.where.append("r.status IN ('quarantined', 'rejected')")
    if scope.record_ids:
        parts.where.append("r.id = ANY(%(records)s)")
        parts.values["records"] = list(scope.record_ids)
    if scope.scan_id is not None:
        of_rule = "AND %(rule)s = ANY(h.rules)" if scope.rule is not None else ""
        parts.where.append(
            f"""r.id IN (SELECT h.record_id FROM scan_hit h WHERE h.scan_id = %(scan)s
                AND h.kind = 'new' {of_rule})"""
        )
        parts.values |= {"scan": scope.scan_id, "rule": scope.rule}
    if (scope.is_provenance or scope.incident_id) and (scope.text or scope.tag):
        parts.where.append(f"r.id IN (SELECT * FROM {_searched(scope, parts)})")


def _claimed(scope: Scope, parts: Parts) -> str:
    """Return the condition on a claim ``c`` of a record ``r``."""
    where = []
    if scope.session_ids:
        where.append("c.session_id = ANY(%(sessions)s)")
        parts.values["sessions"] = list(scope.session_ids)
    if scope.source_id is not None:
        where.append("c.source_id = %(source)s")
        parts.values["source"] = scope.source_id
    if scope.agent:
        where.append(f"c.session_id IN ({_sessions('agent')})")
        parts.values["agent"] = scope.agent
    if scope.extracted_by:
        # A record keeps the model of the write that made it; a later claim has its session's.
        where.append(
            f"""CASE WHEN r.extracted_by <> '' AND r.session_id = c.session_id
                THEN r.extracted_by = %(extracted_by)s
                ELSE c.session_id IN ({_sessions("extracted_by")}) END"""
        )
        parts.values["extracted_by"] = scope.extracted_by
    if scope.since is not None or scope.until is not None:
        where.append(_window(scope, parts))
    return " AND ".join(where)


def _sessions(column: str) -> str:
    return f"SELECT id FROM session WHERE workspace_id = %(workspace)s AND {column} = %({column})s"


def _window(scope: Scope, parts: Parts) -> str:
    """Return the condition on when a claim ``c`` was first made."""
    where = []
    if scope.since is not None:
        where.append("c.first_at >= %(since)s")
        parts.values["since"] = scope.since
    if scope.until is not None:
        where.append("c.first_at < %(until)s")
        parts.values["until"] = scope.until
    return " AND ".join(where)


def _listed(scope: Scope, entries: Sequence[Entry], parts: Parts) -> tuple[str | None, str | None]:
    """Return the conditions that an incident's list makes: any of it, the rest of the scope too."""
    by_kind: dict[str, list[UUID]] = {}
    for one in entries:
        if one["kind"] != "text":
            by_kind.setdefault(one["kind"], []).append(UUID(one["id"]))
    claims, wholes = [], []
    for kind, column in (("session", "c.session_id"), ("source", "c.source_id")):
        if kind in by_kind:
            claims.append(f"{column} = ANY(%(listed_{kind})s)")
    for kind, column in (("partition", "r.partition_id"), ("record", "r.id")):
        if kind in by_kind:
            wholes.append(f"{column} = ANY(%(listed_{kind})s)")
    parts.values |= {f"listed_{kind}": ids for kind, ids in by_kind.items()}
    for place, one in enumerate(e for e in entries if e["kind"] == "text"):
        if terms := query_terms(one["text"]):
            parts.values[f"terms{place}"] = list(terms)
            wholes.append(
                f"r.id IN (SELECT * FROM memconsole_search(%(terms{place})s, NULL, NULL))"
            )
    if not claims and not wholes:
        raise WrongScope("incident_id", "lists nothing that facts could be found by")
    claim = f"({' OR '.join(claims)})" if claims else None
    if claim and scope.is_provenance:
        claim += f" AND {_claimed(scope, parts)}"
    elif claim and (scope.since is not None or scope.until is not None):
        claim += f" AND {_window(scope, parts)}"
    return claim, f"({' OR '.join(wholes)})" if wholes else None


def _group(kind: str, claim: str | None) -> str:
    """Return the expression of what becomes of a record ``r`` that was chosen."""
    if kind == Kind.HOLD:
        return """CASE r.status WHEN 'active' THEN 'take' WHEN 'quarantined' THEN 'held' ELSE 'gone' END"""
    if kind == Kind.ERASE:
        return f"""CASE WHEN r.status = 'erased' THEN 'gone' WHEN {HELD} THEN 'hold' ELSE 'erase' END"""
    shared = ""
    if claim is not None:
        shared = f"""WHEN NOT chosen.is_whole AND EXISTS (
            SELECT 1 FROM claim c WHERE c.record_id = r.id AND c.state IN ('live', 'moved') AND NOT ({claim}))
            THEN 'shared'"""
    return f"""CASE WHEN r.status = 'erased' THEN 'beyond'
        WHEN r.status IN {OUT} OR NOT chosen.is_claimed THEN 'gone'
        WHEN {HELD} THEN 'hold' {shared}
        WHEN r.status = 'superseded' THEN 'superseded' ELSE 'evict' END"""
