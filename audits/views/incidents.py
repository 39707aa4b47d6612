"""Incidents to look at: the list, the page, and the pieces that come after it.

The acts are ``incident_acts.py``'s, opening is ``incident_opening.py``'s, the
report ``incident_report.py``'s.
"""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.http import Http404, HttpResponse
from django.utils import timezone
from django.views.decorators.http import require_safe

from audits.access import ConsoleRequest, require
from audits.domain import incidents as rules
from audits.domain import radius as radius_rules
from audits.domain.roles import Permission
from audits.forms.incidents import CHOICES, NoteForm, ScopeForm, TaskForm, read_filters
from audits.incident_charts import harm_chart
from audits.queries import incident_standing as standing
from audits.queries import incidents as queries
from audits.queries import radius
from audits.queries.incident_similar import list_similar
from audits.queries.incident_timeline import list_timeline
from audits.views.charts import charted
from audits.views.pages import is_partial, reading, show
from audits.views.records import BAD_CURSOR
from records.items import BadRequest

DEPTH = 3


@require_safe
@require(Permission.VIEW)
def list_incidents(request: ConsoleRequest) -> HttpResponse:
    """Show a page of incidents; all of its state is in the URL."""
    asked = read_filters(request.GET, user_id=request.user.id)
    with reading(request):
        try:
            page = queries.list_incidents(
                asked.wanted, cursor=asked.after, workspace_id=request.here.id
            )
        except BadRequest:
            asked.warnings.append(BAD_CURSOR)
            asked.after = None
            page = queries.list_incidents(asked.wanted, cursor=None, workspace_id=request.here.id)
        owners = [] if is_partial(request) else queries.list_owners(request.here.id)
    now = timezone.now()
    for row in page.items:
        row["is_late"] = row["state"] == "open" and rules.is_late(
            row["opened_at"], row["acknowledged_at"], now=now
        )
        row["lasted"] = (row["closed_at"] or now) - row["opened_at"]
    context = {
        "asked": asked,
        "page": page,
        "choices": CHOICES,
        "owners": owners,
        "facts_cap": queries.FACTS_CAP,
    }
    template = "incidents/_incidents_table.html" if is_partial(request) else "incidents/list.html"
    return show(request, template, context)


@charted
@require_safe
@require(Permission.VIEW)
def show_incident(request: ConsoleRequest, incident_id: UUID) -> HttpResponse:
    """Show one incident; exposure, timeline and similar ones come after the page."""
    with reading(request):
        context = load_page(request, incident_id)
    return show(request, "incidents/incident.html", context)


@charted
@require_safe
@require(Permission.VIEW)
def show_exposure(request: ConsoleRequest, incident_id: UUID) -> HttpResponse:
    """Show who was served the facts in scope, and whether that stopped."""
    with reading(request):
        incident = load(request, incident_id)
        context = {"incident": incident, **load_exposure(request, incident)}
    template = (
        "incidents/_incident_exposure.html" if is_partial(request) else "incidents/piece.html"
    )
    context |= {"piece": "incidents/_incident_exposure.html", "piece_title": "Exposure"}
    return show(request, template, context)


@require_safe
@require(Permission.VIEW)
def show_timeline(request: ConsoleRequest, incident_id: UUID) -> HttpResponse:
    """Show what happened, newest first."""
    workspace_id = request.here.id
    with reading(request):
        incident = load(request, incident_id)
        facts = radius.of_incident(incident_id, workspace_id=workspace_id)
        found = radius.measure(facts, workspace_id=workspace_id)
        serves = (found.first_at, found.last_at)
        try:
            page = list_timeline(
                incident_id,
                cursor=request.GET.get("after") or None,
                workspace_id=workspace_id,
                serves=serves,
            )
        except BadRequest:
            page = list_timeline(incident_id, cursor=None, workspace_id=workspace_id, serves=serves)
    context = {"incident": incident, "page": page, "is_later": bool(request.GET.get("after"))}
    template = (
        "incidents/_incident_timeline.html" if is_partial(request) else "incidents/piece.html"
    )
    context |= {"piece": "incidents/_incident_timeline.html", "piece_title": "Timeline"}
    return show(request, template, context)


