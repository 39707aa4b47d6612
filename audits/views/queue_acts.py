"""What a reviewer does to the open item: decide, note, undo; and what comes next.

Owns the way from a form to ``audits.review`` and back: 200 with the next item leased, or
the item itself with a panel that says why not. What was typed is kept in every case.
"""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpResponse, HttpResponseRedirect, QueryDict
from django.utils import timezone
from django.views.decorators.http import require_POST

from audits import review
from audits.access import ConsoleRequest, require, safe_next
from audits.domain.review import Verb
from audits.domain.roles import Permission
from audits.forms.decision import NOTE, REOPEN, DecisionForm
from audits.forms.queue import AskedQueue
from audits.leases import Lease, Leased
from audits.review import AlreadyDecided, Decided, Erased, Owes, Wish
from audits.review_bulk import operation_of
from audits.views.pages import done, is_partial, reading, show, url
from audits.views.queue import ask, next_lease, reviewer_of
from audits.views.queue_item import (
    Panel,
    item_context,
    leased_panel,
    show_context,
    take_lease,
)
from records.items import BadRequest, Conflict, NotFound

TOLD = {
    Verb.APPROVE: "Approved",
    Verb.SUPERSEDE: "Approved in place of the current value",
    Verb.EDIT: "Edited and approved",
    Verb.REJECT: "Rejected",
    Verb.SNOOZE: "Snoozed",
}
SECOND = "A second person is asked; it is held until then"


@require_POST
@require(Permission.REVIEW)
def decide(request: ConsoleRequest, record_id: UUID) -> HttpResponse:
    """Make one decision and hand out the next item; or say, in the item's place, why not."""
    if request.POST.get("act") in (NOTE, REOPEN):
        return _note(request, record_id)
    form = DecisionForm(request.POST)
    if not form.is_valid():
        return _refuse(request, record_id, Panel("owes", "", form.faults()), 422)
    wish = _wish(record_id, form.cleaned_data)
    try:
        decided = review.decide(
            wish, reviewer=reviewer_of(request), access=request.access, now=timezone.now()
        )
    except Leased as leased:
        return _refuse(request, record_id, leased_panel(leased), 423)
    except Erased:
        return _refuse(request, record_id, None, 410)
    except AlreadyDecided as first:
        changed = Panel("changed", "It has changed since you looked: look again, then decide.")
        return _refuse(request, record_id, changed if first.status == "quarantined" else None, 409)
    except NotFound as error:
        raise Http404("record") from error
    except Owes as error:
        return _refuse(request, record_id, Panel("owes", "", [error.message]), 422)
    except BadRequest as error:
        faults = [f"{one.field}: {one.message}" for one in error.errors]
        return _refuse(request, record_id, Panel("owes", "", faults), 422)
    except Conflict as error:
        text = f"{str(error)[:1].upper()}{str(error)[1:]}."
        return _refuse(request, record_id, Panel("changed", text), 409)
    return _advance(request, decided, done_before=form.cleaned_data["done"] or 0)


@require_POST
@require(Permission.REVIEW)
def undo(request: ConsoleRequest) -> HttpResponse:
    """Take back the person's last decision, or the one named, and open its fact again."""
    named = request.POST.get("decision", "")
    if not named and (operation := _last_operation(request)):
        return HttpResponseRedirect(url(request, "queue-bulk-receipt", operation))
    try:
        undone = review.undo(
            reviewer=reviewer_of(request),
            access=request.access,
            now=timezone.now(),
            decision_id=UUID(named) if named else None,
        )
    except (NotFound, ValueError):
        return _not_undone(request, "There is no decision of yours to undo.")
    except Conflict as error:
        return _not_undone(request, f"It cannot be undone any more: {error}.")
    served = undone.serves_meanwhile
    times = f"It was served {served} time{'' if served == 1 else 's'} meanwhile."
    told = f"Undone: it is held again. {times if served else 'Nobody was served it.'}"
    if not is_partial(request):
        return done(request, told, url(request, "queue-item", undone.record_id))
    with reading(request):
        asked = ask(request)
        lease, panel = take_lease(request, undone.record_id)
        context = item_context(
            request, undone.record_id, asked, lease=lease, panel=panel, last=told
        )
    here = url(request, "queue-item", undone.record_id, query=asked.query)
    return show_context(request, context, announce=told, push=here)


def _last_operation(request: ConsoleRequest) -> UUID | None:
    """Return the operation that the person's last decision was part of, if it was of one."""
    with reading(request):
        made = review.recent(reviewer=reviewer_of(request), access=request.access)
    last = next((one for one in made if one.undone_at is None), None)
    return operation_of(last.idempotency_key) if last else None


