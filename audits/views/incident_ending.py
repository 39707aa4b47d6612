"""How an incident ends: closed with evidence, opened again, or merged into another."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.http import Http404, HttpResponse
from django.views.decorators.http import require_http_methods

from audits import incidents
from audits.access import ConsoleRequest, require
from audits.domain.incidents import missing_to_close
from audits.domain.roles import Permission
from audits.forms.acts import ReasonForm
from audits.forms.incidents import CloseForm, MergeForm
from audits.incidents import NotYet
from audits.queries import incident_standing as standing
from audits.queries import incidents as queries
from audits.views.incidents import load, work_of
from audits.views.modal import finish, show_form
from audits.views.pages import reading, url
from records.items import BadRequest, Conflict, NotFound


@require_http_methods(["GET", "POST"])
@require(Permission.RESPOND)
def close(request: ConsoleRequest, incident_id: UUID) -> HttpResponse:
    """Say what is missing; close when nothing is, or what may be waived is waived."""
    context = _closing(request, incident_id)
    form = CloseForm(request.POST or None, initial={"cause": context["incident"]["cause"]})
    context["form"] = form
    if request.method == "GET":
        return show_form(request, "incidents/close", context)
    if not form.is_valid():
        return show_form(request, "incidents/close", context, status=422)
    given = form.cleaned_data
    try:
        incidents.close_incident(
            incident_id,
            given["reason"],
            access=request.access,
            waived=given["waived"],
            cause=given["cause"],
        )
    except NotYet as error:
        context = {**_closing(request, incident_id), "form": form, "refused": error.missing}
        return show_form(request, "incidents/close", context, status=409)
    except Conflict as error:
        context["conflict"] = f"Nothing changed: {error}."
        return show_form(request, "incidents/close", context, status=409)
    except BadRequest as error:
        for one in error.errors:
            form.add_error(one.field if one.field in form.fields else None, one.message)
        return show_form(request, "incidents/close", context, status=422)
    return finish(request, "Closed. The report is ready.", url(request, "incident", incident_id))


@require_http_methods(["GET", "POST"])
@require(Permission.RESPOND)
def reopen(request: ConsoleRequest, incident_id: UUID) -> HttpResponse:
    """Open a closed incident again."""
    with reading(request):
        incident = load(request, incident_id)
    form = ReasonForm(request.POST or None)
    context = {"incident": incident, "form": form, "action": request.path}
    if request.method == "GET":
        return show_form(request, "incidents/reopen", context)
    if not form.is_valid():
        return show_form(request, "incidents/reopen", context, status=422)
    try:
        incidents.reopen_incident(incident_id, form.cleaned_data["reason"], access=request.access)
    except Conflict as error:
        context["conflict"] = f"Nothing changed: {error}."
        return show_form(request, "incidents/reopen", context, status=409)
    return finish(request, "The incident is open again.", url(request, "incident", incident_id))


@require_http_methods(["GET", "POST"])
@require(Permission.RESPOND)
def merge(request: ConsoleRequest) -> HttpResponse:
    """Ask which of the chosen incidents stays, then merge the others into it."""
    given = request.POST if request.method == "POST" else request.GET
    wanted = {found for one in given.getlist("incident") if (found := _id(one)) is not None}
    with reading(request):
        chosen = [one for one in queries.list_open(request.here.id) if one["id"] in wanted]
    form = MergeForm(chosen, request.POST or None, initial={"into": chosen and chosen[-1]["id"]})
    context: dict[str, Any] = {"form": form, "action": request.path, "chosen": chosen}
    if request.method == "GET" or len(chosen) < 2:
        status = 200 if request.method == "GET" else 422
        return show_form(request, "incidents/merge", context, status=status)
    if not form.is_valid():
        return show_form(request, "incidents/merge", context, status=422)
    into = UUID(form.cleaned_data["into"])
    try:
        kept = incidents.merge_incidents(
            into,
            [one["id"] for one in chosen],
            form.cleaned_data["reason"],
            access=request.access,
        )
    except (Conflict, NotFound) as error:
        context["conflict"] = f"Nothing was merged: {error}."
        return show_form(request, "incidents/merge", context, status=409)
    except BadRequest as error:
        for one in error.errors:
            form.add_error(None, f"{one.field} {one.message}")
        return show_form(request, "incidents/merge", context, status=422)
    return finish(
        request,
        f"{len(chosen)} incidents are one: #{kept.number}.",
        url(request, "incident", kept.id),
    )


def _closing(request: ConsoleRequest, incident_id: UUID) -> dict[str, Any]:
    with reading(request):
        incident = load(request, incident_id)
        if incident["state"] == "merged":
            raise Http404("incident")
        total = standing.load_scope(incident_id, workspace_id=request.here.id).total
        operations = queries.list_operations(incident_id, workspace_id=request.here.id)
    missing = missing_to_close(work_of(incident, total, operations))
    return {
        "incident": incident,
        "action": request.path,
        "missing": [one for one in missing if one.code != "cause"],
        "is_waivable": any(one.waivable for one in missing),
    }


def _id(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None
