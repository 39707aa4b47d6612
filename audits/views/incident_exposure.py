"""Who was served the facts of an incident's scope: the list, and the file to notify them."""

from __future__ import annotations

from uuid import UUID

from django.http import Http404, HttpResponse
from django.http.response import HttpResponseBase
from django.utils import timezone
from django.views.decorators.http import require_GET, require_safe

from audits import exposure
from audits.access import ConsoleRequest, require
from audits.domain.radius import CAP, DEPTH, sentence, taint_sentence
from audits.domain.roles import Permission
from audits.exposure import About
from audits.queries import radius
from audits.queries.radius_taint import list_tainted, weigh
from audits.views.incidents import load
from audits.views.pages import is_partial, reading, show, url
from audits.views.radius import EVIDENCE, send
from audits.views.records import BAD_CURSOR
from records.items import BadRequest


@require_safe
@require(Permission.VIEW)
def show_exposed(request: ConsoleRequest, incident_id: UUID) -> HttpResponse:
    """Show who was served, session by session; the file lists everybody."""
    workspace_id = request.here.id
    after = request.GET.get("after") or None
    warnings = _unknown(request, frozenset({"after"}))
    with reading(request):
        incident = load(request, incident_id)
        facts = radius.of_incident(incident_id, workspace_id=workspace_id)
        try:
            page = radius.list_exposed(facts, cursor=after, workspace_id=workspace_id)
        except BadRequest:
            warnings.append(BAD_CURSOR)
            after = None
            page = radius.list_exposed(facts, cursor=None, workspace_id=workspace_id)
        found = None
        if not is_partial(request):
            found = radius.measure(facts, workspace_id=workspace_id)
    context = {
        "incident": incident,
        "page": page,
        "radius": found,
        "sentence": sentence(found, now=timezone.now()) if found else "",
        "cap": CAP,
        "is_first": after is None,
        "warnings": warnings,
        "urls": {
            "exposed": url(request, "incident-exposed", incident_id),
            "export": url(request, "incident-exposed-export", incident_id),
        },
    }
    template = "radius/_exposed_list.html" if is_partial(request) else "incidents/exposed.html"
    return show(request, template, context)


@require_safe
@require(Permission.VIEW)
def show_derived(request: ConsoleRequest, incident_id: UUID) -> HttpResponse:
    """Show what was written after a serve of facts in scope, the strongest evidence first."""
    workspace_id = request.here.id
    after = request.GET.get("after") or None
    asked = request.GET.get("evidence", "")
    wanted = EVIDENCE.get(asked)
    warnings = _unknown(request, frozenset({"after", "evidence"}))
    if asked and wanted is None:
        known = ", ".join(EVIDENCE)
        warnings.append(f"The filter \u201cevidence\u201d is one of {known}; it was ignored.")
    with reading(request):
        incident = load(request, incident_id)
        facts = radius.of_incident(incident_id, workspace_id=workspace_id)
        weight = weigh(facts, workspace_id=workspace_id)
        try:
            page = list_tainted(facts, cursor=after, workspace_id=workspace_id, evidence=wanted)
        except BadRequest:
            warnings.append(BAD_CURSOR)
            after = None
            page = list_tainted(facts, cursor=None, workspace_id=workspace_id, evidence=wanted)
    context = {
        "incident": incident,
        "page": page,
        "weight": weight,
        "taint": taint_sentence(weight.by_depth(), weight.sessions),
        "kinds": [
            {"slug": slug, "kind": one, "count": weight.by_evidence(one)}
            for slug, one in EVIDENCE.items()
        ],
        "wanted": wanted,
        "is_first": after is None,
        "depth": DEPTH,
        "warnings": warnings,
        "urls": {"derived": url(request, "incident-derived", incident_id)},
    }
    template = "radius/_derived_list.html" if is_partial(request) else "incidents/derived.html"
    return show(request, template, context)


@require_GET
@require(Permission.VIEW)
def export(request: ConsoleRequest, incident_id: UUID) -> HttpResponseBase:
    """Send the file of people to notify."""
    by = request.GET.get("by", "partition")
    file_format = request.GET.get("format", "csv")
    with reading(request):
        load(request, incident_id)
        facts = radius.of_incident(incident_id, workspace_id=request.here.id)
    if by not in exposure.COLUMNS or file_format not in exposure.FORMATS:
        raise Http404("export")
    about = About("incident", incident_id)
    return send(request, facts, about, by=by, file_format=file_format)


def _unknown(request: ConsoleRequest, known: frozenset[str]) -> list[str]:
    return [
        f"There is no filter \u201c{name[:60]}\u201d here; it was ignored."
        for name in request.GET
        if name not in known
    ]
