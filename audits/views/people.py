"""The people page: members and their roles, invitations, and what each role opens."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.http import Http404, HttpResponse
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from audits import people
from audits.access import ConsoleRequest, require
from audits.domain.roles import MEANINGS, Permission, Role, permissions_of
from audits.forms.acts import ReasonForm
from audits.forms.settings import InvitationForm, RoleForm
from audits.queries import settings as queries
from audits.views.modal import finish, show_form
from audits.views.pages import done, reading, show, url, visit
from records.items import Conflict, NotFound


@require_safe
@require(Permission.SEE_ACCESS)
def list_people(request: ConsoleRequest) -> HttpResponse:
    """Show who works here, who is invited, and the table of roles."""
    with reading(request):
        context: dict[str, Any] = {
            "members": queries.list_members(request.here.id),
            "invitations": queries.list_invitations(request.here.id),
        }
    context |= {
        "roles": list(Role),
        "table": [
            (meaning, [permission in permissions_of(role) for role in Role])
            for permission, meaning in MEANINGS.items()
        ],
        "may_manage": request.here.may(Permission.MANAGE_PEOPLE),
    }
    return show(request, "people/list.html", context)


@never_cache
@require_http_methods(["GET", "POST"])
@require(Permission.MANAGE_PEOPLE)
def invite(request: ConsoleRequest) -> HttpResponse:
    """Ask whom and as what, then show the link, once."""
    form = InvitationForm(request.POST or None)
    visit(request)
    if request.method == "POST" and form.is_valid():
        token = people.invite(
            form.cleaned_data["invited"],
            Role(form.cleaned_data["role"]),
            access=request.access,
        )
        link = request.build_absolute_uri(reverse("join", args=[token]))
        context = {
            "link": link,
            "invited": form.cleaned_data["invited"],
            "days": people.INVITATION_LASTS.days,
        }
        return show(request, "people/invited.html", context)
    status = 422 if request.method == "POST" else 200
    return show(request, "people/invite.html", {"form": form}, status=status)


@require_POST
@require(Permission.MANAGE_PEOPLE)
def revoke_invitation(request: ConsoleRequest, invitation_id: UUID) -> HttpResponse:
    """Take an invitation back."""
    try:
        people.revoke_invitation(invitation_id, access=request.access)
    except NotFound as error:
        raise Http404("invitation") from error
    return done(request, "The invitation is taken back.", url(request, "people"))


@require_http_methods(["GET", "POST"])
@require(Permission.MANAGE_PEOPLE)
def change_role(request: ConsoleRequest, user_id: UUID) -> HttpResponse:
    """Ask for the new role and why, then change it."""
    member = _member(request, user_id)
    form = RoleForm(request.POST or None, initial={"role": member["role"]})
    context = {"member": member, "form": form, "action": request.path}
    if request.method == "GET":
        return show_form(request, "people/role", context)
    if not form.is_valid():
        return show_form(request, "people/role", context, status=422)
    role, reason = Role(form.cleaned_data["role"]), form.cleaned_data["reason"]
    try:
        if role is Role.ADMINISTRATOR:
            asked = people.make_administrator(
                user_id, reason=reason, access=request.access, asked_by=request.user.id
            )
            if asked.state == "waiting":
                said = "It takes a second person: the request waits for one."
                return finish(request, said, url(request, "approval", asked.id))
        else:
            people.change_role(user_id, role, reason=reason, access=request.access)
    except Conflict as error:
        context["conflict"] = f"Nothing changed: {member['username']} {error}."
        return show_form(request, "people/role", context, status=409)
    return finish(
        request, f"{member['username']} is {form.cleaned_data['role']} now.", url(request, "people")
    )


@require_http_methods(["GET", "POST"])
@require(Permission.MANAGE_PEOPLE)
def remove_member(request: ConsoleRequest, user_id: UUID) -> HttpResponse:
    """Ask why, then take a person out of the workspace."""
    member = _member(request, user_id)
    form = ReasonForm(request.POST or None)
    context = {"member": member, "form": form, "action": request.path}
    if request.method == "GET":
        return show_form(request, "people/remove", context)
    if not form.is_valid():
        return show_form(request, "people/remove", context, status=422)
    try:
        people.remove_member(user_id, reason=form.cleaned_data["reason"], access=request.access)
    except Conflict as error:
        context["conflict"] = f"Nothing changed: {member['username']} {error}."
        return show_form(request, "people/remove", context, status=409)
    return finish(request, f"{member['username']} is no member any more.", url(request, "people"))


def _member(request: ConsoleRequest, user_id: UUID) -> dict[str, object]:
    with reading(request):
        found = [one for one in queries.list_members(request.here.id) if one["user_id"] == user_id]
    if not found:
        raise Http404("member")
    return found[0]
