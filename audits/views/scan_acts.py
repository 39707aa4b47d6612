"""What people do to a scan: pause, resume, cancel, and send what it found to the queue."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Protocol
from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpResponse, HttpResponseRedirect
from django.utils import timezone
from django.views.decorators.http import require_POST

from audits import operations
from audits.access import ConsoleRequest, require
from audits.domain.roles import Permission
from audits.domain.scope import Scope
from audits.forms.scans import SendForm
from audits.queries import scans as queries
from audits.views.charts import charted
from audits.views.pages import done, reading, show, url
from audits.views.scans import load, page_of
from records import scans
from records.access import Access
from records.items import BadRequest, Conflict, NotFound
from records.models import Scan
from records.scope import workspace_scope
from records.tasks import wake_scanners


class Act(Protocol):
    """A change of a scan's state."""

    def __call__(self, scan_id: UUID, *, access: Access, now: datetime) -> Scan:
        """Change it, or raise Conflict."""


@require_POST
@require(Permission.RUN_JOBS)
def pause(request: ConsoleRequest, scan_id: UUID) -> HttpResponse:
    """Let a scan stand still; it goes on where it stopped."""
    return _change(request, scan_id, scans.pause, "The scan is paused. What it found so far stays.")


@require_POST
@require(Permission.RUN_JOBS)
def resume(request: ConsoleRequest, scan_id: UUID) -> HttpResponse:
    """Let a scan go on."""

    def again(scan_id: UUID, *, access: Access, now: datetime) -> Scan:
        scan = scans.resume(scan_id, access=access, now=now)
        wake_scanners(access.workspace_id)
        return scan

    return _change(request, scan_id, again, "The scan goes on.")


@require_POST
@require(Permission.RUN_JOBS)
def cancel(request: ConsoleRequest, scan_id: UUID) -> HttpResponse:
    """End a scan where it stands."""
    return _change(request, scan_id, scans.cancel, "The scan is cancelled: it is a partial one.")


@require_POST
@charted
@require(Permission.RESPOND)
def send(request: ConsoleRequest, scan_id: UUID) -> HttpResponse:
    """Freeze which new hits are to be held as the preview of an operation; go there."""
    with workspace_scope(request.here.id):
        scan = load(request, scan_id)
        found = scan.result.get("rules") or scans.by_rule(scan.id)
        rules = sorted((name, kinds["new"]) for name, kinds in found.items() if kinds.get("new"))
        form = SendForm(request.POST, rules=rules)
        scope = _scope(request, scan, form) if form.is_valid() else None
    if scope is not None:
        try:
            made = operations.preview(
                operations.Kind.HOLD, scope, access=request.access, user_id=request.user.id
            )
        except BadRequest as error:
            form.add_error(None, "; ".join(one.message for one in error.errors))
        else:
            return HttpResponseRedirect(url(request, "operation", made.id))
    with reading(request):
        context = page_of(request, scan_id, form=form)
    return show(request, "scans/scan.html", context, status=422)


def _scope(request: ConsoleRequest, scan: Scan, form: SendForm) -> Scope | None:
    asked = form.cleaned_data
    rule = asked["rule"] or None
    if asked["how"] == "all":
        return Scope(scan_id=scan.id, rule=rule)
    chosen = queries.choose_hits(
        scan.id,
        rule=rule,
        order=asked["how"],
        most=asked["most"],
        workspace_id=request.here.id,
    )
    if not chosen:
        form.add_error(None, "No new hit is in service any more.")
        return None
    return Scope(scan_id=scan.id, rule=rule, record_ids=chosen)


def _change(
    request: ConsoleRequest, scan_id: UUID, act: Act | Callable[..., Scan], said: str
) -> HttpResponse:
    target = url(request, "scan", scan_id)
    try:
        with workspace_scope(request.here.id):
            act(scan_id, access=request.access, now=timezone.now())
    except NotFound as error:
        raise Http404("scan") from error
    except Conflict as error:
        messages.error(request, f"Nothing was changed: {error}.")
        return HttpResponseRedirect(target)
    return done(request, said, target)
