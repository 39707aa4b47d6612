"""Legal holds: what must be kept, why, since when; placing one, and ending one with a second person.

Owns the way from the forms to ``records.holds`` and ``audits.hold_release``.
"""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.http import Http404, HttpResponse
from django.views.decorators.http import require_http_methods, require_safe

from audits import hold_release
from audits.access import ConsoleRequest, require
from audits.domain.roles import Permission
from audits.forms.privacy import KINDS, HoldForm, ReleaseForm
from audits.queries import holds as queries
from audits.views.modal import finish, show_form
from audits.views.pages import is_partial, reading, show, url
from records import holds
from records.items import BadRequest, Conflict, NotFound


@require_safe
@require(Permission.VIEW)
def list_holds(request: ConsoleRequest) -> HttpResponse:
    """Show the holds that stand; released ones on request."""
    warnings: list[str] = []
    state = _choice(request, "state", queries.STATES, warnings) or "standing"
    kind = _choice(request, "kind", tuple(kind for kind, _ in KINDS), warnings)
    warnings += unknown_filters(request, "state", "kind", "after")
    after = request.GET.get("after") or None
    with reading(request):
        try:
            page = _load(request, state, kind, after)
        except BadRequest:
            warnings.append("The place in the list could not be read; this is its beginning.")
            after, page = None, _load(request, state, kind, None)
    context = {
        "page": page,
        "state": state,
        "kind": kind,
        "kinds": KINDS,
        "after": after,
        "warnings": warnings,
        "may_hold": request.here.may(Permission.HANDLE_SUBJECTS),
    }
    template = "legal_holds/_holds_table.html" if is_partial(request) else "legal_holds/list.html"
    return show(request, template, context)


@require_http_methods(["GET", "POST"])
@require(Permission.HANDLE_SUBJECTS)
def place_hold(request: ConsoleRequest) -> HttpResponse:
    """Ask what is to be kept and why, then keep it."""
    form = HoldForm(request.POST or None, initial=_named(request))
    context: dict[str, Any] = {"form": form, "action": request.path, "title": "Place a legal hold"}
    with reading(request):
        given = form.cleaned_data if form.is_bound and form.is_valid() else form.initial
        target = None
        if given.get("kind") and given.get("target"):
            target = queries.find_target(
                given["kind"],
                given["target"],
                given.get("partition", ""),
                workspace_id=request.here.id,
            )
        context["target"] = target
    if request.method == "GET":
        return show_form(request, "legal_holds/hold", context)
    if form.is_valid() and target is None:
        form.add_error("target", f"There is no such {form.cleaned_data['kind']} here.")
    if not form.is_valid() or target is None:
        return show_form(request, "legal_holds/hold", context, status=422)
    kind = form.cleaned_data["kind"]
    try:
        holds.place(kind, target["id"], form.cleaned_data["reason"], access=request.access)
    except (Conflict, NotFound) as error:
        context["conflict"] = f"Nothing changed: {error}."
        return show_form(request, "legal_holds/hold", context, status=409)
    return finish(
        request,
        "On legal hold: nobody can erase it until the hold is released.",
        url(request, "legal-holds"),
    )


@require_http_methods(["GET", "POST"])
@require(Permission.HANDLE_SUBJECTS)
def release_hold(request: ConsoleRequest, hold_id: UUID) -> HttpResponse:
    """Ask why a hold is to end, and ask a second person."""
    with reading(request):
        hold = queries.load_hold(hold_id, workspace_id=request.here.id)
    if hold is None:
        raise Http404("legal hold")
    form = ReleaseForm(request.POST or None)
    context = {"hold": hold, "form": form, "action": request.path, "title": "Release a legal hold"}
    if hold["released_at"] is not None:
        context["conflict"] = f"It was released already, by {hold['released_by']}."
    elif hold["approval_id"] is not None:
        context["conflict"] = "Its release waits for a second person already."
    if request.method == "GET":
        return show_form(request, "legal_holds/release", context)
    if "conflict" in context:
        return show_form(request, "legal_holds/release", context, status=409)
    if not form.is_valid():
        return show_form(request, "legal_holds/release", context, status=422)
    try:
        hold_release.ask(
            hold, form.cleaned_data["reason"], access=request.access, user_id=request.user.id
        )
    except Conflict as error:
        context["conflict"] = f"Nothing changed: {error}."
        return show_form(request, "legal_holds/release", context, status=409)
    return finish(
        request,
        "Asked for: the hold stands until a second person agrees.",
        url(request, "legal-holds"),
    )


def _load(request: ConsoleRequest, state: str, kind: str | None, after: str | None) -> Any:
    return queries.list_holds(state=state, kind=kind, cursor=after, workspace_id=request.here.id)


def unknown_filters(request: ConsoleRequest, *known: str) -> list[str]:
    """Return a warning for each name in the URL that is no filter of the page."""
    return [
        f"There is no filter \u201c{name[:60]}\u201d here; it was ignored."
        for name in request.GET
        if name not in known
    ]


def _choice(
    request: ConsoleRequest, name: str, known: tuple[str, ...], warnings: list[str]
) -> str | None:
    """Return a filter's value; an unknown one becomes a warning."""
    value = request.GET.get(name, "").strip()
    if value and value not in known:
        warnings.append(
            f"The filter \u201c{name}\u201d knows {', '.join(known)}, but not"
            f" \u201c{value[:60]}\u201d; it was ignored."
        )
        return None
    return value or None


def _named(request: ConsoleRequest) -> dict[str, str]:
    """Return what a link on another page has named already."""
    return {
        name: request.GET.get(name, "")[:200].replace("\x00", "")
        for name in ("kind", "target", "partition")
    }
