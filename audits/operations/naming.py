"""What an operation is called: its scope in words that a person would use.

Reads names, in a workspace scope. What people typed as a filter is repeated,
cut; other memory text is not.
"""

from __future__ import annotations

from uuid import UUID

from audits.domain.scope import Scope
from audits.queries.rows import fetch

VERBS = {"evict": "Evict", "erase": "Erase", "hold": "Send to the queue:"}
SHOWN = 60  # characters of a name or of typed text
MOST = 500

NAMES = """SELECT
    ARRAY(SELECT external_id FROM session WHERE id = ANY(%(sessions)s) AND workspace_id = %(workspace)s
          ORDER BY external_id LIMIT 2) AS sessions,
    (SELECT name FROM source WHERE id = %(source)s AND workspace_id = %(workspace)s) AS source,
    (SELECT name FROM partition WHERE id = %(partition)s AND workspace_id = %(workspace)s) AS partition,
    (SELECT number FROM incident WHERE id = %(incident)s AND workspace_id = %(workspace)s) AS incident,
    (SELECT number FROM scan WHERE id = %(scan)s AND workspace_id = %(workspace)s) AS scan"""


def describe(kind: str, scope: Scope, *, workspace_id: UUID) -> str:
    """Return a title: "Evict session bad-1, predicate employer"."""
    return f"{VERBS[kind]} {words_of(scope, workspace_id=workspace_id)}"[:MOST]


def words_of(scope: Scope, *, workspace_id: UUID) -> str:
    """Return a scope in words: "session bad-1, predicate employer"."""
    (row,) = fetch(
        NAMES,
        {
            "workspace": workspace_id,
            "sessions": list(scope.session_ids),
            "source": scope.source_id,
            "partition": scope.partition_id,
            "incident": scope.incident_id,
            "scan": scope.scan_id,
        },
    )
    return ", ".join(_parts(scope, row))[:MOST]


def _parts(scope: Scope, names: dict[str, object]) -> list[str]:
    parts = []
    if scope.incident_id is not None:
        parts.append(f"all that incident {names['incident']} lists")
    if scope.scan_id is not None:
        parts.append(f"new hits of scan {names['scan']}")
    if len(scope.session_ids) > 1:
        parts.append(f"{len(scope.session_ids):,} sessions")
    elif scope.session_ids:
        sessions = names["sessions"]
        parts.append(
            f"session {_cut(sessions[0] if isinstance(sessions, list) and sessions else '?')}"
        )
    for label, value in (
        ("source", names["source"] if scope.source_id else None),
        ("agent", scope.agent),
        ("extracted by", scope.extracted_by),
        ("partition", names["partition"] if scope.partition_id else None),
        ("subject", scope.subject),
        ("predicate", scope.predicate),
        ("tag", scope.tag),
        ("status", scope.status),
        ("held for", scope.hold_reason),
        ("standing", scope.standing),
        ("rule", scope.rule),
        ("said", "more than once" if scope.seen else None),
        ("gate found", scope.found),
    ):
        if value:
            parts.append(f"{label} {_cut(value)}")
    if scope.text:
        parts.append(f"text “{_cut(scope.text)}”")
    if scope.record_ids:
        count = len(scope.record_ids)
        parts.append(f"{count:,} chosen {'fact' if count == 1 else 'facts'}")
    if scope.since is not None:
        parts.append(f"claimed from {scope.since:%Y-%m-%d %H:%M} UTC")
    if scope.until is not None:
        parts.append(f"claimed before {scope.until:%Y-%m-%d %H:%M} UTC")
    return parts


def _cut(value: object) -> str:
    text = " ".join(str(value).split())
    return text if len(text) <= SHOWN else text[: SHOWN - 1] + "…"
