"""One run of a source: what it named, what it stopped naming, what came back."""

from __future__ import annotations

from uuid import UUID

from django.http import Http404, HttpResponse
from django.views.decorators.http import require_safe

from audits.access import ConsoleRequest, require
from audits.domain.roles import Permission
from audits.queries import source_runs as queries
from audits.views.pages import reading, show
from audits.views.records import BAD_CURSOR
from records.items import BadRequest

TITLES = {"gone": "No longer named", "back": "Back", "named": "Named"}
KNOWN = frozenset({"show", "after"})


@require_safe
@require(Permission.VIEW)
def show_run(request: ConsoleRequest, run_id: UUID) -> HttpResponse:
    """Show the facts behind one of a run's numbers; which one is in the URL."""
    warnings = [
        f"There is no filter \u201c{name[:60]}\u201d here; it was ignored."
        for name in request.GET
        if name not in KNOWN
    ]
    what = request.GET.get("show") or "gone"
    if what not in TITLES:
        warnings.append(
            f"A run has no list \u201c{what[:60]}\u201d; this is what it stopped naming."
        )
        what = "gone"
    with reading(request):
        run = queries.load_run(run_id, workspace_id=request.access.workspace_id)
        if run is None:
            raise Http404("run")
        try:
            page = queries.list_facts(
                run, what, cursor=request.GET.get("after") or None, workspace_id=request.here.id
            )
        except BadRequest:
            warnings.append(BAD_CURSOR)
            page = queries.list_facts(run, what, cursor=None, workspace_id=request.here.id)
    counts = {
        "gone": run["unlisted_count"],
        "back": run["relisted_count"],
        "named": run["seen_count"],
    }
    context = {
        "run": run,
        "page": page,
        "what": what,
        "warnings": warnings,
        "tabs": [(name, title, counts[name]) for name, title in TITLES.items()],
        "is_later": bool(request.GET.get("after")) and BAD_CURSOR not in warnings,
    }
    return show(request, "sources/run.html", context)
