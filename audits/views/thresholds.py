"""The settings page of four eyes and retention: everybody may read it, administrators change it."""

from __future__ import annotations

from dataclasses import asdict

from django.http import HttpResponse, HttpResponseRedirect
from django.views.decorators.http import require_POST, require_safe

from audits import thresholds
from audits.access import ConsoleRequest, require
from audits.domain.roles import Permission, roles_with
from audits.forms.thresholds import ThresholdsForm
from audits.views.pages import done, reading, show, url
from records.items import Conflict


@require_safe
@require(Permission.VIEW)
def show_thresholds(request: ConsoleRequest) -> HttpResponse:
    """Show what takes a second person here."""
    return _show(request)


@require_POST
@require(Permission.MANAGE_PEOPLE)
def change_thresholds(request: ConsoleRequest) -> HttpResponse:
    """Change the settings; a looser one waits for a second person."""
    form = ThresholdsForm(request.POST)
    if not form.is_valid():
        return _show(request, form=form, status=422)
    try:
        asked = thresholds.change(
            form.wanted,
            reason=form.cleaned_data["reason"],
            access=request.access,
            user_id=request.user.id,
        )
    except Conflict as error:
        return _show(request, form=form, conflict=f"Nothing changed: {error}.", status=409)
    if asked is not None and asked.state == "waiting":
        return HttpResponseRedirect(url(request, "approval", asked.id))
    return done(request, "The settings count from now on.", url(request, "four-eyes"))


def _show(
    request: ConsoleRequest,
    *,
    form: ThresholdsForm | None = None,
    conflict: str = "",
    status: int = 200,
) -> HttpResponse:
    with reading(request):
        now = thresholds.load(request.here.id)
    may_change = request.here.may(Permission.MANAGE_PEOPLE)
    context = {
        "now": [(thresholds.WORDS[name], value) for name, value in asdict(now).items()],
        "form": form or (ThresholdsForm(initial=asdict(now)) if may_change else None),
        "approvers": ", ".join(roles_with(Permission.APPROVE_OPERATIONS)),
        "conflict": conflict,
    }
    return show(request, "four_eyes/four_eyes.html", context, status=status)
