"""The second person's inbox: what waits for an answer, the answer, and what was answered before.

Owns the pages. Who may answer, and what an answer does, is ``audits.approvals``'.
"""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.http import Http404, HttpResponse, HttpResponseRedirect
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from audits import approvals
from audits.access import ConsoleRequest, require
from audits.approvals import FourEyesError
from audits.domain.roles import Permission
from audits.forms.operation_lists import APPROVAL_STATES, read_approvals
from audits.forms.operations import DecideForm
from audits.models import Approval
from audits.views.operations import page_of
from audits.views.pages import done, is_partial, reading, show, url
from audits.views.records import BAD_CURSOR
from records.items import BadRequest, Conflict, NotFound

TOLD = {True: "Approved", False: "Refused"}


@require_safe
@require(Permission.VIEW)
def list_approvals(request: ConsoleRequest) -> HttpResponse:
    """Show what waits for a second person; with another state, what became of earlier questions."""
    with reading(request):
        asked = read_approvals(request.GET, user_id=request.user.id)

        def load(cursor: str | None) -> Any:
            return approvals.list_approvals(
                asked.wanted, cursor=cursor, workspace_id=request.here.id
            )

        try:
            page = load(asked.after)
        except BadRequest:
            asked.warnings.append(BAD_CURSOR)
            asked.after = None
            page = load(None)
    now = timezone.now()
    titles = approvals.kinds()
    for row in page.items:
        row["title"] = titles.get(row["kind"], row["kind"])
        row["is_late"] = row["state"] == "waiting" and row["expires_at"] <= now
        row["is_mine"] = row["requested_by_id"] == request.user.id
    context = {
        "asked": asked,
        "page": page,
        "states": APPROVAL_STATES,
        "kinds": titles,
        "state": asked.values.get("state", "waiting"),
        "may_answer": request.here.may(Permission.APPROVE_OPERATIONS),
    }
    partial = "approvals/_approvals_table.html"
    return show(request, partial if is_partial(request) else "approvals/list.html", context)


@require_safe
@require(Permission.VIEW)
def show_approval(request: ConsoleRequest, approval_id: UUID) -> HttpResponse:
    """Show one question with all that its answer rests on."""
    return _show(request, approval_id)


@require_POST
@require(Permission.APPROVE_OPERATIONS)
def decide(request: ConsoleRequest, approval_id: UUID) -> HttpResponse:
    """Answer a question; on a yes what was asked happens at once."""
    with reading(request):
        approval = _load(request, approval_id)
        is_alone = approvals.is_alone(approval, request.user.id)
    form = DecideForm(request.POST, is_alone=is_alone)
    if not form.is_valid():
        return _show(request, approval_id, form=form, status=422)
    try:
        approvals.decide(
            approval_id,
            is_yes=form.is_yes,
            reason=form.cleaned_data["reason"],
            access=request.access,
            user_id=request.user.id,
        )
    except FourEyesError as error:
        return _show(request, approval_id, form=form, conflict=f"{error}.", status=403)
    except (Conflict, NotFound) as error:
        conflict = f"Nothing was changed: {error}."
        return _show(request, approval_id, form=form, conflict=conflict, status=409)
    except BadRequest as error:
        for one in error.errors:
            form.add_error("reason" if one.field == "reason" else None, f"{one.message}.")
        return _show(request, approval_id, form=form, status=422)
    target = (
        url(request, "operation", approval.target_id)
        if approval.target_kind == "operation"
        else url(request, "approvals")
    )
    return done(request, f"{TOLD[form.is_yes]}: {approval.summary[:120]}", target)


@require_POST
@require(Permission.VIEW)
def withdraw(request: ConsoleRequest, approval_id: UUID) -> HttpResponse:
    """Take one's own question back."""
    with reading(request):
        approval = _load(request, approval_id)
    if approval.requested_by_id != request.user.id:
        raise Http404("approval")
    try:
        approvals.withdraw(approval_id, access=request.access)
    except Conflict as error:
        return _show(request, approval_id, conflict=f"Nothing was changed: {error}.", status=409)
    return done(request, "The request is withdrawn.", url(request, "approval", approval_id))


def _load(request: ConsoleRequest, approval_id: UUID) -> Approval:
    try:
        return approvals.load(approval_id, workspace_id=request.here.id)
    except NotFound as error:
        raise Http404("approval") from error


def _show(
    request: ConsoleRequest,
    approval_id: UUID,
    *,
    form: DecideForm | None = None,
    conflict: str = "",
    status: int = 200,
) -> HttpResponse:
    now = timezone.now()
    with reading(request):
        approval = _load(request, approval_id)
        context: dict[str, Any] = {}
        if approval.target_kind == "operation" and approval.target_id is not None:
            context = page_of(request, approval.target_id)
        is_open = approval.state == "waiting" and approval.expires_at > now
        why_not = (
            approvals.why_not(approval, request.user.id, request.here.role) if is_open else None
        )
        is_alone = (
            approvals.is_alone(approval, request.user.id) if is_open and why_not is None else False
        )
    context |= {
        "approval": approval,
        "title": approvals.kinds().get(approval.kind, approval.kind),
        "is_open": is_open,
        "is_late": approval.state == "waiting" and not is_open,
        "why_not": why_not,
        "may_answer": is_open and why_not is None,
        "is_alone": is_alone,
        "is_mine": approval.requested_by_id == request.user.id,
        "is_ousted": why_not == approvals.OUSTED,
        "form": form or DecideForm(is_alone=is_alone),
        "conflict": conflict[:1].upper() + conflict[1:],
        "about": _about(request, approval),
    }
    return show(request, "approvals/approval.html", context, status=status)


def _about(request: ConsoleRequest, approval: Approval) -> str:
    """Return where what is asked about can be looked at."""
    if approval.target_id is None:
        return url(request, "four-eyes") if approval.target_kind == "workspace" else ""
    pages = {"operation": "operation", "record": "record"}
    if approval.target_kind in pages:
        return url(request, pages[approval.target_kind], approval.target_id)
    plain = {"gate_ruleset": "gate-draft", "person": "people", "legal_hold": "legal-holds"}
    name = plain.get(approval.target_kind, "")
    return url(request, name) if name else ""


def go(request: ConsoleRequest, approval: Approval) -> HttpResponse:
    """Send whoever asked to what they asked."""
    return HttpResponseRedirect(url(request, "approval", approval.id))
