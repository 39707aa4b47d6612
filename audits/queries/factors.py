"""What a record's factors are replayed from: how it stands, who said it, events, policy versions.

Owns the statements; the replay is ``domain/factor_history.py``'s. Bounded: the
newest events and claims of a busy record. Inside a workspace scope.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.utils.dateparse import parse_datetime

from audits.domain.factor_history import Claim, Happened, Past, Version
from audits.domain.factors import State
from audits.queries.rows import fetch
from records.domain.facts import Status
from records.policies import UNKNOWN_TTL_DAYS

EVENTS_MOST = 500
CLAIMS_MOST = 500
SAYING = ("record.added", "record.updated", "record.late", "record.reinforced")

RECORD = """SELECT r.predicate, r.status, r.confidence, r.stated_confidence, r.recorded_at,
    coalesce(r.observed_at, r.written_at) AS seen_at, r.valid_from, r.valid_until,
    r.valid_until_given, r.half_life_days, r.recheck_at, r.unlisted_at, r.corroboration,
    greatest(r.last_seen, t.last_seen) AS last_seen, w.time_zone AS zone
FROM memory_record r JOIN workspace w ON w.id = r.workspace_id
LEFT JOIN tally t ON t.record_id = r.id
WHERE r.id = %(id)s AND r.workspace_id = %(workspace)s"""
# Synthesised sessions of one partition count as one speaker, a derived source as one.
CLAIMS = """SELECT CASE WHEN c.derived THEN 'source ' || c.source_id
        WHEN s.synthesised THEN 'partition ' || c.partition_id
        ELSE 'session ' || c.session_id END AS speaker,
    min(c.first_at) AS first_at, max(c.last_at) AS last_at, max(c.confidence) AS confidence,
    array_agg(c.session_id) AS sessions
FROM claim c JOIN session s ON s.id = c.session_id
WHERE c.record_id = %(id)s AND c.state <> 'held' AND c.count > 0
GROUP BY 1 ORDER BY 2 DESC LIMIT %(most)s"""
EVENTS = """SELECT at, action, session_id, details FROM event
WHERE target_id = %(id)s AND workspace_id = %(workspace)s AND outcome <> 'denied'
  AND (action LIKE 'record.%%' OR action LIKE 'feedback.%%'
    OR action LIKE 'claim.%%')
ORDER BY id DESC LIMIT %(most)s"""
FIRST = """SELECT details->>'status' AS status FROM event
WHERE target_id = %(id)s AND workspace_id = %(workspace)s AND details ? 'status'
ORDER BY id LIMIT 1"""
VERSIONS = """SELECT created_at, version, ttl_days, half_life_days FROM predicate_policy
WHERE workspace_id = %(workspace)s AND predicate = %(predicate)s ORDER BY version DESC LIMIT 100"""


@dataclass(frozen=True, slots=True)
class Loaded:
    """A record's past, and the time zone in which its workspace reads times."""

    past: Past
    zone: str


def load_past(record_id: UUID, *, workspace_id: UUID) -> Loaded | None:
    """Return what a record's factors are replayed from; ``None`` for unknown and foreign alike."""
    values = {"id": record_id, "workspace": workspace_id}
    found = fetch(RECORD, values)
    if not found:
        return None
    row = found[0]
    claims = fetch(CLAIMS, values | {"most": CLAIMS_MOST})
    events = fetch(EVENTS, values | {"most": EVENTS_MOST})
    first = fetch(FIRST, values)
    versions = fetch(VERSIONS, values | {"predicate": row["predicate"]})
    is_live = row["status"] == Status.ACTIVE
    speakers = {session: one["speaker"] for one in claims for session in one["sessions"]}
    happened = [_happened(one, speakers) for one in reversed(events)]
    was_given = row["valid_until_given"] and not any(
        one.action in ("record.extended", "record.ended", "record.approved") for one in happened
    )
    past = Past(
        written_at=row["recorded_at"],
        seen_at=row["seen_at"],
        stated=row["stated_confidence"],
        given_until=row["valid_until"] if was_given else None,
        was_live=first[0]["status"] == Status.ACTIVE if first else is_live,
        now=State(
            confidence=row["confidence"],
            last_seen=row["last_seen"],
            valid_from=row["valid_from"],
            valid_until=row["valid_until"],
            is_given=row["valid_until_given"],
            is_recheck=row["recheck_at"] is not None,
            is_unlisted=row["unlisted_at"] is not None,
            independent=row["corroboration"],
            half_life_days=row["half_life_days"],
            is_live=is_live,
        ),
        claims=[_claim(one, events) for one in reversed(claims)],
        events=happened,
        versions=[_unknown(row["recorded_at"]), *(_version(one) for one in versions)],
    )
    return Loaded(past, row["zone"])


def _claim(row: dict[str, Any], events: Sequence[dict[str, Any]]) -> Claim:
    """Return a claim with when its words arrived, where events of its sessions tell."""
    came = [
        one["at"]
        for one in events
        if one["action"] in SAYING and one["session_id"] in row["sessions"]
    ]
    return Claim(
        row["speaker"],
        row["first_at"],
        row["last_at"],
        row["confidence"],
        min(came, default=None),
        max(came, default=None),
    )


def _version(row: dict[str, Any]) -> Version:
    return Version(row["created_at"], row["version"], row["ttl_days"], row["half_life_days"])


def _unknown(written_at: datetime) -> Version:
    """Return what rules a predicate before it has a policy."""
    return Version(datetime.min.replace(tzinfo=written_at.tzinfo), 0, UNKNOWN_TTL_DAYS, None)


def _happened(row: dict[str, Any], speakers: Mapping[UUID, str]) -> Happened:
    details = row["details"] or {}
    action = row["action"]
    # A restoration can put a record back to where it waits or is past: still out of service.
    if details.get("to", Status.ACTIVE) != Status.ACTIVE and action in (
        "record.restored",
        "record.approved",
    ):
        action = "record.held"
    until = parse_datetime(details["until"]) if details.get("until") else None
    confidence = details.get("confidence")
    is_feedback = action.startswith("feedback.")
    return Happened(
        at=row["at"],
        action=action,
        until=until,
        confidence=(confidence[0], confidence[1]) if is_feedback and confidence else None,
        is_doubted=bool(details.get("recheck")) if is_feedback and "recheck" in details else None,
        is_counted=bool(details.get("counted", True)),
        speaker=speakers.get(row["session_id"], "") if action.startswith("claim.") else "",
    )
