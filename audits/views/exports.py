"""Exports of the trail: what the filter shows, as a file with its manifest; and those of before."""

from __future__ import annotations

from uuid import UUID

from django.http import Http404, HttpResponse, QueryDict, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.views.decorators.http import require_POST, require_safe

from audits import exports
from audits.access import ConsoleRequest, require
from audits.domain.roles import Permission
from audits.exports import Sending, Wish
from audits.forms.trail import read_filters
from audits.views.pages import reading, show
from audits.views.records import BAD_CURSOR
from records.items import BadRequest

FORMATS = (
    ("jsonl", "JSONL with proofs", "Proves itself: each event can be checked offline."),
    ("csv", "CSV", "For spreadsheets: times in UTC, formulas made harmless."),
    ("ocsf", "OCSF 1.8", "For a SIEM: one JSON object a line."),
)


@require_safe
@require(Permission.AUDIT)
def list_exports(request: ConsoleRequest) -> HttpResponse:
    """Show how to export, by the filter in the URL, and what was exported before."""
    query = request.GET.copy()
    before = query.pop("before", [""])[-1]
    asked = read_filters(query, access=request.access)
    with reading(request):
        try:
            page = exports.list_exports(cursor=before or None, workspace_id=request.here.id)
        except BadRequest:
            asked.warnings.append(BAD_CURSOR)
            page = exports.list_exports(cursor=None, workspace_id=request.here.id)
    context = {
        "asked": asked,
        "page": page,
        "before": before,
        "formats": FORMATS,
        "tab": "exports",
        "may_audit": True,
    }
    return show(request, "trail/exports.html", context)


@require_POST
@require(Permission.AUDIT)
def export_events(request: ConsoleRequest) -> HttpResponseBase:
    """Stream the events that the filter shows; nothing is left out, whatever the size."""
    file_format = request.POST.get("format", "")
    asked = read_filters(QueryDict(request.POST.get("query", "")), access=request.access)
    if file_format not in exports.FORMATS:
        asked.warnings.append("Format: choose JSONL, CSV or OCSF.")
    if asked.warnings:
        # A filter that was not understood would make the file hold more than is thought.
        with reading(request):
            page = exports.list_exports(cursor=None, workspace_id=request.here.id)
        context = {"asked": asked, "page": page, "formats": FORMATS, "tab": "exports"}
        return show(request, "trail/exports.html", context, status=422)
    chosen = exports.chosen_by(asked.wanted, asked.query)
    sending = Sending(
        Wish("trail", file_format, asked.query, request.user.id),
        lambda tally: exports.trail_lines(request.access, file_format, chosen, tally),
        access=request.access,
    )
    return stream(sending)


@require_safe
@require(Permission.AUDIT)
def download_manifest(request: ConsoleRequest, export_id: UUID) -> HttpResponse:
    """Hand out the signed manifest of one export."""
    with reading(request):
        export = exports.load_export(export_id, workspace_id=request.here.id)
    if export is None or export.state != "finished":
        raise Http404("export")
    name = exports.file_name(export.kind, export.file_format, export.id)
    return HttpResponse(
        exports.manifest_file(export),
        content_type="application/json",
        headers={
            "Content-Disposition": f'attachment; filename="{name}.manifest.json"',
            "Cache-Control": "no-store",
        },
    )


def stream(sending: Sending) -> StreamingHttpResponse:
    """Answer with a file that is made while it is sent."""
    kind = exports.FORMATS[sending.wish.file_format]
    return StreamingHttpResponse(
        sending.chunks(),
        content_type=f"{kind}; charset=utf-8",
        headers={
            "Content-Disposition": f'attachment; filename="{sending.file_name}"',
            "Cache-Control": "no-store",
            "MemConsole-Export": str(sending.id),
        },
    )
