"""Scans as pages: the list, a new one with what it would take, one as it goes and what it found.

Owns what the pages show. What people do to a scan is ``scan_acts.py``'s.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import UUID

from django.http import Http404, HttpResponse, HttpResponseRedirect
from django.utils import timezone
from django.utils.http import urlencode
from django.views.decorators.http import require_http_methods, require_safe

from audits import scan_charts
from audits import scans as scanning
from audits.access import ConsoleRequest, require
from audits.charts import Chart
from audits.domain.roles import Permission
from audits.forms.scans import KINDS, RULES_WORDS, SendForm, read_new
from audits.queries import scans as queries
from audits.views.charts import charted
from audits.views.pages import is_partial, reading, show, url
from audits.views.records import BAD_CURSOR
from records import gate_editing, scans
from records.domain.gate import default_ruleset
from records.items import BadRequest, NotFound
from records.models import Scan
from records.scope import workspace_scope

GOING = ("running", "paused")
RULES_SHOWN = 50  # of the table by rule; the rest is summed up


@require_safe
@charted
@require(Permission.VIEW)
def list_scans(request: ConsoleRequest) -> HttpResponse:
    """Show the scans, the newest first, and what the last whole one found."""
    warnings = [
        f"There is no filter “{name[:60]}” here; it was ignored."
        for name in request.GET
        if name != "after"
    ]
    with reading(request):
        try:
            page = queries.list_scans(
                cursor=request.GET.get("after") or None, workspace_id=request.here.id
            )
        except BadRequest:
            warnings.append(BAD_CURSOR)
            page = queries.list_scans(cursor=None, workspace_id=request.here.id)
        last = queries.last_whole(request.here.id)
        chart = _chart(request, last, last.result.get("rules", {})) if last else None
        unscanned = queries.load_unscanned(request.here.id)
    now = timezone.now()
    for row in page.items:
        paused = row["paused_at"] if row["state"] == "paused" else None
        lasted = (row["finished_at"] or paused or now) - row["started_at"]
        row["lasted"] = lasted - timedelta(milliseconds=row["paused_ms"])
    context = {
        "page": page,
        "warnings": warnings,
        "chart": chart,
        "unscanned": unscanned,
        "rules_words": RULES_WORDS,
        "may_start": request.here.may(Permission.RUN_JOBS),
    }
    return show(request, "scans/list.html", context)


@require_http_methods(["GET", "POST"])
@require(Permission.RUN_JOBS)
def new_scan(request: ConsoleRequest) -> HttpResponse:
    """Say what a scan of a filter would take; start it."""
    given = request.POST if request.method == "POST" else request.GET
    given_up = ""
    with reading(request):
        asked, rules, fault = read_new(given, access=request.access)
        draft = gate_editing.load_draft(request.here.id)
        estimate = None
        if not asked.faults and not fault:
            try:
                estimate = scanning.estimate(asked.scope, workspace_id=request.here.id)
            except (BadRequest, NotFound) as error:
                given_up = str(error)
    status = 422 if asked.faults or fault or given_up else 200
    if request.method == "POST" and estimate is not None:
        try:
            with workspace_scope(request.here.id):
                made = scanning.start_scan(
                    asked.scope, scans.Rules(rules), access=request.access, now=timezone.now()
                )
        except BadRequest as error:
            given_up, status = "; ".join(one.message for one in error.errors), 422
        else:
            return HttpResponseRedirect(url(request, "scan", made.id))
    context = {
        "asked": asked,
        "rules": rules,
        "fault": fault or given_up,
        "estimate": estimate,
        "draft": draft,
        "choices": [
            (name, words)
            for name, words in RULES_WORDS.items()
            if draft or name not in ("draft", "softened")
        ],
        "rules_words": RULES_WORDS,
    }
    return show(request, "scans/new.html", context, status=status)


@require_safe
@charted
@require(Permission.VIEW)
def show_scan(request: ConsoleRequest, scan_id: UUID) -> HttpResponse:
    """Show one scan: how far it is, what it found by rule, and the difference to the last."""
    with reading(request):
        context = page_of(request, scan_id)
    template = "scans/_scan.html" if is_partial(request) else "scans/scan.html"
    return show(request, template, context)


@require_safe
@require(Permission.VIEW)
def show_progress(request: ConsoleRequest, scan_id: UUID) -> HttpResponse:
    """Show how far a scan is; once it has ended, the piece fetches the whole page."""
    with reading(request):
        scan = load(request, scan_id)
        context = progress_of(scan)
    if not is_partial(request):
        return HttpResponseRedirect(url(request, "scan", scan_id))
    announce = "" if scan.state == "running" else f"The scan is {scan.state}."
    context["may_start"] = request.here.may(Permission.RUN_JOBS)
    context["has_ended"] = scan.state not in GOING  # the piece then fetches the whole, once
    return show(request, "scans/_scan_progress.html", context, announce=announce)


@require_safe
@require(Permission.VIEW)
def show_hits(request: ConsoleRequest, scan_id: UUID) -> HttpResponse:
    """Show a scan's hits page by page, as the facts read now."""
    kind, rule = request.GET.get("kind") or None, request.GET.get("rule") or None
    warnings = []
    if kind is not None and kind not in KINDS:
        warnings.append(f"There is no kind of hit “{kind[:40]}”; it was ignored.")
        kind = None
    if rule is not None and (len(rule) > 200 or "\x00" in rule):
        warnings.append("The rule could not be read; it was ignored.")
        rule = None

    def page_at(cursor: str | None) -> Any:
        return queries.list_hits(
            scan_id, kind=kind, rule=rule, cursor=cursor, workspace_id=request.here.id
        )

    with reading(request):
        scan = load(request, scan_id)
        try:
            page = page_at(request.GET.get("after") or None)
        except BadRequest:
            warnings.append(BAD_CURSOR)
            page = page_at(None)
    context = {"scan": scan, "page": page, "kind": kind, "rule": rule, "kinds": KINDS,
               "warnings": warnings}  # fmt: skip
    return show(
        request, "scans/_scan_hits.html" if is_partial(request) else "scans/hits.html", context
    )


