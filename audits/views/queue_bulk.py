"""Deciding many held facts: a preview that is exactly what runs, the run, its receipt, its undo."""

from __future__ import annotations

from typing import Any
from uuid import UUID, uuid4

from django.contrib import messages
from django.http import Http404, HttpResponse, HttpResponseRedirect
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from audits import review_bulk
from audits.access import ConsoleRequest, require
from audits.domain.review import BY_CODE, Verb
from audits.domain.roles import Permission
from audits.forms.queue_bulk import VERBS, BulkForm, Frozen, open_seal, seal
from audits.queries.queue_bulk import MOST, Plan, plan_bulk
from audits.review import Owes
from audits.views.pages import done, reading, show, url
from audits.views.queue import ask, asking_of, reviewer_of
from records.items import NotFound


@require_http_methods(["GET", "POST"])
@require(Permission.REVIEW)
def decide_many(request: ConsoleRequest) -> HttpResponse:
    """Show what deciding all matches would do; run exactly what was shown."""
    if request.method == "POST":
        return _run(request)
    if request.GET.get("selected") and not request.GET.get("id"):
        messages.warning(request, "Select facts first: nothing was selected.")
        return HttpResponseRedirect(url(request, "queue"))
    verb = VERBS.get(request.GET.get("verb", ""), Verb.REJECT)
    with reading(request):
        context = _preview(request, verb)
    return show(request, "queue/bulk.html", context)


@require_safe
@require(Permission.REVIEW)
def show_receipt(request: ConsoleRequest, operation: UUID) -> HttpResponse:
    """Show what an operation of this person did, and what of it is undone."""
    with reading(request):
        made = review_bulk.decisions_of(operation, reviewer_of(request), request.access)
        told = review_bulk.told_of(operation, request.access)
    if not made and not any(one.actor == request.user.get_username() for one in told):
        raise Http404("operation")
    undone = sum(one.undone_at is not None for one in made)
    first = made[-1] if made else None
    context = {
        "operation": operation,
        "events": told,
        "decided": len(made),
        "undone": undone,
        "left": len(made) - undone,
        "first": first,
        "why": BY_CODE[first.reason].label if first and first.reason in BY_CODE else "",
    }
    return show(request, "queue/bulk_receipt.html", context)


@require_POST
@require(Permission.REVIEW)
def undo_many(request: ConsoleRequest, operation: UUID) -> HttpResponse:
    """Take back an operation: everything of it that has not moved on since."""
    try:
        receipt, served = review_bulk.undo_many(
            operation, reviewer=reviewer_of(request), access=request.access, now=timezone.now()
        )
    except NotFound as error:
        raise Http404("operation") from error
    text = f"{receipt.changed:,} of {receipt.asked:,} are held again. Served meanwhile: {served:,}."
    if receipt.asked == review_bulk.UNDO_MOST:
        text += " Undo again for what is left."
    return done(request, text, url(request, "queue-bulk-receipt", operation))


def _run(request: ConsoleRequest) -> HttpResponse:
    frozen = open_seal(request.POST.get("frozen", ""), request.here.id)
    if frozen is None:
        with reading(request):
            context = _preview(request, VERBS.get(request.POST.get("verb", ""), Verb.REJECT))
        context["stale"] = "The preview could not be read. This is a new one; nothing was changed."
        return show(request, "queue/bulk.html", context, status=409)
    form = BulkForm(request.POST, frozen=frozen)
    if form.is_valid():
        try:
            review_bulk.decide_many(
                frozen.items,
                operation=frozen.operation,
                verb=frozen.verb,
                reason=form.cleaned_data["reason"],
                note=form.cleaned_data["note"],
                reviewer=reviewer_of(request),
                access=request.access,
                now=timezone.now(),
            )
        except Owes as error:
            form.add_error("reason", error.message)
        else:
            return HttpResponseRedirect(url(request, "queue-bulk-receipt", frozen.operation))
    with reading(request):
        context = _preview(request, frozen.verb, frozen=frozen, form=form)
    return show(request, "queue/bulk.html", context, status=422)


def _preview(
    request: ConsoleRequest,
    verb: Verb,
    *,
    frozen: Frozen | None = None,
    form: BulkForm | None = None,
) -> dict[str, Any]:
    """Return a fresh preview; with what was previewed before, also how far it has drifted."""
    asked = ask(request)
    plan = plan_bulk(asked.wanted, verb, asking=asking_of(request))
    fresh = Frozen(uuid4() if frozen is None else frozen.operation, verb, plan.items, plan.high)
    if form is not None:
        form.frozen = fresh
    return {
        "asked": asked,
        "query": asked.query,
        "plan": plan,
        "most": MOST[verb],
        "verb": str(verb),
        "verbs": list(VERBS),
        "form": form or BulkForm(frozen=fresh),
        "frozen": seal(fresh, request.here.id),
        "drift": _drift(frozen, plan),
    }


def _drift(frozen: Frozen | None, plan: Plan) -> str:
    """Say what has changed between a preview and now."""
    if frozen is None:
        return ""
    before, now = dict(frozen.items), dict(plan.items)
    come, gone = len(now.keys() - before.keys()), len(before.keys() - now.keys())
    return f"+{come} \u2212{gone} since the preview before." if come or gone else ""
