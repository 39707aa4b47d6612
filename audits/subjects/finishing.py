"""The end of an erasure: what names a person beside their records, then the certificate.

Owns the job ``subjects``. An erasure runs as an operation; once that is done
this destroys what still names a partition (its name, its sessions' names and
notes, its keys, every question ever asked in it), waits until maintenance has
emptied the logs, and issues the certificate. Every step is a transaction that
may be repeated. What a legal hold keeps, keeps its partition's name too.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

import psycopg
from psycopg.types.json import Jsonb

from audits.models import Operation, SubjectRequest
from audits.quotes import erasing_words, replace_everywhere
from audits.subjects import certificate
from audits.subjects.requests import NOBODY, tell
from records import erasing, events
from records.access import Access
from records.domain.quotes import MARK, Phrases, without
from records.events import Happening
from records.holds import HELD
from records.jobs.runs import Run
from records.jobs.standings import access_of
from records.queries import Row, cursor

LOGS = "logs"  # the stage in which maintenance empties the logs

# What an operation's end is called for the request that asked for it.
ENDS = {
    "refused": "refused",
    "expired": "expired",
    "failed": "failed",
    "cancelled": "refused",
    "drifted": "failed",
}


def finish_requests(run: Run, now: datetime) -> None:
    """Bring every erasure under way as far as it can go."""
    access = access_of(run)
    for request_id in _open_requests(run):
        with run.step(), cursor() as cur:
            done = _advance(cur, request_id, access, now)
            run.count(**{done: 1} if done else {})


def _open_requests(run: Run) -> list[UUID]:
    assert run.workspace_id is not None
    with run.step():
        found = SubjectRequest.objects.filter(
            workspace_id=run.workspace_id, kind="erasure", state__in=("waiting", "running")
        )
        return list(found.order_by("id").values_list("id", flat=True))


def _advance(cur: psycopg.Cursor[Row], request_id: UUID, access: Access, now: datetime) -> str:
    """Take one step with one request; return what was reached, '' for nothing."""
    request = SubjectRequest.objects.select_for_update().get(
        id=request_id, workspace_id=access.workspace_id
    )
    operation = Operation.objects.filter(
        id=request.operation_id or NOBODY, workspace_id=access.workspace_id
    ).first()
    if operation is None or request.state not in ("waiting", "running"):
        return ""
    if operation.state in ENDS:
        request.state = ENDS[operation.state]
        request.save(update_fields=["state"])
        tell("subject.erasure_ended", request, access, state=request.state)
        return "ended"
    if operation.state != "done":
        if operation.state in ("queued", "running") and request.state != "running":
            request.state = "running"
            request.save(update_fields=["state"])
        return ""
    if request.counts.get("stage") != LOGS:
        changed = _destroy_names(cur, request, operation, access)
        request.state = "running"
        request.counts = {**request.counts, "stage": LOGS, "names": changed}
        request.save(update_fields=["state", "counts"])
        return "emptied"
    if erasing.is_anything_due(cur, access.workspace_id):
        return ""
    _issue(cur, request, operation, access, now)
    return "finished"


def _destroy_names(
    cur: psycopg.Cursor[Row], request: SubjectRequest, operation: Operation, access: Access
) -> dict[str, int]:
    """Destroy what names a whole partition, unless a hold keeps some of it; return counts."""
    about = {"workspace": access.workspace_id, "partition": request.partition_id}
    if request.partition_id is None:
        return _destroy_typed(cur, request, operation, access)
    cur.execute(
        f"""SELECT count(*) FROM memory_record r WHERE r.partition_id = %(partition)s
              AND r.workspace_id = %(workspace)s AND r.status <> 'erased' AND {HELD}""",
        about,
    )
    (held,) = cur.fetchone() or (0,)
    cur.execute(
        """SELECT 1 FROM legal_hold h WHERE h.workspace_id = %(workspace)s
             AND h.released_at IS NULL AND h.kind IN ('partition', 'session')
             AND (h.target_id = %(partition)s OR h.target_id IN (
                 SELECT id FROM session WHERE partition_id = %(partition)s))""",
        about,
    )
    if held or cur.fetchone():
        return {"kept_records": int(held), **_destroy_typed(cur, request, operation, access)}
    counts = {"questions": erasing.note_recalls(cur, [request.partition_id], access.workspace_id)}
    for name, statement in PARTITION_NAMES.items():
        cur.execute(statement, about)
        counts[name] = cur.rowcount
    counts |= _destroy_typed(cur, request, operation, access)
    return {name: count for name, count in counts.items() if count}


# The ids stay: they are what events and serves point to.
PARTITION_NAMES = {
    "notes on sessions": f"""UPDATE session_note SET text = '{MARK}'
        WHERE partition_id = %(partition)s AND workspace_id = %(workspace)s AND text <> '{MARK}'""",
    "names of sessions": """UPDATE session SET external_id = 'erased:' || id, agent = '', extracted_by = '',
            suspended_reason = CASE WHEN suspended_at IS NULL THEN NULL ELSE '' END
        WHERE partition_id = %(partition)s AND workspace_id = %(workspace)s
          AND external_id <> 'erased:' || id""",
    "fences' reasons": """UPDATE fence SET reason = '' WHERE partition_id = %(partition)s
        AND workspace_id = %(workspace)s AND reason <> ''""",
    "API keys revoked": """UPDATE api_key k SET partition_name = 'erased:' || p.id, name = '',
            revoked_at = coalesce(k.revoked_at, now()), revoked_by = coalesce(k.revoked_by, 'erasure')
        FROM partition p WHERE p.id = %(partition)s AND k.workspace_id = %(workspace)s
          AND k.partition_name = p.name""",
    "name of the partition": """UPDATE partition SET name = 'erased:' || id WHERE id = %(partition)s
        AND workspace_id = %(workspace)s AND name <> 'erased:' || id""",
}


def _destroy_typed(
    cur: psycopg.Cursor[Row], request: SubjectRequest, operation: Operation, access: Access
) -> dict[str, int]:
    """Take the name that the request was made with out of what quotes it, this request too."""
    names = [one for one in (request.partition_name, request.subject) if one]
    changed = replace_everywhere(cur, Phrases(names), access.workspace_id)
    with erasing_words(cur):
        cur.execute(
            "UPDATE operation SET title = %s, scope = %s WHERE id = %s AND workspace_id = %s",
            ["Erase what a data subject asked for", Jsonb(_ids_only(operation.scope)), operation.id,
             access.workspace_id],
        )  # fmt: skip
        cur.execute(
            "UPDATE approval SET summary = %s WHERE id = %s AND workspace_id = %s",
            ["Erase what a data subject asked for", operation.approval_id, access.workspace_id],
        )
    if changed:
        events.append(
            [Happening("erasure.quotes", "subject_request", request.id, count=sum(changed.values()),
                       details={"kinds": changed})],
            access=access,
        )  # fmt: skip
    request.refresh_from_db()
    request.reason = without(request.reason, names)
    return changed


def _ids_only(scope: Any) -> Any:
    return {name: value for name, value in scope.items() if name.endswith(("_id", "_ids"))}


def _issue(
    cur: psycopg.Cursor[Row],
    request: SubjectRequest,
    operation: Operation,
    access: Access,
    now: datetime,
) -> None:
    """Sign the certificate and forget whom the request was about, but for the digest."""
    said = certificate.make(cur, request, operation, access=access, now=now)
    request.certificate = said
    request.subject = ""
    request.partition_name = ""
    request.counts = {k: v for k, v in request.counts.items() if k not in ("chosen", "stage")}
    request.state = "done"
    request.finished_at = now
    request.save()
    tell("subject.erased", request, access, certificate=certificate.digest(said))
