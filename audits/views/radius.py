"""How far facts went: who was served those of a session or a record, and what was written then.

Owns the exposure pieces of both pages, their tabs "exposed" and "derived", and
the file of people to notify. The same pages serve both: a ``Subject`` says
whose facts they are and where its pages lie.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar
from uuid import UUID

from django.http import Http404, HttpResponse
from django.http.response import HttpResponseBase
from django.utils import timezone
from django.views.decorators.http import require_GET, require_safe

from audits import charts, exposure
from audits.access import ConsoleRequest, require
from audits.domain.radius import (
    CAP,
    DEPTH,
    Evidence,
    bucket_for,
    sentence,
    taint_sentence,
    use_sentence,
)
from audits.domain.roles import Permission
from audits.exposure import About, send_exposure
from audits.queries import radius, sessions
from audits.queries.radius_sets import Facts, of_records, of_sessions
from audits.queries.radius_taint import Weight, survey
from audits.queries.record import load_record
from audits.queries.record_use import RecordUse, list_changes, load_use
from audits.views.charts import charted
from audits.views.exports import stream
from audits.views.pages import is_partial, reading, show, url
from audits.views.records import BAD_CURSOR
from audits.views.sessions import load as load_session
from records.cursors import Page
from records.items import BadRequest

Read = TypeVar("Read")
EVIDENCE = {"repeats": Evidence.REPEATS, "alike": Evidence.ALIKE, "after": Evidence.AFTER}
FILTERS = frozenset({"after", "evidence"})


@dataclass(frozen=True, slots=True)
class Subject:
    """Whose facts: how they are found, what their page is called, and what it is drawn with."""

    name: str
    chart: str
    facts: Callable[[UUID], Facts]
    load: Callable[[ConsoleRequest, UUID], Mapping[str, Any]]

    def urls(self, request: ConsoleRequest, subject_id: UUID) -> dict[str, str]:
        """Return where the pages of one session or record are."""
        pages = {
            "page": self.name,
            "exposed": f"{self.name}-exposed",
            "derived": f"{self.name}-derived",
            "export": f"{self.name}-exposed-export",
            "chart": self.chart,
        }
        return {key: url(request, name, subject_id) for key, name in pages.items()}


def _session(request: ConsoleRequest, session_id: UUID) -> dict[str, Any]:
    return {"session": load_session(request, session_id)}


def _record(request: ConsoleRequest, record_id: UUID) -> dict[str, Any]:
    found = load_record(record_id, workspace_id=request.here.id, now=timezone.now())
    if found is None:
        raise Http404("record")
    return {"record": found}


SESSION = Subject("session", "session-exposed-chart", lambda one: of_sessions([one]), _session)
RECORD = Subject("record", "record-exposure", lambda one: of_records([one]), _record)


@require_safe
@require(Permission.VIEW)
def show_session_exposure(request: ConsoleRequest, session_id: UUID) -> HttpResponse:
    """Show how a session's facts stand, where they were served and what followed: a piece."""
    with reading(request):
        session = load_session(request, session_id)
        statuses = sessions.count_statuses(session_id, workspace_id=request.here.id)
        found = radius.measure(of_sessions([session_id]), workspace_id=request.here.id, depth=DEPTH)
    context = {
        "session": session,
        "statuses": statuses,
        "radius": found,
        "sentence": sentence(found, now=timezone.now()),
        "taint": taint_sentence(found.tainted, found.tainted_sessions),
    }
    template = "session/_session_exposure.html" if is_partial(request) else "session/exposure.html"
    return show(request, template, context)


@require_safe
@charted
@require(Permission.VIEW)
def show_record_exposure(request: ConsoleRequest, record_id: UUID) -> HttpResponse:
    """Show whether a record was used while it was wrong: words and chart, as a piece or a page."""
    facts = of_records([record_id])
    with reading(request):
        found = load_use(record_id, workspace_id=request.here.id)
        if found is None:
            raise Http404("record")
        bucket = bucket_for(found.radius.first_at, found.radius.last_at)
        zone = charts.zone_of(found.zone).key
        buckets = radius.serves_by_time(facts, bucket, workspace_id=request.here.id, zone=zone)
        changes = list_changes(record_id, workspace_id=request.here.id)
    chart = charts.serves_over_time(
        "record-use",
        "Was it used while wrong?",
        use_sentence(found.use),
        buckets,
        bucket=bucket,
        zone=zone,
        markers=_markers(found, changes),
    )
    context = {
        "record_id": record_id,
        "radius": found.radius,
        "sentence": sentence(found.radius, now=timezone.now()),
        "chart": chart,
        "urls": RECORD.urls(request, record_id),
    }
    piece = is_partial(request)
    template = "radius/_record_exposure.html" if piece else "radius/record_exposure.html"
    return show(request, template, context)


def exposed(subject: Subject) -> Callable[..., HttpResponseBase]:
    """Return the view that lists who was served a subject's facts."""

    @require_safe
    @charted
    @require(Permission.VIEW)
    def view(request: ConsoleRequest, /, **ids: UUID) -> HttpResponseBase:
        (subject_id,) = ids.values()
        facts = subject.facts(subject_id)
        warnings = _unknown(request, frozenset({"after"}))
        with reading(request):
            context = dict(subject.load(request, subject_id))
            context["radius"] = radius.measure(facts, workspace_id=request.here.id)
            context["page"] = _page(radius.list_exposed, facts, request, warnings)
        context |= {
            "tab": "exposed",
            "warnings": warnings,
            "urls": subject.urls(request, subject_id),
            "is_first": "after" not in request.GET,
            "cap": CAP,
        }
        piece = is_partial(request)
        template = "radius/_exposed_list.html" if piece else f"radius/{subject.name}_exposed.html"
        return show(request, template, context)

    return view


