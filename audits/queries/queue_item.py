"""The open item of the queue: the fact, the evidence, and what would happen if it were approved.

Owns one statement beside the record's own, each part of it capped, so that the page
costs the same for every fact. Inside a workspace scope.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from audits.domain.approval import Outlook, foresee
from audits.domain.diff import changes
from audits.queries.queue import COUNT_CAP, Asking, QueueFilter, count_statement
from audits.queries.record import load_record
from audits.queries.rows import fetch
from records.domain.canonical import value_key
from records.domain.gate.views import readings
from records.domain.risk import Risk
from records.policies import PolicyBook

CLAIMS = 5
NOTES = 10
SERVES = 1_000
NEIGHBOURS = 1_000
SIMILAR = 5
SAMPLE = 500
READINGS = 6

AROUND = """SELECT r.order_at, r.cardinality, r.risk,
  (SELECT jsonb_agg(to_jsonb(one) ORDER BY one.first_at) FROM (
     SELECT c.session_id, se.external_id AS session, se.agent, so.name AS source, so.tier, c.derived,
            c.state, c.first_at, c.last_at, c.count, c.evidence, c.wording,
            se.suspended_at IS NOT NULL AS suspended
     FROM claim c JOIN session se ON se.id = c.session_id JOIN source so ON so.id = c.source_id
     WHERE c.record_id = r.id ORDER BY c.first_at LIMIT %(claims)s) AS one) AS claims,
  (SELECT to_jsonb(one) FROM (
     SELECT l.id, l.value, l.confidence, l.order_at, l.last_seen, l.extracted_by, l.session_id,
            ls.external_id AS session, so.name AS source,
            (SELECT count(*) FROM (SELECT 1 FROM serve v WHERE v.record_id = l.id LIMIT %(serves)s) s)
                AS serves
     FROM memory_record l JOIN session ls ON ls.id = l.session_id JOIN source so ON so.id = l.source_id
     WHERE l.slot_id = r.slot_id AND r.cardinality = 'one' AND l.status = 'active'
       AND l.cardinality = 'one' LIMIT 1) AS one) AS live,
  (SELECT count(*) FROM (SELECT 1 FROM memory_record l WHERE l.slot_id = r.slot_id
     AND l.status = 'active' LIMIT 100) s) AS beside,
  (SELECT to_jsonb(one) FROM (
     SELECT h.id, h.value FROM address a JOIN memory_record h ON h.id = a.record_id
     WHERE a.source_id = r.source_id AND a.partition_id = r.partition_id
       AND a.source_key = r.source_key AND h.status = 'active' AND h.id <> r.id) AS one) AS addressed,
  (SELECT to_jsonb(one) FROM (
     SELECT count(*) AS serves, count(DISTINCT session_id) AS sessions, max(at) AS last_at FROM (
        SELECT v.session_id, v.at FROM serve v WHERE v.record_id = r.id
        ORDER BY v.at DESC LIMIT %(serves)s) s) AS one) AS exposure,
  (SELECT jsonb_object_agg(status, n) FROM (
     SELECT m.status, count(*) AS n FROM (
        SELECT DISTINCT record_id FROM claim WHERE session_id = r.session_id
        ORDER BY record_id DESC LIMIT %(neighbours)s) c
     JOIN memory_record m ON m.id = c.record_id GROUP BY m.status) AS one) AS neighbours,
  (SELECT jsonb_agg(to_jsonb(one)) FROM (
     SELECT h.id, h.subject, h.predicate, h.value, h.value = r.value AS same_value
     FROM (SELECT id FROM memory_record WHERE workspace_id = %(workspace)s AND status = 'quarantined'
           ORDER BY risk DESC, id LIMIT %(sample)s) q JOIN memory_record h ON h.id = q.id
     WHERE h.id <> r.id AND (h.value = r.value OR (h.session_id = r.session_id AND EXISTS (
           SELECT 1 FROM jsonb_array_elements(h.findings) f WHERE f->>'rule' = %(rule)s)))
     ORDER BY h.value = r.value DESC, h.id LIMIT %(similar)s) AS one) AS similar,
  (SELECT jsonb_agg(to_jsonb(one) ORDER BY one.id) FROM (
     SELECT n.id, n.user, n.text, n.written_at FROM review_note n WHERE n.record_id = r.id
     ORDER BY n.id DESC LIMIT %(notes)s) AS one) AS notes,
  (SELECT to_jsonb(one) FROM (
     SELECT d.id, d.user, d.user_id = %(me)s AS mine, d.verb, d.reason, d.note, d.decided_at
     FROM review_decision d WHERE d.record_id = r.id AND d.undone_at IS NULL
     ORDER BY d.id DESC LIMIT 1) AS one) AS decision,
  (SELECT to_jsonb(one) FROM (
     SELECT d.id, d.record_id, d.verb, d.decided_at, CASE WHEN d.idempotency_key LIKE 'bulk:%%'
            THEN split_part(d.idempotency_key, ':', 2) END AS bulk
     FROM review_decision d WHERE d.workspace_id = %(workspace)s AND d.user_id = %(me)s
       AND d.undone_at IS NULL ORDER BY d.id DESC LIMIT 1) AS one) AS mine,
  ({count}) AS open
