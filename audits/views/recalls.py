"""One recall: who asked, what was answered, and which sessions stand behind each fact."""

from __future__ import annotations

from uuid import UUID

from django.http import Http404, HttpResponse
from django.views.decorators.http import require_safe

from audits.access import ConsoleRequest, require
from audits.domain.roles import Permission
from audits.queries import recalls as queries
from audits.views.pages import reading, show


@require_safe
@require(Permission.VIEW)
def show_recall(request: ConsoleRequest, recall_id: UUID) -> HttpResponse:
    """Show one recall with its answer; 404 for what is unknown, foreign or out of reach."""
    with reading(request):
        found = queries.load_recall(recall_id, workspace_id=request.here.id)
        if found is None:
            raise Http404("recall")
        answer = queries.load_answer(recall_id, workspace_id=request.here.id)
    asked = {name: value for name, value in found["parameters"].items() if name != "session"}
    context = {"recall": found, "answer": answer, "asked": asked}
    return show(request, "radius/recall.html", context)
