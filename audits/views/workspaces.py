"""Making a workspace, and the views of lists that people save in one."""

from __future__ import annotations

from typing import cast
from uuid import UUID

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_http_methods, require_POST

from audits import people
from audits.access import ConsoleRequest, require, signed_in
from audits.domain.roles import Permission
from audits.forms.settings import ViewForm, WorkspaceForm
from audits.models import SavedView, User
from audits.views.pages import done, show, url
from records.items import BadRequest, Conflict
from records.scope import workspace_scope


@require_http_methods(["GET", "POST"])
@signed_in
def new_workspace(request: HttpRequest) -> HttpResponse:
    """Ask for a name and make the workspace; only who runs the installation may."""
    user = cast(User, request.user)
    if not user.is_superuser:
        raise PermissionDenied("only an administrator of the installation makes workspaces")
    form = WorkspaceForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            access = people.open_workspace(
                form.cleaned_data["name"], user, request_id=getattr(request, "request_id", "")
            )
        except BadRequest as error:
            form.add_error("name", error.errors[0].message)
        except Conflict as error:
            form.add_error("name", f"{error}.")
        else:
            return redirect("console:overview", access.workspace)
    status = 422 if request.method == "POST" else 200
    return show(request, "people/new_workspace.html", {"form": form}, status=status)


@require_POST
@require(Permission.VIEW)
def save_view(request: ConsoleRequest) -> HttpResponse:
    """Keep a list's filters under a name; the same name is overwritten."""
    form = ViewForm(request.POST)
    if not form.is_valid():
        return redirect(url(request, "records"))
    with workspace_scope(request.here.id):
        SavedView.objects.update_or_create(
            workspace_id=request.here.id,
            user=request.user,
            page="records",
            name=form.cleaned_data["name"],
            defaults={"query": form.cleaned_data["query"]},
        )
    return done(
        request, "The view is saved.", url(request, "records", query=form.cleaned_data["query"])
    )


@require_POST
@require(Permission.VIEW)
def delete_view(request: ConsoleRequest, view_id: UUID) -> HttpResponse:
    """Forget a view of one's own."""
    with workspace_scope(request.here.id):
        deleted, _ = SavedView.objects.filter(
            id=view_id, workspace_id=request.here.id, user=request.user
        ).delete()
    if not deleted:
        raise Http404("view")
    return done(request, "The view is forgotten.", url(request, "records"))