def _wish(record_id: UUID, given: dict[str, Any]) -> Wish:
    verb, reason = given["act"]
    return Wish(
        record_id=record_id,
        version=given["version"],
        token=given["token"],
        verb=Verb(verb),
        key=given["key"],
        reason=reason,
        note=given["note"],
        value=given["value"],
        valid_until=given["valid_until"],
        snooze_until=given["snooze_until"],
        snooze_until_served=given.get("until_served", False),
    )


def _advance(request: ConsoleRequest, decided: Decided, *, done_before: int) -> HttpResponse:
    """Answer a decision with the next item, leased; or with the end of the queue."""
    told = SECOND if decided.answer.get("asked") else TOLD[Verb(decided.verb)]
    with reading(request):
        asked = ask(request)
        lease = next_lease(request, asked, skip=[decided.record_id])
        if lease is None or not is_partial(request):
            return _elsewhere(request, asked, lease, told)
        made = done_before + 1
        context = item_context(
            request, lease.record_id, asked, lease=lease, done=made, last=f"{told}."
        )
    place = f"{made + 1:,} of {made + context['open']:,}"
    return show_context(
        request,
        context,
        announce=f"{told}. Next: {place}.",
        push=url(request, "queue-item", lease.record_id, query=asked.query),
    )


def _elsewhere(
    request: ConsoleRequest, asked: AskedQueue, lease: Lease | None, told: str
) -> HttpResponse:
    """Go on without a script, or say that this was the last open item."""
    if lease is not None:
        target = url(request, "queue-item", lease.record_id, query=asked.query)
        return done(request, f"{told}.", target)
    if not is_partial(request):
        return done(
            request, f"{told}. It was the last open item.", url(request, "queue", query=asked.query)
        )
    response = show(
        request,
        "queue/_queue_end.html",
        {"asked": asked, "query": asked.query, "last": f"{told}."},
        announce=f"{told}. It was the last open item.",
    )
    response.headers["HX-Push-Url"] = url(request, "queue", query=asked.query)
    return response


def _note(request: ConsoleRequest, record_id: UUID) -> HttpResponse:
    """Keep a note; a wish to reopen is one that says so."""
    text = request.POST.get("note", "").strip()
    if request.POST.get("act") == REOPEN:
        text = f"Please reopen. {text}".strip()
    try:
        review.add_note(record_id, text, access=request.access, now=timezone.now())
    except NotFound as error:
        raise Http404("record") from error
    except Owes as error:
        return _refuse(request, record_id, Panel("owes", "", [error.message]), 422)
    if not is_partial(request):
        target = url(request, "queue-item", record_id, query=request.GET.urlencode())
        return done(request, "The note is kept.", target)
    return _again(request, record_id, None, 200, announce="The note is kept.", keep_note=False)


def _refuse(
    request: ConsoleRequest, record_id: UUID, panel: Panel | None, status: int
) -> HttpResponse:
    """Show the item as it is now, why nothing happened, and what was typed."""
    return _again(request, record_id, panel, status, announce="Nothing was changed.")


def _again(
    request: ConsoleRequest,
    record_id: UUID,
    panel: Panel | None,
    status: int,
    *,
    announce: str,
    keep_note: bool = True,
) -> HttpResponse:
    draft = _draft(request.POST, keep_note=keep_note)
    with reading(request):
        asked = ask(request)
        lease, leased = take_lease(request, record_id)
        made = request.POST.get("done", "")
        context = item_context(
            request,
            record_id,
            asked,
            lease=lease,
            panel=leased or panel,
            draft=draft,
            done=int(made) if made.isdecimal() and len(made) < 7 else 0,
        )
    return show_context(request, context, status=status, announce=announce)


def _draft(given: QueryDict, *, keep_note: bool) -> dict[str, Any]:
    """Return what was typed and chosen, to stand in the form again."""
    verb = str(given.get("act", "")).partition(":")[0]
    kept = ("value", "valid_until", "snooze_until", *(("note",) if keep_note else ()))
    return {name: given.get(name, "") for name in kept} | {"verb": verb}


def _not_undone(request: ConsoleRequest, text: str) -> HttpResponse:
    """Say why nothing was undone, where the person is."""
    messages.error(request, text)
    if is_partial(request):
        target = safe_next(request, request.headers.get("HX-Current-URL", ""))
        return HttpResponse(status=204, headers={"HX-Redirect": target})
    return HttpResponseRedirect(url(request, "queue"))
