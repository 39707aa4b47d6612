"""What people do in an incident: small acts by one button, larger ones by a form in the dialog.

Owns the way from a form to ``audits.incidents``. An act that came too late
answers 409 with the page as it is now and what was typed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast
from uuid import UUID

from django import forms
from django.http import Http404, HttpResponse
from django.views.decorators.http import require_http_methods, require_POST

from audits import incidents
from audits.access import ConsoleRequest, require
from audits.domain.incidents import ScopeKind
from audits.domain.roles import Permission
from audits.forms.acts import ReasonForm
from audits.forms.incidents import AssignForm, EditForm, NoteForm, ScopeForm, TaskForm
from audits.incidents import Contained, Member, Part
from audits.queries import incident_standing as standing
from audits.queries import incidents as queries
from audits.queries.incident_origin import find_named
from audits.views.incidents import load, load_page
from audits.views.modal import finish, show_form
from audits.views.pages import done, reading, show, url
from records.items import BadRequest, Conflict, NotFound

CONTAINMENT: dict[str, dict[str, Any]] = {
    "contain": {
        "title": "Suspend all in scope",
        "meaning": "From now on no recall answers with what only these sessions and sources"
        " assert. Nothing is deleted; release them at any time.",
        "act": incidents.contain_scope,
        "done": "Suspended",
    },
    "release": {
        "title": "Release all in scope",
        "meaning": "Serve the facts of these sessions and sources again.",
        "act": incidents.release_scope,
        "done": "Released",
    },
}


@require_POST
@require(Permission.RESPOND)
def acknowledge(request: ConsoleRequest, incident_id: UUID) -> HttpResponse:
    """Say that the incident is seen to; without an owner it is this person's now."""
    return _act(
        request,
        incident_id,
        lambda: incidents.acknowledge(incident_id, access=request.access, member=_me(request)),
        "Acknowledged.",
    )


@require_POST
@require(Permission.RESPOND)
def take(request: ConsoleRequest, incident_id: UUID) -> HttpResponse:
    """Take the incident over."""
    return _act(
        request,
        incident_id,
        lambda: incidents.assign(incident_id, _me(request), access=request.access),
        "The incident is yours.",
    )


@require_POST
@require(Permission.RESPOND)
def add_scope(request: ConsoleRequest, incident_id: UUID) -> HttpResponse:
    """Put something into the scope: ids ticked on the page, or what was typed."""
    ticked = [UUID(one) for one in request.POST.getlist("session") if _is_id(one)]
    if ticked:
        parts = [Part(ScopeKind.SESSION, one) for one in ticked]
        return _add(request, incident_id, parts, ScopeForm())
    form = ScopeForm(request.POST)
    parts = []
    if form.is_valid():
        kind, wanted = ScopeKind(form.cleaned_data["kind"]), form.cleaned_data["wanted"]
        if kind == ScopeKind.TEXT:
            parts = [Part(kind, None, wanted)]
        else:
            with reading(request):
                found = find_named(kind, wanted, workspace_id=request.here.id)
            parts = [Part(kind, one) for one in found]
            if not found:
                form.add_error("wanted", f"There is no {kind} of this name or id here.")
    if not form.is_valid():
        return _page(request, incident_id, status=422, scope_form=form)
    return _add(request, incident_id, parts, form)


@require_POST
@require(Permission.RESPOND)
def remove_scope(request: ConsoleRequest, incident_id: UUID, part_id: UUID) -> HttpResponse:
    """Take a part out of the scope."""
    return _act(
        request,
        incident_id,
        lambda: incidents.remove_from_scope(incident_id, part_id, access=request.access),
        "Taken out of the scope.",
        "scope",
    )


@require_POST
@require(Permission.RESPOND)
def add_task(request: ConsoleRequest, incident_id: UUID) -> HttpResponse:
    """Put a task on the list."""
    form = TaskForm(request.POST)
    if not form.is_valid():
        return _page(request, incident_id, status=422, task_form=form)
    title = form.cleaned_data["title"]
    return _act(
        request,
        incident_id,
        lambda: incidents.add_task(incident_id, title, access=request.access),
        "The task is on the list.",
        "tasks",
        task_form=form,
    )


