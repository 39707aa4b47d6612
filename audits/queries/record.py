"""One record and everything needed to doubt it: claims, chain, history, serves.

Owns the statements of the record page. Unknown, foreign and out of reach are
one ``None``. Inside a workspace scope.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from audits.domain.diff import Change, changes
from audits.queries.records import standing_marks
from audits.queries.rows import fetch
from records.cursors import Page, list_key, make_page, open_cursor
from records.domain.facts import Status
from records.domain.ranking import age_factor, corroboration_factor, validity_factor
from records.holds import HELD

CLAIMS_LIMIT = 50
CHAIN_LIMIT = 50
EVENTS_PAGE = 50
SERVES_PAGE = 50

RECORD = f"""SELECT r.id, r.partition_id, p.name AS partition, r.slot_id, r.fingerprint, r.subject,
    r.predicate,
    r.value, r.content, r.status, r.hold_reason, r.cardinality, r.negated, r.derived, r.source_id,
    so.name AS source, so.tier, so.suspended_at IS NOT NULL AS source_suspended, r.source_key,
    r.session_id,
    se.external_id AS session, se.agent, se.suspended_at IS NOT NULL AS session_suspended,
    r.extracted_by,
    r.external_id, r.tags, r.labels, r.metadata, r.confidence, r.stated_confidence, r.trust,
    r.corroboration, r.written_at, r.observed_at, r.valid_from, r.valid_until, r.valid_until_given,
    r.recorded_at,
    r.half_life_days, r.policy_version, r.status_at, r.prior_status, r.superseded_by,
    r.superseded_at, r.merged_into,
    (SELECT m.id FROM record_merge m WHERE m.gone_id = r.id AND m.parted_at IS NULL) AS merge_id,
    (SELECT count(*) FROM memory_record w WHERE w.merged_into = r.id) AS wordings,
    r.serve_after, r.recheck_at, r.recheck_reason, r.unlisted_at, r.verdict, r.findings,
    r.ruleset, r.gate_score, r.override, r.embedding_model IS NOT NULL AS embedded,
    r.embedding_partial, r.version, coalesce(t.seen_count, 1) AS seen_count,
    coalesce(t.first_seen, r.recorded_at) AS first_seen, greatest(t.last_seen,
    r.last_seen) AS last_seen,
    coalesce(t.sessions, 1) AS sessions, coalesce(t.sources, 1) AS sources, coalesce(t.confirmed,
    0) AS confirmed,
    coalesce(t.wrong, 0) AS wrong, coalesce(t.stale, 0) AS stale, st.validity AS standing_validity,
    st.age AS standing_age, {HELD} AS on_legal_hold
FROM memory_record r
JOIN partition p ON p.id = r.partition_id
JOIN source so ON so.id = r.source_id
JOIN session se ON se.id = r.session_id
LEFT JOIN tally t ON t.record_id = r.id
LEFT JOIN standing st ON st.record_id = r.id
WHERE r.id = %(id)s AND r.workspace_id = %(workspace)s"""

CLAIMS = """SELECT c.session_id, se.external_id AS session, se.agent,
    se.suspended_at IS NOT NULL AS suspended,
    so.name AS source, c.derived, c.state, c.first_at, c.last_at, c.count, c.echoes, c.confidence,
    c.evidence,
    c.wording
FROM claim c JOIN session se ON se.id = c.session_id JOIN source so ON so.id = c.source_id
WHERE c.record_id = %(id)s ORDER BY c.first_at, c.session_id, c.source_id LIMIT %(limit)s"""

# What replaced what, to both sides; and the others of the same slot, which a one-valued
# predicate makes one story.
CHAIN = """WITH RECURSIVE linked (id, superseded_by) AS (
    SELECT id, superseded_by FROM memory_record WHERE id = %(id)s
    UNION
    SELECT m.id, m.superseded_by FROM memory_record m
    JOIN linked l ON m.superseded_by = l.id OR m.id = l.superseded_by),
story AS (
    SELECT id FROM linked
    UNION
    SELECT id FROM memory_record WHERE slot_id = %(slot)s AND %(is_one)s)
SELECT r.id, r.value, r.status, r.hold_reason, r.order_at, r.recorded_at, r.superseded_by,
    r.confidence,
    r.session_id, se.external_id AS session
FROM memory_record r JOIN story USING (id) JOIN session se ON se.id = r.session_id
ORDER BY r.order_at DESC, r.id DESC LIMIT %(limit)s"""

EVENTS = """SELECT e.id, e.at, e.action, e.outcome, e.actor_kind, e.actor, e.role, e.session_id,
    e.reason,
    e.request_id, e.count, e.details, s.position
