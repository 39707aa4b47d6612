"""Views of lists that people save for themselves: a name for a URL's filters."""

from __future__ import annotations

from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpResponse, HttpResponseRedirect
from django.utils.http import urlencode
from django.views.decorators.http import require_POST

from audits.access import ConsoleRequest, require
from audits.domain.roles import Permission
from audits.forms.settings import ViewForm
from audits.models import SavedView
from audits.views.pages import done, url
from records.scope import workspace_scope


@require_POST
@require(Permission.VIEW)
def save_view(request: ConsoleRequest) -> HttpResponse:
    """Keep a list's filters under a name; the same name is overwritten."""
    form = ViewForm(request.POST)
    if not form.is_valid():
        faults = "; ".join(f"{name}: {what[0]}" for name, what in form.errors.items())
        messages.error(request, f"The view was not saved. {faults}")
        page = form.cleaned_data.get("page", "records")
        return HttpResponseRedirect(url(request, page))
    chosen = form.cleaned_data
    with workspace_scope(request.here.id):
        view, _ = SavedView.objects.update_or_create(
            workspace_id=request.here.id,
            user=request.user,
            page=chosen["page"],
            name=chosen["name"],
            defaults={"query": chosen["query"]},
        )
    query = f"{chosen['query']}&{urlencode({'view': str(view.id)})}"
    return done(request, "The view is saved.", url(request, chosen["page"], query=query))


@require_POST
@require(Permission.VIEW)
def delete_view(request: ConsoleRequest, view_id: UUID) -> HttpResponse:
    """Forget a view of one's own."""
    with workspace_scope(request.here.id):
        view = SavedView.objects.filter(
            id=view_id, workspace_id=request.here.id, user=request.user
        ).first()
        if view is None:
            raise Http404("view")
        view.delete()
    return done(request, "The view is forgotten.", url(request, view.page))
