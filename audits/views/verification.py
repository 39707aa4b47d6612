"""Sample and verify: the batches, one fact at a time, and what the answers mean."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpResponse, HttpResponseRedirect
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from audits import sampling, sampling_charts
from audits.access import ConsoleRequest, require
from audits.domain.roles import Permission
from audits.domain.sampling import CHOSEN, LEAST_ANSWERS, Verdict, Weighting
from audits.forms.sampling import DrawForm, VerdictForm
from audits.leases import Reviewer
from audits.sampling.answering import REGRET
from audits.sampling.reading import list_items, load_trend
from audits.views.charts import charted
from audits.views.pages import done, reading, show, url
from records.items import BadRequest, Conflict, NotFound
from records.policies import book
from records.scope import workspace_scope

WORDS = {
    Weighting.UNIFORM: "every fact alike",
    Weighting.SERVES: "by serves",
    Weighting.RISK: "by risk",
    CHOSEN: "chosen by a person, no sample of the whole",
}


@require_safe
@require(Permission.VIEW)
@charted
def list_batches(request: ConsoleRequest) -> HttpResponse:
    """Show the batches, and what the latest of them say together."""
    with reading(request):
        warnings: list[str] = []
        try:
            page = sampling.list_batches(
                cursor=request.GET.get("after") or None, workspace_id=request.here.id
            )
        except BadRequest:
            warnings.append("The place in the list could not be read from the URL.")
            page = sampling.list_batches(cursor=None, workspace_id=request.here.id)
        trend = load_trend(workspace_id=request.here.id)
        figures = sampling.load_figures(
            [batch["id"] for batch, _ in trend], workspace_id=request.here.id
        )
    context = {
        "page": page,
        "warnings": warnings,
        "figures": figures,
        "words": WORDS,
        "least": LEAST_ANSWERS,
        "charts": sampling_charts.of_all(figures, trend),
        "may_review": request.here.may(Permission.REVIEW),
    }
    return show(request, "verification/list.html", context)


@require_http_methods(["GET", "POST"])
@require(Permission.REVIEW)
def new_batch(request: ConsoleRequest) -> HttpResponse:
    """Draw a sample."""
    form = DrawForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        asked = form.cleaned_data
        try:
            with workspace_scope(request.here.id):
                wanted = sampling.Draw(
                    size=asked["size"],
                    weighting=Weighting(asked["weighting"]),
                    seed=asked["seed"],
                    recheck_share=asked["recheck"] / 100,
                    predicate=book(request.here.id).resolve(asked["predicate"]).predicate
                    if asked["predicate"]
                    else None,
                    partition=asked["partition"],
                )
                batch = sampling.draw(wanted, access=request.access, now=timezone.now())
        except BadRequest as error:
            for one in error.errors:
                form.add_error(None, f"The {one.field} {one.message}.")
        else:
            return HttpResponseRedirect(url(request, "verification-batch", batch.id))
    with reading(request):
        pass
    status = 422 if request.method == "POST" else 200
    return show(request, "verification/new.html", {"form": form}, status=status)


@require_safe
@require(Permission.VIEW)
def show_batch(request: ConsoleRequest, batch_id: UUID) -> HttpResponse:
    """Show one batch: how it was drawn, what was found, and what that means."""
    verdict = request.GET.get("verdict") or None
    if verdict not in (None, *Verdict, "gone"):
        verdict = None
    is_disputed = request.GET.get("disputed") == "yes"
    with reading(request):
        batch = _batch(request, batch_id)
        try:
            page = _items(request, batch_id, verdict, is_disputed, request.GET.get("after") or None)
        except BadRequest:
            page = _items(request, batch_id, verdict, is_disputed, None)
        figures = sampling.load_figures([batch_id], workspace_id=request.here.id)
    context = {
        "batch": batch,
        "page": page,
        "figures": figures,
        "word": WORDS[batch["weighting"]],
        "least": LEAST_ANSWERS,
        "verdict": verdict,
        "is_disputed": is_disputed,
        "verdicts": [*Verdict, "gone"],
        "may_review": request.here.may(Permission.REVIEW),
        "may_settle": request.here.may(Permission.RESPOND),
    }
    return show(request, "verification/batch.html", context)


@require_safe
@require(Permission.REVIEW)
def take_next(request: ConsoleRequest, batch_id: UUID) -> HttpResponse:
    """Hand out the next fact, and go to it; ``skip`` leaves one for later."""
    skip: list[UUID] = []
    for text in request.GET.getlist("skip")[:100]:
        try:
            skip.append(UUID(text))
        except ValueError as error:
            raise Http404("sample item") from error
    with workspace_scope(request.here.id):
        _batch(request, batch_id)
        item = sampling.take_next(
            batch_id, _reviewer(request), access=request.access, now=timezone.now(), skip=skip
        )
    if item is None:
        messages.info(request, "Nothing is left for you in this sample.")
        return HttpResponseRedirect(url(request, "verification-batch", batch_id))
    return HttpResponseRedirect(url(request, "verification-item", item))


@require_safe
@require(Permission.REVIEW)
def show_item(request: ConsoleRequest, item_id: UUID) -> HttpResponse:
    """Show one fact and ask what it is."""
    with reading(request):
        item = _item(request, item_id)
        batch = _batch(request, item["batch_id"])
    return show(request, "verification/item.html", _task(request, item, batch))


@require_POST
@require(Permission.REVIEW)
def give_verdict(request: ConsoleRequest, item_id: UUID) -> HttpResponse:
    """Take a verdict and go to the next fact; one that cannot be taken comes back with its text."""
    form = VerdictForm(request.POST)
    error, status = "", 422
    if form.is_valid():
        try:
            with workspace_scope(request.here.id):
                batch_id = sampling.answer(
                    item_id,
                    Verdict(form.cleaned_data["verdict"]),
                    value=form.cleaned_data["value"],
                    reviewer=_reviewer(request),
                    access=request.access,
                    now=timezone.now(),
                )
        except NotFound as missing:
            raise Http404("sample item") from missing
        except Conflict as conflict:
            error, status = f"Nothing was changed: {conflict}.", 409
        except BadRequest as bad:
            error = "; ".join(f"The {one.field} {one.message}" for one in bad.errors) + "."
        else:
            return done(
                request,
                f"Noted: {form.cleaned_data['verdict']}. It acts in {REGRET.seconds} s; until then"
                " you can undo it.",
                url(request, "verification-next", batch_id),
            )
    else:
        error = "; ".join(f"{name}: {what[0]}" for name, what in form.errors.items())
    with reading(request):
        item = _item(request, item_id)
        batch = _batch(request, item["batch_id"])
    context = _task(request, item, batch) | {
        "error": error,
        "typed": request.POST.get("value", ""),
    }
    return show(request, "verification/item.html", context, status=status)


@require_POST
@require(Permission.REVIEW)
def undo(request: ConsoleRequest) -> HttpResponse:
    """Take the last verdict back, and open its fact again."""
    with workspace_scope(request.here.id):
        item = sampling.undo_last(
            reviewer=_reviewer(request), access=request.access, now=timezone.now()
        )
    if item is None:
        messages.warning(request, "There is no verdict of yours that can still be taken back.")
        return HttpResponseRedirect(url(request, "verification"))
    return done(request, "Taken back.", url(request, "verification-item", item))


@require_POST
@require(Permission.RESPOND)
def settle(request: ConsoleRequest, item_id: UUID) -> HttpResponse:
    """Decide between two verdicts that differ."""
    verdict = request.POST.get("verdict", "")
    if verdict not in list(Verdict):
        raise Http404("verdict")
    with workspace_scope(request.here.id):
        item = _item(request, item_id)
        try:
            sampling.settle(
                item_id, Verdict(verdict), reviewer=_reviewer(request), access=request.access
            )
        except Conflict as conflict:
            messages.error(request, f"Nothing was changed: {conflict}.")
        else:
            messages.success(request, f"Settled: {verdict}.")
    target = url(request, "verification-batch", item["batch_id"], query="disputed=yes")
    return HttpResponseRedirect(target)


@require_POST
@require(Permission.REVIEW)
def close(request: ConsoleRequest, batch_id: UUID) -> HttpResponse:
    """End a batch."""
    with workspace_scope(request.here.id):
        _batch(request, batch_id)
        closed = sampling.close(batch_id, access=request.access, now=timezone.now())
    if not closed:
        messages.warning(request, "The sample was closed already.")
    return HttpResponseRedirect(url(request, "verification-batch", batch_id))


def _task(request: ConsoleRequest, item: dict[str, Any], batch: dict[str, Any]) -> dict[str, Any]:
    is_mine = item["answered_by_id"] == request.user.id
    return {
        "item": item,
        "batch": batch,
        # Nobody looks twice at one fact, and a second look is blind.
        "is_answered": item["is_second"] and (is_mine or bool(item["second_verdict"])),
        "may_answer": batch["closed_at"] is None,
    }


def _items(
    request: ConsoleRequest,
    batch_id: UUID,
    verdict: str | None,
    is_disputed: bool,
    after: str | None,
) -> Any:
    return list_items(
        batch_id,
        verdict=verdict,
        is_disputed=is_disputed,
        cursor=after,
        workspace_id=request.here.id,
    )


def _reviewer(request: ConsoleRequest) -> Reviewer:
    return Reviewer(request.user.id, request.user.get_username())


def _batch(request: ConsoleRequest, batch_id: UUID) -> dict[str, Any]:
    found = sampling.load_batch(batch_id, workspace_id=request.here.id)
    if found is None:
        raise Http404("sample")
    return found


def _item(request: ConsoleRequest, item_id: UUID) -> dict[str, Any]:
    found = sampling.open_item(item_id, workspace_id=request.here.id)
    if found is None:
        raise Http404("sample item")
    return found
