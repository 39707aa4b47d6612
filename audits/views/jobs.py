"""The jobs page: for each kind of background work its last run, what it changed, when it is due."""

from __future__ import annotations

from django.contrib import messages
from django.http import Http404, HttpResponse, HttpResponseRedirect
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from audits.access import ConsoleRequest, require
from audits.domain.roles import Permission
from audits.queries.rows import fetch
from audits.views.pages import reading, show, url
from records import tasks
from records.jobs import catalogue
from records.jobs.overview import overview
from records.scope import workspace_scope

RECENT = """SELECT id, job, state, started_at, finished_at, changed, error, attempt, requested_by
FROM job_run WHERE workspace_id = %(workspace)s ORDER BY started_at DESC, id DESC LIMIT 50"""


@require_safe
@require(Permission.VIEW)
def list_jobs(request: ConsoleRequest) -> HttpResponse:
    """Show the jobs and the workspace's last runs."""
    with reading(request):
        recent = fetch(RECENT, {"workspace": request.here.id})
    startable = {
        job.name for job in catalogue.jobs() if not job.installation and not job.maintenance
    }
    context = {
        "jobs": overview(request.here.id, now=timezone.now()),
        "recent": recent,
        "startable": startable if request.here.may(Permission.RUN_JOBS) else set(),
    }
    return show(request, "jobs/list.html", context)


@require_POST
@require(Permission.RUN_JOBS)
def start_job(request: ConsoleRequest, name: str) -> HttpResponse:
    """Start a job of this workspace now."""
    job = catalogue.find(name)
    if job is None or job.installation or job.maintenance:
        raise Http404("job")
    with workspace_scope(request.here.id):
        run_id = tasks.start(job, access=request.access)
    if run_id is None:
        messages.warning(request, f"Nothing was started: a run of \u201c{job.title}\u201d is open.")
    else:
        messages.success(request, f"\u201c{job.title}\u201d is queued.")
    return HttpResponseRedirect(url(request, "jobs"))