@require_safe
@charted
@require(Permission.VIEW)
def show_session_chart(request: ConsoleRequest, session_id: UUID) -> HttpResponse:
    """Draw when a session's facts were served, as a piece or a page."""
    facts = of_sessions([session_id])
    with reading(request):
        session = load_session(request, session_id)
        first, last, name = radius.load_span(facts, workspace_id=request.here.id)
        bucket, zone = bucket_for(first, last), charts.zone_of(name).key
        buckets = radius.serves_by_time(facts, bucket, workspace_id=request.here.id, zone=zone)
    contained = session["suspended_at"]
    chart = charts.serves_over_time(
        "exposure-over-time",
        "When did its facts reach agents?",
        _when(buckets, bucket.words),
        buckets,
        bucket=bucket,
        zone=zone,
        markers=[charts.Marker(contained, "suspended", "warn")] if contained else [],
    )
    context = {"session": session, "chart": chart, "urls": SESSION.urls(request, session_id)}
    piece = is_partial(request)
    template = "radius/_exposed_chart.html" if piece else "radius/session_chart.html"
    return show(request, template, context)


def derived(subject: Subject) -> Callable[..., HttpResponseBase]:
    """Return the view that lists what was written after a serve of a subject's facts."""

    @require_safe
    @require(Permission.VIEW)
    def view(request: ConsoleRequest, /, **ids: UUID) -> HttpResponseBase:
        (subject_id,) = ids.values()
        facts = subject.facts(subject_id)
        warnings = _unknown(request, FILTERS)
        wanted = EVIDENCE.get(request.GET.get("evidence", ""))
        if wanted is None and request.GET.get("evidence"):
            warnings.append(
                "The filter \u201cevidence\u201d is one of repeats, alike, after; it was ignored."
            )

        def read(facts: Facts, **more: Any) -> tuple[Page, Weight]:
            return survey(facts, evidence=wanted, **more)

        with reading(request):
            context = dict(subject.load(request, subject_id))
            context["page"], weight = _page(read, facts, request, warnings)
        context |= {
            "tab": "derived",
            "warnings": warnings,
            "urls": subject.urls(request, subject_id),
            "weight": weight,
            "taint": taint_sentence(weight.by_depth(), weight.sessions),
            "kinds": [
                {"slug": slug, "kind": one, "count": weight.by_evidence(one)}
                for slug, one in EVIDENCE.items()
            ],
            "wanted": wanted,
            "is_first": "after" not in request.GET,
            "depth": DEPTH,
        }
        piece = is_partial(request)
        template = "radius/_derived_list.html" if piece else f"radius/{subject.name}_derived.html"
        return show(request, template, context)

    return view


def export(subject: Subject) -> Callable[..., HttpResponseBase]:
    """Return the view that sends the file of people to notify."""

    @require_GET
    @require(Permission.VIEW)
    def view(request: ConsoleRequest, /, **ids: UUID) -> HttpResponseBase:
        (subject_id,) = ids.values()
        with reading(request):
            subject.load(request, subject_id)
        by = request.GET.get("by", "partition")
        file_format = request.GET.get("format", "csv")
        if by not in exposure.COLUMNS or file_format not in exposure.FORMATS:
            raise Http404("export")
        about = About(subject.name, subject_id)
        return send(request, subject.facts(subject_id), about, by=by, file_format=file_format)

    return view


def send(
    request: ConsoleRequest, facts: Facts, about: About, *, by: str, file_format: str
) -> HttpResponseBase:
    """Answer with the file of people to notify; for incidents, too."""
    sending = send_exposure(
        facts,
        about,
        by=by,
        file_format=file_format,
        access=request.access,
        user_id=request.user.id,
    )
    return stream(sending)


def _page(
    read: Callable[..., Read], facts: Facts, request: ConsoleRequest, warnings: list[str]
) -> Read:
    try:
        return read(facts, cursor=request.GET.get("after") or None, workspace_id=request.here.id)
    except BadRequest:
        warnings.append(BAD_CURSOR)
        return read(facts, cursor=None, workspace_id=request.here.id)


def _unknown(request: ConsoleRequest, known: frozenset[str]) -> list[str]:
    return [
        f"The filter \u201c{name[:60]}\u201d is not known here; it was ignored."
        for name in request.GET
        if name not in known
    ]


def _when(buckets: list[dict[str, Any]], words: str) -> str:
    """Say when the facts were served, in one sentence."""
    if not buckets:
        return "Never: none of its facts has been served."
    total = sum(one["serves"] for one in buckets)
    times = f"{total:,} time{'' if total == 1 else 's'}"
    if len(buckets) == 1:
        return f"{times}, all within one {words}."
    most = max(buckets, key=lambda one: (one["serves"], one["start"]))
    return (
        f"{times} in {len(buckets):,} {words}s, most in one {words}: {most['serves']:,} to"
        f" {most['sessions']:,} session{'' if most['sessions'] == 1 else 's'}."
    )


def _markers(found: RecordUse, changes: list[dict[str, Any]]) -> list[charts.Marker]:
    marks = [charts.Marker(one["at"], one["word"], one["kind"]) for one in changes]
    if found.valid_until is not None and found.valid_until <= timezone.now():
        marks.append(charts.Marker(found.valid_until, "expired", "warn"))
    return sorted(marks, key=lambda one: one.at)
