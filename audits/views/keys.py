"""The API keys of a workspace: make one (its text is shown once), revoke one."""

from __future__ import annotations

from uuid import UUID

from django.http import Http404, HttpResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from audits.access import ConsoleRequest, require
from audits.domain.roles import Permission
from audits.forms.acts import ReasonForm
from audits.forms.settings import KeyForm
from audits.queries import settings as queries
from audits.views.modal import finish, show_form
from audits.views.pages import reading, show, url, visit
from records import keys
from records.access import Scope
from records.items import BadRequest
from records.models import ApiKey
from records.workspaces import clean_name


@require_safe
@require(Permission.SEE_ACCESS)
def list_keys(request: ConsoleRequest) -> HttpResponse:
    """Show the keys."""
    with reading(request):
        found = queries.list_keys(request.here.id)
    context = {"keys": found, "may_manage": request.here.may(Permission.MANAGE_KEYS)}
    return show(request, "keys/list.html", context)


@never_cache
@require_http_methods(["GET", "POST"])
@require(Permission.MANAGE_KEYS)
def make_key(request: ConsoleRequest) -> HttpResponse:
    """Ask for a key's reach, then show its text, once."""
    form = KeyForm(request.POST or None)
    visit(request)
    if request.method == "POST" and form.is_valid():
        given = form.cleaned_data
        try:
            partition = (
                clean_name("partition", given["partition"], limit=200)
                if given["partition"]
                else None
            )
        except BadRequest as error:
            form.add_error("partition", error.errors[0].message)
        else:
            text = keys.make_key(
                access=request.access,
                scopes=[Scope(one) for one in given["scopes"]],
                partition=partition,
                name=given["name"],
                expires_at=given["expires"],
            )
            context = {
                "text": text,
                "name": given["name"],
                "api_url": request.build_absolute_uri("/api/v1/memories"),
            }
            return show(request, "keys/made.html", context)
    status = 422 if request.method == "POST" else 200
    return show(request, "keys/new.html", {"form": form}, status=status)


@require_http_methods(["GET", "POST"])
@require(Permission.MANAGE_KEYS)
def revoke_key(request: ConsoleRequest, key_id: UUID) -> HttpResponse:
    """Ask why, then revoke."""
    with reading(request):
        key = ApiKey.objects.filter(id=key_id, workspace_id=request.here.id).first()
    if key is None:
        raise Http404("key")
    form = ReasonForm(request.POST or None)
    context = {"key": key, "form": form, "action": request.path}
    if request.method == "GET":
        return show_form(request, "keys/revoke", context)
    if not form.is_valid():
        return show_form(request, "keys/revoke", context, status=422)
    if not keys.revoke_key(key_id, reason=form.cleaned_data["reason"], access=request.access):
        context["conflict"] = "The key was revoked already."
        return show_form(request, "keys/revoke", context, status=409)
    return finish(
        request, "Revoked: within two seconds it opens nothing any more.", url(request, "keys")
    )
