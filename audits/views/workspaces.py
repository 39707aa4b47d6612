"""Making a workspace: for those who run the installation."""

from __future__ import annotations

from typing import cast

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_http_methods

from audits import people
from audits.access import signed_in
from audits.forms.settings import WorkspaceForm
from audits.models import User
from audits.views.pages import show
from records.items import BadRequest, Conflict


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
