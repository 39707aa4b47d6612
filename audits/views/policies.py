"""The policies page: what the workspace says about each predicate, and what is really written."""

from __future__ import annotations

import json
from typing import Any

from django.db import IntegrityError
from django.http import HttpResponse, HttpResponseRedirect, QueryDict
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_safe

from audits import policy_preview
from audits.access import ConsoleRequest, require
from audits.domain.roles import Permission
from audits.forms.settings import PolicyForm, initial
from audits.forms.validators import MARK, TITLES, Row, read_rows, rows_of, specs_of
from audits.queries import settings as queries
from audits.queries.observed import NEWEST, load_observed
from audits.views.pages import done, reading, show, url
from records import policies, recast
from records.domain.canonical import predicate_key
from records.domain.facts import Policy
from records.scope import workspace_scope

SUGGESTED = ("ttl_days", "half_life_days", "cardinality", "normaliser")
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
    """Show the form; then what the change would do; and make the version that was shown.

    A change is made with the digest of its preview: 409 when the store, the policy or
    the settings have moved on from it.
    """
    name = _canonical(predicate)
    if name != predicate:
        return HttpResponseRedirect(url(request, "policy-edit", name))
    with reading(request):
        live = policies.book(request.here.id).resolve(name)
        touched = queries.load_touched(name, workspace_id=request.here.id)
    data, rows = _given(request, live)
    form = PolicyForm(data, initial=initial(live) | _prefilled(request))
    context: dict[str, Any] = {
        "form": form,
        "rules": rows,
        "rule_kinds": TITLES.items(),
        "live": live,
        "predicate": name,
        "touched": touched,
        "touched_cap": queries.TOUCHED_CAP,
        "seen_version": request.POST.get("seen_version", str(live.version)),
    }
    if request.method == "GET" or "add_rule" in request.POST:
        return _edit(request, context, live, live)
    if not form.is_valid():
        return _edit(request, context, live, live, status=422)
    wanted = form.policy(live)
    context["changes"] = _changes(live, wanted)
    if str(live.version) != context["seen_version"]:
        context |= {"conflict": True, "seen_version": str(live.version)}
        return _edit(request, context, live, wanted, status=409)
    if "apply" not in request.POST or not context["changes"]:
        context["is_preview"] = True
        return _edit(request, context, live, wanted)
    try:
        with workspace_scope(request.here.id):
            digest, now = request.POST.get("digest", ""), timezone.now()
            is_shown = policy_preview.is_still(digest, live, wanted, access=request.access, now=now)
            row = (
                policies.change(wanted, reason=form.cleaned_data["reason"], access=request.access)
                if is_shown
                else None
            )
    except IntegrityError:
        context |= {"conflict": True}
        return _edit(request, context, live, wanted, status=409)
    if row is None:
        context |= {"is_preview": True, "has_drifted": True}
        return _edit(request, context, live, wanted, status=409)
    effect = recast.apply(wanted.predicate, access=request.access, batches=RECAST_BATCHES)
    told = f"Version {row.version} rules from now on. {_told(effect)}"
    return done(request, told, url(request, "policy", name))


def _edit(
    request: ConsoleRequest,
    context: dict[str, Any],
    live: Policy,
    wanted: Policy,
    *,
    status: int = 200,
) -> HttpResponse:
    """Show the form beside what is observed; as a preview, with what would change."""
    now = timezone.now()
    with reading(request):
        context["observed"] = load_observed(live, wanted, workspace_id=request.here.id, now=now)
        if context.get("is_preview") and context["changes"]:
            context["preview"] = policy_preview.make(live, wanted, access=request.access, now=now)
    context["newest"] = NEWEST
    return show(request, "policies/edit.html", context, status=status)


def _given(request: ConsoleRequest, live: Policy) -> tuple[QueryDict | None, list[Row]]:
    """Return the form's data and the rows of its validators; typed JSON goes before rows."""
    if request.method != "POST":
        return None, rows_of(live.validators)
    data = request.POST.copy()
    if MARK in data and not data.get("validators"):
        rows = read_rows(data)
        data["validators"] = json.dumps(specs_of(rows))
        return data, rows
    return data, rows_of(live.validators)


def _prefilled(request: ConsoleRequest) -> dict[str, str]:
    """Return settings that a link suggests; the form still says what is wrong with them."""
    return {name: request.GET[name][:40] for name in SUGGESTED if name in request.GET}


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
            "observed": load_observed(live, live, workspace_id=request.here.id, now=timezone.now()),
            "newest": NEWEST,
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