@require_POST
@require(Permission.RESPOND)
def tick_task(request: ConsoleRequest, incident_id: UUID, task_id: UUID) -> HttpResponse:
    """Mark a task as done, or as open again."""
    is_done = request.POST.get("done") == "yes"
    return _act(
        request,
        incident_id,
        lambda: incidents.tick_task(incident_id, task_id, is_done=is_done, access=request.access),
        "Done." if is_done else "The task is open again.",
        "tasks",
    )


@require_POST
@require(Permission.RESPOND)
def add_note(request: ConsoleRequest, incident_id: UUID) -> HttpResponse:
    """Write a note."""
    form = NoteForm(request.POST)
    if not form.is_valid():
        return _page(request, incident_id, status=422, note_form=form)
    given = form.cleaned_data
    return _act(
        request,
        incident_id,
        lambda: incidents.add_note(
            incident_id, given["text"], is_pinned=given["pin"], access=request.access
        ),
        "The note is kept.",
        "notes",
        note_form=form,
    )


@require_POST
@require(Permission.RESPOND)
def pin_note(request: ConsoleRequest, incident_id: UUID, note_id: UUID) -> HttpResponse:
    """Pin a note, or unpin it."""
    is_pinned = request.POST.get("pin") == "yes"
    return _act(
        request,
        incident_id,
        lambda: incidents.pin_note(
            incident_id, note_id, is_pinned=is_pinned, access=request.access
        ),
        "Pinned." if is_pinned else "Unpinned.",
        "notes",
    )


@require_http_methods(["GET", "POST"])
@require(Permission.RESPOND)
def edit(request: ConsoleRequest, incident_id: UUID) -> HttpResponse:
    """Change title, severity, summary, cause and lessons."""
    with reading(request):
        incident = load(request, incident_id)
    names = ("title", "severity", "summary", "cause", "lessons")
    initial = {name: incident[name] for name in names} | {"seen": incidents.seen_digest(incident)}
    form = EditForm(request.POST or None, initial=initial)
    context: dict[str, Any] = {"incident": incident, "form": form, "action": request.path}
    if request.method == "GET":
        return show_form(request, "incidents/edit", context)
    if not form.is_valid():
        return show_form(request, "incidents/edit", context, status=422)
    try:
        incidents.change_incident(
            incident_id, form.details(), access=request.access, seen=form.cleaned_data["seen"]
        )
    except Conflict as error:
        with reading(request):
            context["incident"] = load(request, incident_id)
        context["conflict"] = f"Nothing changed: {error}. What is there now is below."
        context["seen"] = incidents.seen_digest(context["incident"])
        return show_form(request, "incidents/edit", context, status=409)
    return finish(request, "Changed.", url(request, "incident", incident_id))


@require_http_methods(["GET", "POST"])
@require(Permission.RESPOND)
def assign(request: ConsoleRequest, incident_id: UUID) -> HttpResponse:
    """Hand the incident over to a colleague, with a note."""
    with reading(request):
        incident = load(request, incident_id)
        members = [
            one
            for one in queries.list_members(request.here.id)
            if one["user_id"] != incident["owner_id"]
        ]
    form = AssignForm(members, request.POST or None)
    context = {"incident": incident, "form": form, "action": request.path, "members": members}

    def run() -> None:
        member = form.chosen()
        incidents.assign(incident_id, member, note=form.cleaned_data["note"], access=request.access)

    return _form(request, incident_id, "incidents/assign", form, context, run, "Handed over.")