FROM event e LEFT JOIN sealed_event s ON s.event_id = e.id
WHERE e.target_id = %(id)s AND e.workspace_id = %(workspace)s AND e.id < %(before)s
ORDER BY e.id DESC LIMIT %(limit)s"""

SERVES = """SELECT s.recall_id, s.at, s.rank, s.score, s.current, s.session_id,
    coalesce(se.external_id, r.parameters->>'session') AS session, se.id IS NOT NULL AS has_written
FROM serve s LEFT JOIN session se ON se.id = s.session_id
LEFT JOIN recall r ON r.id = s.recall_id AND r.at = s.at
WHERE s.record_id = %(id)s AND s.workspace_id = %(workspace)s AND s.at < %(before)s
ORDER BY s.at DESC, s.recall_id LIMIT %(limit)s"""


def load_record(record_id: UUID, *, workspace_id: UUID, now: datetime) -> dict[str, Any] | None:
    """Return one record with what the clock makes of it, or ``None``."""
    found = fetch(RECORD, {"id": record_id, "workspace": workspace_id})
    if not found:
        return None
    row = found[0]
    row["marks"] = standing_marks(row, now) if row["status"] == Status.ACTIVE else []
    if row["session_suspended"] or row["source_suspended"]:
        row["marks"].append("suspended")
    if row["merged_into"]:
        row["marks"].append("merged")
    if row["on_legal_hold"]:
        row["marks"].append("legal_hold")
    row["waits"] = row["serve_after"] is not None and row["serve_after"] > now
    row["factors"] = _factors(row, now)
    return row


def is_record(record_id: UUID, *, workspace_id: UUID) -> bool:
    """Say whether there is such a record here."""
    found = fetch(
        "SELECT 1 FROM memory_record WHERE id = %(id)s AND workspace_id = %(workspace)s",
        {"id": record_id, "workspace": workspace_id},
    )
    return bool(found)


def load_claims(record_id: UUID) -> list[dict[str, Any]]:
    """Return who asserted the record, the first first, up to a bound."""
    return fetch(CLAIMS, {"id": record_id, "limit": CLAIMS_LIMIT + 1})


def load_chain(record: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the records of the same story, the newest first, each with what it changed."""
    rows = fetch(
        CHAIN,
        {
            "id": record["id"],
            "slot": record["slot_id"],
            "is_one": record["cardinality"] == "one",
            "limit": CHAIN_LIMIT + 1,
        },
    )
    for newer, older in zip(rows, [*rows[1:], None], strict=True):
        newer["changes"] = _changes(older, newer)
    return rows


def list_events(record_id: UUID, *, cursor: str | None, workspace_id: UUID) -> Page:
    """Return a page of what happened to the record, the last first."""
    key = list_key("console.events", workspace_id, record_id)
    place = open_cursor(cursor, key=key)
    rows = fetch(
        EVENTS,
        {
            "id": record_id,
            "workspace": workspace_id,
            "before": int(place[0]) if place else 2**62,
            "limit": EVENTS_PAGE + 1,
        },
    )
    return make_page(rows, limit=EVENTS_PAGE, key=key, place=lambda row: [row["id"]])


def list_serves(
    record_id: UUID, *, before: datetime | None, workspace_id: UUID, now: datetime
) -> list[dict[str, Any]]:
    """Return when and to whom the record was served, the last first; one more than a page."""
    return fetch(
        SERVES,
        {
            "id": record_id,
            "workspace": workspace_id,
            "before": before or now + timedelta(days=1),
            "limit": SERVES_PAGE + 1,
        },
    )


def _changes(older: dict[str, Any] | None, newer: dict[str, Any]) -> Sequence[Change]:
    if older is None or "erased" in (older["status"], newer["status"]):
        return ()
    return tuple(changes(older["value"], newer["value"]))


def _factors(row: dict[str, Any], now: datetime) -> list[tuple[str, float, str]]:
    """Return the factors of the score that do not depend on the question, each with its why."""
    reasons = standing_marks(row, now)
    age = age_factor(row["last_seen"], at=now, half_life_days=row["half_life_days"])
    support = corroboration_factor(row["corroboration"])
    validity = validity_factor(reasons)
    return [
        ("confidence", row["confidence"], f"stated {row['stated_confidence']:.2f}"),
        ("validity", validity, ", ".join(reasons) or "holds now"),
        (
            "age",
            age,
            f"half-life {row['half_life_days']:g} days" if row["half_life_days"] else "over a year",
        ),
        ("corroboration", support, f"{row['corroboration']} independent"),
        (
            "together",
            row["confidence"] * validity * age * support,
            "times the match with the question",
        ),
    ]
