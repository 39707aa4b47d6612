"""The certificate of an erasure: what was destroyed, by whom, what was kept and why; signed.

Owns its text and its signature. It names nobody: whom it was about is a digest
keyed by the workspace, which tells when the same name is given again. The
event that ends the erasure holds the certificate's hash, so that the trail
vouches for it as well. Inside a workspace scope.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from datetime import datetime
from hashlib import sha256
from typing import Any

import psycopg

from audits import keys
from audits.models import Approval, Operation, SubjectRequest
from audits.queries.rows import fetch
from audits.seals import instant
from audits.subjects.requests import NOBODY
from records.access import Access
from records.queries import Row

FORMAT = "memconsole-erasure/1"

KEPT = (
    (
        "the structure of the audit trail",
        "that something was written, by which session, when, and what became of it: ids, times, codes"
        " and digests whose keys are destroyed. Without it nobody could prove the rest",
    ),
    (
        "a keyed digest of each fact",
        "so that the fact does not come back with the next import. It cannot be guessed without the"
        " workspace's key",
    ),
    (
        "reasons that people typed when they acted",
        "they are part of sealed events and cannot be changed by anybody. Forms ask people not to quote"
        " memories there",
    ),
    (
        "backups and exports made before",
        "they lie outside this database and end with their own retention",
    ),
)


def make(
    cur: psycopg.Cursor[Row],
    request: SubjectRequest,
    operation: Operation,
    *,
    access: Access,
    now: datetime,
) -> dict[str, Any]:
    """Return the signed certificate of an erasure whose every part is done."""
    signer = keys.signer()
    approval = Approval.objects.filter(
        id=operation.approval_id or NOBODY, workspace_id=access.workspace_id
    ).first()
    said: dict[str, Any] = {
        "format": FORMAT,
        "request": str(request.id),
        "workspace": str(access.workspace_id),
        "about": {
            "kind": "partition" if request.partition_id is not None else "subject",
            "digest": request.subject_digest,
        },
        "requested": {"by": request.requested_by, "at": instant(request.created_at)},
        "agreed": _agreed(approval),
        "finished_at": instant(now),
        "operation": str(operation.id),
        "records": _records(cur, operation),
        "beside": _beside(request, operation),
        "kept": [{"what": what, "why": why} for what, why in KEPT],
        "holds": _holds(operation),
        "events": _events(operation),
        "outside": _outside(access),
        "key": signer.key_id,
    }
    return {**said, "signature": base64.b64encode(signer.sign(signed_text(said))).decode()}


def signed_text(said: Mapping[str, Any]) -> bytes:
    """Return the bytes that are signed: sorted, compact, without the signature."""
    body = {name: value for name, value in said.items() if name != "signature"}
    return json.dumps(body, sort_keys=True, ensure_ascii=False, separators=(",", ":")).encode()


def digest(said: Mapping[str, Any]) -> str:
    """Return the hash by which the trail names this certificate."""
    return sha256(signed_text(said)).hexdigest()


def is_genuine(said: Mapping[str, Any]) -> bool:
    """Say whether one of the trail's keys has signed exactly this."""
    public = keys.public_keys().get(str(said.get("key")))
    try:
        signature = base64.b64decode(str(said.get("signature", "")), validate=True)
    except ValueError:
        return False
    return public is not None and keys.is_signed(signed_text(said), signature, public)


def _agreed(approval: Approval | None) -> dict[str, Any] | None:
    if approval is None or approval.decided_at is None:
        return None
    return {
        "by": approval.decided_by,
        "at": instant(approval.decided_at),
        "alone": approval.is_alone,
    }


def _records(cur: psycopg.Cursor[Row], operation: Operation) -> dict[str, Any]:
    """Return how many records were erased, of which status, and a digest over which."""
    cur.execute(
        """SELECT r.prior_status, count(*) FROM operation_target t JOIN memory_record r ON r.id = t.record_id
           WHERE t.operation_id = %s AND t.workspace_id = %s AND t.outcome = 'erased' GROUP BY 1 ORDER BY 1""",
        [operation.id, operation.workspace_id],
    )
    statuses = {row[0] or "unknown": row[1] for row in cur}
    cur.execute(
        """SELECT encode(sha256(convert_to(coalesce(string_agg(t.record_id::text || ' ' || coalesce((
               SELECT f.fingerprint FROM fence f WHERE f.record_id = t.record_id AND f.keyed LIMIT 1), '-'),
               E'\\n' ORDER BY t.record_id), ''), 'UTF8')), 'hex')
           FROM operation_target t
           WHERE t.operation_id = %s AND t.workspace_id = %s AND t.outcome = 'erased'""",
        [operation.id, operation.workspace_id],
    )
    row = cur.fetchone()
    return {
        "erased": sum(statuses.values()),
        "were": statuses,
        "digest": row[0] if row else "",
        "digest_of": "a line 'record-id keyed-digest' for each, sorted by id, SHA-256",
    }