@require_safe
@require(Permission.VIEW)
def show_similar(request: ConsoleRequest, incident_id: UUID) -> HttpResponse:
    """Show other incidents that share sessions, sources, facts or rules."""
    with reading(request):
        incident = load(request, incident_id)
        rows = list_similar(incident_id, workspace_id=request.here.id)
    context = {"incident": incident, "similar": rows}
    template = "incidents/_incident_similar.html" if is_partial(request) else "incidents/piece.html"
    context |= {"piece": "incidents/_incident_similar.html", "piece_title": "Similar incidents"}
    return show(request, template, context)


def load(request: ConsoleRequest, incident_id: UUID) -> dict[str, Any]:
    """Return one incident; 404 for what is unknown and what is foreign."""
    incident = queries.load_incident(incident_id, workspace_id=request.access.workspace_id)
    if incident is None:
        raise Http404("incident")
    now = timezone.now()
    incident["is_open"] = incident["state"] == "open"
    incident["is_late"] = rules.is_late(incident["opened_at"], incident["acknowledged_at"], now=now)
    incident["lasted"] = (incident["closed_at"] or now) - incident["opened_at"]
    incident["meaning"] = rules.Severity(incident["severity"]).meaning
    return incident


def load_page(request: ConsoleRequest, incident_id: UUID) -> dict[str, Any]:
    """Return what the incident's page draws."""
    incident = load(request, incident_id)
    scope = standing.load_scope(incident_id, workspace_id=request.here.id)
    operations = queries.list_operations(incident_id, workspace_id=request.here.id, previews=True)
    previews = [one for one in operations if one["state"] == "preview"]
    operations = [one for one in operations if one["state"] != "preview"]
    behind: list[dict[str, Any]] = []
    if scope.total.served and not scope.serving:
        # All that can be suspended is, and still something is served: by whom?
        behind = standing.list_behind(incident_id, workspace_id=request.here.id)
    missing = rules.missing_to_close(work_of(incident, scope.total, operations))
    return {
        "incident": incident,
        "scope": scope,
        "verdict": rules.verdict(scope.total, parts=len(scope.parts)),
        "behind": behind,
        "operations": operations,
        "previews": previews[:3],
        "waiting": [one for one in operations if one["approval_state"] == "waiting"],
        "missing": missing if incident["is_open"] else (),
        "open_tasks": sum(task["done_at"] is None for task in incident["tasks"]),
        "may_work": request.here.may(Permission.RESPOND) and incident["is_open"],
        "may_note": request.here.may(Permission.RESPOND) and incident["state"] != "merged",
        "is_mine": incident["owner_id"] == request.user.id,
        "task_form": TaskForm(),
        "note_form": NoteForm(),
        "scope_form": ScopeForm(),
    }


def work_of(
    incident: dict[str, Any], total: rules.Standing, operations: list[dict[str, Any]]
) -> rules.Work:
    """Return what is left to do, from what a page has loaded."""
    now = timezone.now()
    return rules.Work(
        residue=total.served,
        is_residue_capped=total.is_capped,
        withheld=total.withheld,
        open_operations=sum(one["state"] in UNFINISHED for one in operations),
        waiting_approvals=sum(
            one["state"] in UNFINISHED
            and one["approval_state"] == "waiting"
            and one["expires_at"] > now
            for one in operations
        ),
        open_tasks=sum(task["done_at"] is None for task in incident["tasks"]),
        has_cause=bool(incident["cause"]),
    )


UNFINISHED = ("waiting", "queued", "running")


def load_exposure(request: ConsoleRequest, incident: dict[str, Any]) -> dict[str, Any]:
    """Return how far the facts in scope went, and the chart that asks whether it stopped."""
    workspace_id = request.here.id
    facts = radius.of_incident(incident["id"], workspace_id=workspace_id)
    found = radius.measure(facts, workspace_id=workspace_id, depth=DEPTH)
    acted = min(
        (at for at in (incident["contained_at"], incident["evicted_at"]) if at), default=None
    )
    before = found
    if acted is not None:
        before = radius.measure(facts, workspace_id=workspace_id, until=acted)
    bucket = radius_rules.bucket_for(found.first_at, found.last_at)
    buckets = radius.serves_by_time(facts, bucket, workspace_id=workspace_id, zone="UTC")
    return {
        "radius": found,
        "sentence": radius.sentence(found, now=timezone.now()),
        "taint": radius_rules.taint_sentence(found.tainted, found.tainted_sessions),
        "chart": harm_chart(
            buckets,
            bucket=bucket,
            radius=found,
            served_before=before.serves,
            contained_at=incident["contained_at"],
            evicted_at=incident["evicted_at"],
            now=timezone.now(),
        ),
    }
