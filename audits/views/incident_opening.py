"""Opening an incident from whatever a person was looking at, or adding that to an open one."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse
from django.views.decorators.http import require_http_methods

from audits import incidents
from audits.access import ConsoleRequest, require
from audits.domain.roles import Permission
from audits.forms.incidents import OpenForm, read_origin, value_of
from audits.incidents import Member
from audits.queries import incidents as queries
from audits.queries.incident_origin import find_parts, prefilled_title
from audits.views.pages import done, reading, show, url
from records.items import BadRequest, Conflict, NotFound


@require_http_methods(["GET", "POST"])
@require(Permission.REVIEW)
def new_incident(request: ConsoleRequest) -> HttpResponse:
    """Ask what is wrong and what it is about; open it, or add the scope to an open incident.

    Reviewers may, who are the first to see it; what follows is for responders.
    """
    # The URL names what it is about, after a refused POST as well.
    origin, warnings = read_origin(request.GET)
    with reading(request):
        parts = find_parts(origin, workspace_id=request.here.id)
        existing = queries.list_open(request.here.id)
    is_adding = request.method == "POST" and request.POST.get("act") == "add"
    initial = {
        "title": prefilled_title(origin, parts),
        "scope": [value_of(one) for one in parts],
        "origin_kind": origin.kind,
        "origin_id": origin.id,
    }
    form = OpenForm(
        request.POST or None, parts=parts, existing=existing, is_adding=is_adding, initial=initial
    )
    status, conflict = 200, ""
    if request.method == "POST":
        status = 422
        if form.is_valid():
            try:
                if is_adding:
                    return _add(request, form, existing)
                return _open(request, form)
            except BadRequest as error:
                for one in error.errors:
                    name = one.field if one.field in form.fields else None
                    form.add_error(name, f"{one.field} {one.message}")
            except (Conflict, NotFound) as error:
                status, conflict = 409, f"Nothing was added: {error}."
    ticked = set(form["scope"].value() or ())
    for part in parts:
        part["value"] = value_of(part)
        part["ticked"] = part["value"] in ticked
    context: dict[str, Any] = {
        "form": form,
        "parts": parts,
        "origin": origin,
        "warnings": warnings,
        "existing": existing,
        "conflict": conflict,
    }
    return show(request, "incidents/new.html", context, status=status)


def _open(request: ConsoleRequest, form: OpenForm) -> HttpResponse:
    given = form.cleaned_data
    is_taken = given["take"] and request.here.may(Permission.RESPOND)
    opened = incidents.open_incident(
        form.details(),
        form.parts(),
        access=request.access,
        owner=Member(request.user.id, request.user.get_username()) if is_taken else None,
        origin_kind=given["origin_kind"],
        origin_id=given["origin_id"],
    )
    return done(request, f"Incident #{opened.number} is open.", url(request, "incident", opened.id))


def _add(request: ConsoleRequest, form: OpenForm, existing: list[dict[str, Any]]) -> HttpResponse:
    chosen = next(one for one in existing if str(one["id"]) == form.cleaned_data["existing"])
    count = incidents.add_to_scope(chosen["id"], form.parts(), access=request.access)
    told = f"{count} added to the scope." if count else "All of it was in the scope already."
    return done(request, told, url(request, "incident", chosen["id"]))