FROM memory_record r WHERE r.id = %(id)s AND r.workspace_id = %(workspace)s"""


def load_item(
    record_id: UUID, *, wanted: QueueFilter, asking: Asking, book: PolicyBook
) -> dict[str, Any] | None:
    """Return everything a reviewer needs for one fact, held or not; ``None`` when unknown."""
    record = load_record(record_id, workspace_id=asking.workspace_id, now=asking.now)
    if record is None:
        return None
    findings = record["findings"] or []
    counted, values = count_statement(wanted, asking=asking)
    around = fetch(
        AROUND.replace("{count}", counted),
        {
            **values,
            "id": record_id,
            "rule": findings[0]["rule"] if findings else "",
            "claims": CLAIMS + 1,
            "serves": SERVES + 1,
            "neighbours": NEIGHBOURS,
            "similar": SIMILAR,
            "sample": SAMPLE,
            "notes": NOTES,
        },
    )[0]
    for part in ("claims", "notes"):
        around[part] = [_dated(one) for one in around[part] or ()]
    for part in ("live", "exposure", "decision", "mine"):
        around[part] = _dated(around[part]) if around[part] else None
    record |= {
        "grade": Risk(around["risk"]).name.lower(),
        "is_high": around["risk"] >= Risk.HIGH,
        "order_at": around["order_at"],
    }
    live = around["live"]
    outlook = foresee(
        cardinality=record["cardinality"],
        order_at=record["order_at"],
        valid_until=record["valid_until"],
        incumbent_at=live["order_at"] if live else None,
        beside=around["beside"],
        now=asking.now,
    )
    policy = book.resolve(record["predicate"])
    return {
        "record": record,
        **around,
        "outlook": outlook,
        "is_replacing": outlook is Outlook.REPLACES,
        "changes": list(changes(live["value"], record["value"])) if live else [],
        "normalised": _normalised(record, policy),
        "readings": _readings(record),
        "neighbours": _neighbours(around["neighbours"] or {}),
        "claims_most": CLAIMS,
        "open_cap": COUNT_CAP,
        "serves_cap": SERVES,
    }


def _dated(row: dict[str, Any]) -> dict[str, Any]:
    """Read the instants of a row that came as JSON."""
    return {
        name: datetime.fromisoformat(value)
        if isinstance(value, str) and (name.endswith("_at") or name == "last_seen")
        else value
        for name, value in row.items()
    }


def _normalised(record: Mapping[str, Any], policy: Any) -> str:
    """Return the value as identity compares it, where that says something else."""
    if not record["value"]:
        return ""
    compared = value_key(record["value"], policy, record["observed_at"])
    return "" if record["value"].casefold() in compared.casefold() else compared


def _readings(record: Mapping[str, Any]) -> list[dict[str, str]]:
    """Return the decoded and unmasked texts in which findings were made."""
    wanted = {(one["field"], one["view"]) for one in record["findings"] or ()}
    found: list[dict[str, str]] = []
    for name in ("value", "content", "subject"):
        if not any(place == name for place, _ in wanted):
            continue
        found += [
            {"field": name, "view": view.name, "text": view.text}
            for view in readings(name, record[name]).views
            if (name, view.name) in wanted
        ]
    return found[:READINGS]


def _neighbours(counted: Mapping[str, int]) -> dict[str, int]:
    return {
        "held": counted.get("quarantined", 0),
        "active": counted.get("active", 0),
        "rejected": counted.get("rejected", 0),
        "other": sum(
            n
            for status, n in counted.items()
            if status not in ("quarantined", "active", "rejected")
        ),
    }
