"""The report of an incident: a page to print, and Markdown to attach."""

from __future__ import annotations

from uuid import UUID

from django.http import HttpResponse
from django.utils import timezone
from django.views.decorators.http import require_safe

from audits.access import ConsoleRequest, require
from audits.domain import incidents as rules
from audits.domain.report import Report, to_markdown
from audits.domain.roles import Permission
from audits.incident_report import gather, write_report
from audits.incidents import tell_reported
from audits.queries.incident_standing import load_scope
from audits.queries.incidents import list_operations
from audits.views.incidents import load, work_of
from audits.views.pages import reading, show, url


@require_safe
@require(Permission.VIEW)
def show_report(request: ConsoleRequest, incident_id: UUID) -> HttpResponse:
    """Show the report, without the console around it."""
    report = _report(request, incident_id)
    return show(request, "incidents/report.html", {"report": report, "incident_id": incident_id})


@require_safe
@require(Permission.VIEW)
def download_report(request: ConsoleRequest, incident_id: UUID) -> HttpResponse:
    """Send the report as Markdown; that somebody took it is an event."""
    report = _report(request, incident_id)
    if request.method == "GET":
        tell_reported(incident_id, access=request.access)
    answer = HttpResponse(to_markdown(report), content_type="text/markdown; charset=utf-8")
    answer.headers["Content-Disposition"] = f'attachment; filename="incident-{report.number}.md"'
    answer.headers["Cache-Control"] = "no-store"
    answer.headers["X-Content-Type-Options"] = "nosniff"
    return answer


def _report(request: ConsoleRequest, incident_id: UUID) -> Report:
    workspace_id = request.here.id
    with reading(request):
        incident = load(request, incident_id)
        scope = load_scope(incident_id, workspace_id=workspace_id)
        operations = list_operations(incident_id, workspace_id=workspace_id)
        work = work_of(incident, scope.total, operations)
        missing = rules.missing_to_close(work) if incident["is_open"] else ()
        found = gather(incident, scope, operations, missing, workspace_id=workspace_id)
    return write_report(
        found,
        workspace=request.here.name,
        by=request.user.get_username(),
        now=timezone.now(),
        trail_url=request.build_absolute_uri(
            url(request, "trail", query=f"incident={incident_id}")
        ),
    )
