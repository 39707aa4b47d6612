"""The policies page: what the workspace says about each predicate, and what is really written."""

from __future__ import annotations

from django.db import IntegrityError
from django.http import HttpResponse, HttpResponseRedirect
from django.views.decorators.http import require_http_methods, require_safe

from audits.access import ConsoleRequest, require
from audits.domain.roles import Permission
from audits.forms.settings import PolicyForm, initial
from audits.queries import settings as queries
from audits.views.pages import done, reading, show, url
from records import policies, recast
from records.domain.canonical import predicate_key
from records.domain.facts import Policy
from records.scope import workspace_scope

RECAST_BATCHES = 25  # of slots, brought over at once; a job does the rest of a large store


@require_safe
@require(Permission.VIEW)
def list_policies(request: ConsoleRequest) -> HttpResponse:
    """Show every predicate, those without a policy first."""
    with reading(request):
        found = queries.list_policies(request.here.id)
    context = {
        "unknown": [row for row in found if row["version"] is None],
        "known": [row for row in found if row["version"] is not None],
        "seen_cap": queries.SEEN_CAP,
    }
    return show(request, "policies/list.html", context)


@require_safe
@require(Permission.VIEW)
def show_policy(request: ConsoleRequest, predicate: str) -> HttpResponse:
    """Show one predicate's policy, its versions and what is observed."""
    return _show(request, predicate, None)


@require_http_methods(["GET", "POST"])
@require(Permission.MANAGE_POLICIES)
def edit_policy(request: ConsoleRequest, predicate: str) -> HttpResponse:
    """Show the form; with ``preview`` what it would touch; else make the next version."""
    name = _canonical(predicate)
    if name != predicate:
        return HttpResponseRedirect(url(request, "policy-edit", name))
    with reading(request):
        live = policies.book(request.here.id).resolve(name)
        touched = queries.load_touched(name, workspace_id=request.here.id)
    form = PolicyForm(request.POST or None, initial=initial(live))
    context = {
        "form": form,
        "live": live,
        "predicate": name,
        "touched": touched,
        "touched_cap": queries.TOUCHED_CAP,
        "seen_version": request.POST.get("seen_version", str(live.version)),
    }
    if request.method == "GET":
        return show(request, "policies/edit.html", context)
    if not form.is_valid():
        return show(request, "policies/edit.html", context, status=422)
    wanted = form.policy(live)
    context["changes"] = _changes(live, wanted)
    if str(live.version) != context["seen_version"]:
        context |= {"conflict": True, "seen_version": str(live.version)}
        return show(request, "policies/edit.html", context, status=409)
    if "apply" not in request.POST or not context["changes"]:
        context["is_preview"] = True
        if context["changes"]:
            with reading(request):
                context["effect"] = recast.preview(wanted, access=request.access)
        return show(request, "policies/edit.html", context)
    try:
        with workspace_scope(request.here.id):
            row = policies.change(wanted, reason=form.cleaned_data["reason"], access=request.access)
    except IntegrityError:
        context |= {"conflict": True}
        return show(request, "policies/edit.html", context, status=409)
    effect = recast.apply(wanted.predicate, access=request.access, batches=RECAST_BATCHES)
    told = f"Version {row.version} rules from now on. {_told(effect)}"
    return done(request, told, url(request, "policy", name))


def _told(effect: recast.Effect) -> str:
    """Say what became of the stored facts."""
    gone = effect.superseded + effect.merged
    text = f"{effect.records:,} stored facts were brought over"
    text += f", {gone:,} gave way." if gone else "."
    return f"{text} A job does the rest." if effect.is_partial else text


def _show(request: ConsoleRequest, predicate: str, form: PolicyForm | None) -> HttpResponse:
    name = _canonical(predicate)
    with reading(request):
        live = policies.book(request.here.id).resolve(name)
        context = {
            "live": live,
            "predicate": live.predicate,
            "versions": queries.list_versions(live.predicate, workspace_id=request.here.id),
            "touched": queries.load_touched(live.predicate, workspace_id=request.here.id),
            "values": queries.list_values(live.predicate, workspace_id=request.here.id),
            "touched_cap": queries.TOUCHED_CAP,
            "may_manage": request.here.may(Permission.MANAGE_POLICIES),
        }
    return show(request, "policies/policy.html", context)


def _canonical(predicate: str) -> str:
    return predicate_key(predicate[:200].replace("\x00", ""))


def _changes(live: Policy, wanted: Policy) -> list[tuple[str, str, str]]:
    """Return what the new version says otherwise: field, before, after."""
    before, after = initial(live), initial(wanted)
    return [
        (name.replace("_", " "), str(before[name] or "\u2013"), str(after[name] or "\u2013"))
        for name in after
        if before[name] != after[name]
    ]