def _beside(request: SubjectRequest, operation: Operation) -> dict[str, int]:
    """Return what was destroyed beside the records, as the trail counted it."""
    rows = fetch(
        """SELECT CASE e.action WHEN 'erasure.destroyed' THEN e.target_kind ELSE 'quotes' END AS kind,
               sum(e.count) AS count
           FROM event e
           WHERE e.workspace_id = %(workspace)s AND e.id >= %(first)s
             AND e.action IN ('erasure.destroyed', 'erasure.quotes') GROUP BY 1 ORDER BY 1""",
        {"workspace": operation.workspace_id, "first": operation.first_event or 0},
    )
    titles = {
        "recall": "questions in the recall log",
        "feedback": "words of feedback",
        "address": "keys under which a source named a record",
        "quotes": "quotes in what people wrote, and in saved filters",
    }
    found = {titles[row["kind"]]: int(row["count"]) for row in rows if row["kind"] in titles}
    names = request.counts.get("names", {})
    return found | {
        k: v
        for k, v in names.items()
        if k in ("names of sessions", "name of the partition", "API keys revoked")
    }


def _holds(operation: Operation) -> dict[str, Any]:
    """Return the holds that kept something, by name, with how many records each kept."""
    rows = fetch(
        """SELECT h.id, h.kind, h.placed_by, h.placed_at, count(*) AS records
           FROM operation_target t JOIN memory_record r ON r.id = t.record_id
           JOIN legal_hold h ON h.workspace_id = t.workspace_id AND h.released_at IS NULL
             AND (h.kind = 'record' AND h.target_id = r.id
                  OR h.kind = 'partition' AND h.target_id = r.partition_id
                  OR h.kind = 'session' AND EXISTS (SELECT 1 FROM claim c
                      WHERE c.record_id = r.id AND c.session_id = h.target_id)
                  OR h.kind = 'source' AND EXISTS (SELECT 1 FROM claim c
                      WHERE c.record_id = r.id AND c.source_id = h.target_id))
           WHERE t.operation_id = %(operation)s AND t.workspace_id = %(workspace)s
             AND r.status <> 'erased'
           GROUP BY h.id, h.kind, h.placed_by, h.placed_at ORDER BY h.id""",
        {"operation": operation.id, "workspace": operation.workspace_id},
    )
    return {
        "records_kept": operation.groups.get("hold", 0),
        "holds": [
            {
                "hold": str(row["id"]),
                "on": row["kind"],
                "placed_by": row["placed_by"],
                "placed_at": instant(row["placed_at"]),
                "records": row["records"],
            }
            for row in rows
        ],
    }


def _events(operation: Operation) -> dict[str, Any]:
    """Return the events of the erasure: their ids, and their places in the trail once sealed."""
    rows = fetch(
        """SELECT min(s.position) AS first, max(s.position) AS last FROM sealed_event s
           WHERE s.workspace_id = %(workspace)s AND s.event_id BETWEEN %(first)s AND %(last)s""",
        {
            "workspace": operation.workspace_id,
            "first": operation.first_event or 0,
            "last": operation.last_event or 0,
        },
    )
    return {
        "ids": [operation.first_event, operation.last_event],
        "positions": [rows[0]["first"], rows[0]["last"]],
    }


def _outside(access: Access) -> list[str]:
    """Return where else words may lie that this database does not hold: for a person to look."""
    rows = fetch(
        """SELECT run_id FROM import_run WHERE workspace_id = %(workspace)s AND errors_size > 0
           ORDER BY id DESC LIMIT 20""",
        {"workspace": access.workspace_id},
    )
    return [f"the file of rejected rows of import {row['run_id']}" for row in rows]