def contain(verb: str) -> Callable[..., HttpResponse]:
    """Return the view that suspends or releases all that a scope names."""
    how = CONTAINMENT[verb]

    @require_http_methods(["GET", "POST"])
    @require(Permission.RESPOND)
    def view(request: ConsoleRequest, incident_id: UUID) -> HttpResponse:
        with reading(request):
            incident = load(request, incident_id)
            scope = standing.load_scope(incident_id, workspace_id=request.here.id)
        form = ReasonForm(request.POST or None, is_reason_needed=False)
        context = {
            "incident": incident,
            "form": form,
            "action": request.path,
            "act": how,
            "touched": [
                one
                for one in scope.containable
                if (one.suspended_at is None) == (verb == "contain")
            ],
            "already": len(scope.containable),
            "total": scope.total,
        }
        told: list[str] = []

        def run() -> None:
            reason = form.cleaned_data["reason"] or f"incident #{incident['number']}"
            found: Contained = how["act"](incident_id, reason, access=request.access)
            parts = [(found.sessions, "session"), (found.sources, "source")]
            said = " and ".join(f"{n} {word}{'s' * (n != 1)}" for n, word in parts if n)
            told.append(f"{how['done']}: {said}.")

        return _form(request, incident_id, "incidents/contain", form, context, run, told)

    view.__name__ = f"incident_{verb}"
    return cast(Callable[..., HttpResponse], view)


def _form(
    request: ConsoleRequest,
    incident_id: UUID,
    name: str,
    form: forms.Form,
    context: dict[str, Any],
    run: Callable[[], None],
    told: str | list[str],
) -> HttpResponse:
    """Show a form of the dialog, or run what it asks for and go back to the incident."""
    if request.method == "GET":
        return show_form(request, name, context)
    if not form.is_valid():
        return show_form(request, name, context, status=422)
    try:
        run()
    except NotFound as error:
        raise Http404("incident") from error
    except Conflict as error:
        context["conflict"] = f"Nothing changed: {error}."
        return show_form(request, name, context, status=409)
    except BadRequest as error:
        for one in error.errors:
            form.add_error(one.field if one.field in form.fields else None, one.message)
        return show_form(request, name, context, status=422)
    message = told if isinstance(told, str) else " ".join(told)
    return finish(request, message, url(request, "incident", incident_id))


def _add(
    request: ConsoleRequest, incident_id: UUID, parts: list[Part], form: ScopeForm
) -> HttpResponse:
    told: list[str] = []

    def run() -> None:
        count = incidents.add_to_scope(incident_id, parts, access=request.access)
        told.append(f"{count} added to the scope." if count else "It is in the scope already.")

    return _act(request, incident_id, run, told, "scope", scope_form=form)


def _act(
    request: ConsoleRequest,
    incident_id: UUID,
    run: Callable[[], object],
    told: str | list[str],
    part: str = "",
    **typed: forms.Form,
) -> HttpResponse:
    """Run one small act and go back to its part of the page; refusals show the page as it is."""
    try:
        run()
    except NotFound as error:
        raise Http404("incident") from error
    except Conflict as error:
        said = str(error)
        return _page(
            request, incident_id, status=409, conflict=f"Nothing changed: {said}.", **typed
        )
    except BadRequest as error:
        bound = {name: form for name, form in typed.items() if form.is_bound}
        for name, form in bound.items():
            for one in error.errors:
                field = _FIELDS[name]
                form.add_error(field if field in form.fields else None, one.message)
        said = "" if bound else f"Nothing changed: {error}."  # ids of a list, typed in no form
        return _page(request, incident_id, status=422, conflict=said, **typed)
    message = told if isinstance(told, str) else " ".join(told)
    target = url(request, "incident", incident_id)
    return done(request, message, f"{target}#{part}" if part else target)


_FIELDS = {"scope_form": "wanted", "task_form": "title", "note_form": "text"}


def _page(request: ConsoleRequest, incident_id: UUID, *, status: int, **more: Any) -> HttpResponse:
    with reading(request):
        context = load_page(request, incident_id)
    return show(request, "incidents/incident.html", {**context, **more}, status=status)


def _me(request: ConsoleRequest) -> Member:
    return Member(request.user.id, request.user.get_username())


def _is_id(text: str) -> bool:
    try:
        UUID(text)
    except ValueError:
        return False
    return True