@require_safe
@require(Permission.VIEW)
def show_agreement(request: ConsoleRequest, scan_id: UUID) -> HttpResponse:
    """Show whether the scan's rules decide as reviewers did."""
    with reading(request):
        scan = load(request, scan_id)
        agreement = scanning.replay_decisions(scan, now=timezone.now())
    context = {"scan": scan, "agreement": agreement, "rules_words": RULES_WORDS}
    partial = "scans/_scan_agreement.html"
    return show(request, partial if is_partial(request) else "scans/agreement.html", context)


def load(request: ConsoleRequest, scan_id: UUID) -> Scan:
    """Return one scan; 404 for unknown and foreign alike. Inside the workspace's scope."""
    try:
        return scans.load(scan_id, workspace_id=request.here.id)
    except NotFound as error:
        raise Http404("scan") from error


def page_of(
    request: ConsoleRequest, scan_id: UUID, *, form: SendForm | None = None
) -> dict[str, Any]:
    """Return what a scan's page shows. Inside the workspace's scope."""
    scan = load(request, scan_id)
    found = scan.result.get("rules") if scan.state not in GOING else scans.by_rule(scan.id)
    found = found or {}
    may_respond = request.here.may(Permission.RESPOND)
    progress = progress_of(scan)
    new = progress["progress"].counts["new"]
    by_new = [(name, kinds["new"]) for name, kinds in found.items() if kinds.get("new")]
    rows = sorted(
        found.items(), key=lambda row: (-row[1].get("new", 0), -sum(row[1].values()), row[0])
    )
    previous = (
        Scan.objects.filter(id=scan.previous_id, workspace_id=request.here.id).first()
        if scan.previous_id
        else None
    )
    return {
        **progress,
        "rows": [
            (name, kinds, default_ruleset().rule(name) is not None)
            for name, kinds in rows[:RULES_SHOWN]
        ],
        "more_rules": max(len(rows) - RULES_SHOWN, 0),
        "previous": previous,
        "chart": _chart(request, scan, found, previous),
        "sessions": queries.list_sessions(scan.id, workspace_id=request.here.id) if new else [],
        "sent": queries.list_sent(scan.id, workspace_id=request.here.id),
        "form": form or SendForm(rules=sorted(by_new)),
        "may_start": request.here.may(Permission.RUN_JOBS),
        "may_respond": may_respond,
        "may_review": request.here.may(Permission.REVIEW),
        "can_send": may_respond and new > 0,
    }


def progress_of(scan: Scan) -> dict[str, Any]:
    """Return how far a scan is, as its piece shows it. Inside the workspace's scope."""
    now = timezone.now()
    progress = queries.load_progress(scan, now=now)
    stopped = scan.finished_at or scan.paused_at or now
    return {
        "scan": scan,
        "progress": progress,
        "percent": min(100, progress.seen * 100 // scan.total) if scan.total else 100,
        "is_going": scan.state == "running",
        "is_partial": scan.state in ("paused", "cancelled", "failed"),
        "lasted": stopped - scan.started_at - timedelta(milliseconds=scan.paused_ms),
        "rules_words": RULES_WORDS,
    }


def _chart(
    request: ConsoleRequest,
    scan: Scan,
    found: scan_charts.ByRule,
    previous: Scan | None = None,
) -> Chart:
    if previous is None and scan.previous_id is not None:
        previous = Scan.objects.filter(id=scan.previous_id, workspace_id=scan.workspace_id).first()

    def link(scan_id: UUID, rule: str) -> str:
        return url(request, "scan-hits", scan_id, query=urlencode({"kind": "new", "rule": rule}))

    return scan_charts.new_by_rule(scan, found, previous, link=link)
