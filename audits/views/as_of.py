"""Memory as of a moment: what a partition's agent believed then, and what changed since.

People see all that was believed, with marks on what is withheld now; an agent
that asks about the same moment gets the rest (``what recall would answer``,
beside the list). Exports are what the filter shows, all of it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import datetime
from functools import partial
from typing import Any

from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.utils import timezone
from django.utils.http import urlencode
from django.views.decorators.http import require_POST, require_safe

from audits.access import ConsoleRequest, require
from audits.domain.csv_text import csv_line
from audits.domain.roles import Permission
from audits.export import Tally
from audits.exports import Sending, Wish
from audits.forms.as_of import Asked, read_moment, typed
from audits.queries import as_of as queries
from audits.queries.as_of import Moment
from audits.queries.subjects import load_partition
from audits.seals import instant
from audits.views.exports import stream
from audits.views.pages import is_partial, reading, show
from audits.views.records import BAD_CURSOR
from records.access import Access
from records.items import BadRequest, NotFound
from records.retrieve import Recalled, RecallRequest, probe
from records.scope import workspace_scope

COLUMNS = (
    "id", "subject", "predicate", "value", "content", "confidence", "session", "source",
    "recorded_at", "valid_from", "valid_until", "status_now", "withheld_now", "superseded_by",
    "changes_since",
)  # fmt: skip
TOP = 10


@require_safe
@require(Permission.VIEW)
def show_moment(request: ConsoleRequest) -> HttpResponse:
    """Show what was believed then; all of the state is in the URL."""
    now = timezone.now()
    asked = read_moment(request.GET.dict(), access=request.access, now=now)
    context: dict[str, Any] = {"asked": asked, "now": now, "cap": queries.COUNT_CAP}
    with reading(request):
        if asked.wanted is not None:
            context |= _load(request, asked)
        context["may_export"] = request.here.may(Permission.AUDIT)
    context |= _answered(request, asked, now)
    at = asked.wanted.as_of if asked.wanted else now
    context |= {"typed_at": typed(at), "exact_at": instant(at)}  # the field takes whole seconds
    context["query"] = urlencode(asked.values)
    template = "as_of/_as_of_table.html" if is_partial(request) else "as_of/as_of.html"
    return show(request, template, context)


def _load(request: ConsoleRequest, asked: Asked) -> dict[str, Any]:
    wanted = asked.wanted
    assert wanted is not None
    workspace_id = request.here.id
    partition = load_partition(wanted.partition_id, workspace_id=workspace_id)
    if partition is None:
        return {"is_unknown": True}
    try:
        page = queries.list_believed(wanted, cursor=asked.after, workspace_id=workspace_id)
    except BadRequest:
        asked.warnings.append(BAD_CURSOR)
        asked.after = None
        page = queries.list_believed(wanted, cursor=None, workspace_id=workspace_id)
    for row in page.items:
        for event in row["since"]:
            event["at"] = datetime.fromisoformat(event["at"])
    return {
        "partition": partition,
        "page": page,
        "counts": queries.count_believed(wanted, workspace_id=workspace_id),
    }


def _answered(request: ConsoleRequest, asked: Asked, now: datetime) -> dict[str, Any]:
    """Return what a recall of that question, as of that moment, answers now; nothing is served."""
    question = asked.values.get("asked")
    if asked.wanted is None or not question or is_partial(request):
        return {}
    wanted = RecallRequest(
        asked.values["partition"], question, top_k=TOP, as_of=asked.wanted.as_of,
        valid_at=asked.wanted.valid_at,
    )  # fmt: skip
    items: tuple[Recalled, ...] = ()
    try:
        items = tuple(probe(wanted, access=request.access, now=now).items)
    except NotFound:
        pass
    except BadRequest as error:
        return {"answer_fault": error.errors[0].message}
    return {"answer": items}


@require_POST
@require(Permission.AUDIT)
def export_moment(request: ConsoleRequest) -> HttpResponseBase:
    """Send all that the filter shows, as JSONL or CSV."""
    asked = read_moment(request.POST.dict(), access=request.access, now=timezone.now())
    file_format = request.POST.get("format", "")
    if asked.wanted is None or file_format not in ("jsonl", "csv") or asked.warnings:
        # A filter that was not understood would make the file hold more than is thought.
        with reading(request):
            pass
        asked.warnings.append("Nothing was exported: name a partition and a format.")
        context = {"asked": asked, "typed_at": typed(timezone.now()), "now": timezone.now()}
        return show(request, "as_of/as_of.html", context, status=422)
    query = urlencode({**asked.values, "at": instant(asked.wanted.as_of)})
    lines = partial(_lines, asked.wanted, file_format, request.access)
    sending = Sending(
        Wish("as_of", file_format, query, request.user.id), lines, access=request.access
    )
    return stream(sending)


def _lines(wanted: Moment, file_format: str, access: Access, tally: Tally) -> Iterator[str]:
    """Yield the lines of the file; each piece is read in a scope of its own."""
    if file_format == "csv":
        yield csv_line(COLUMNS)
    pieces = queries.pieces_of_believed(wanted, workspace_id=access.workspace_id)
    while True:
        with workspace_scope(access.workspace_id):
            rows = next(pieces, None)
        if rows is None:
            return
        for row in rows:
            tally.rows += 1
            said = _said(row)
            if file_format == "csv":
                said["changes_since"] = "; ".join(
                    f"{one['at']} {one['action']} by {one['actor']}"
                    for one in said["changes_since"]
                )
                yield csv_line(said[name] for name in COLUMNS)
            else:
                yield json.dumps(said, default=str, ensure_ascii=False) + "\n"


def _said(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return one row as a file has it: times in UTC."""
    said = {name: row[name] for name in COLUMNS if name in row}
    for name in ("recorded_at", "valid_from", "valid_until"):
        said[name] = instant(row[name]) if row[name] else None
    return said | {
        "status_now": row["status"],
        "withheld_now": row["is_withheld"],
        "changes_since": row["since"],
    }
