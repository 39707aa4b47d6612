"""The sources: what each says now, whether it runs, and stopping it from being served.

A suspension takes one confirmation and holds for every recall that starts after it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast
from uuid import UUID

from django.http import Http404, HttpResponse
from django.views.decorators.http import require_http_methods, require_safe

from audits.access import ConsoleRequest, require
from audits.domain.roles import Permission
from audits.forms.acts import ReasonForm
from audits.forms.sources import CHOICES, read_filters
from audits.queries import sources as queries
from audits.views.modal import finish, show_form
from audits.views.pages import is_partial, reading, show, url
from audits.views.records import BAD_CURSOR
from records import curate
from records.curate import Acted
from records.items import BadRequest


@dataclass(frozen=True, slots=True)
class Containment:
    """One of the two acts: its words, and the call behind it."""

    title: str
    meaning: str
    done: str
    act: Callable[..., Acted]


SUSPEND = Containment(
    "Suspend serving",
    "From now on no recall answers with what only this source asserts. Its facts go on coming in,"
    " and nothing is deleted; release it at any time.",
    "Suspended: what only this source asserts is not served.",
    curate.suspend,
)
RELEASE = Containment(
    "Release",
    "Serve this source's facts again.",
    "Released: its facts are served again.",
    curate.release,
)


@require_safe
@require(Permission.VIEW)
def list_sources(request: ConsoleRequest) -> HttpResponse:
    """Show a page of sources; all of its state is in the URL."""
    asked = read_filters(request.GET)
    with reading(request):
        try:
            page = queries.list_sources(
                asked.wanted, cursor=asked.after, workspace_id=request.here.id
            )
        except BadRequest:
            asked.warnings.append(BAD_CURSOR)
            asked.after = None
            page = queries.list_sources(asked.wanted, cursor=None, workspace_id=request.here.id)
    context = {"asked": asked, "page": page, "choices": CHOICES, "counted": queries.COUNTED}
    template = "sources/_sources_table.html" if is_partial(request) else "sources/list.html"
    return show(request, template, context)


@require_safe
@require(Permission.VIEW)
def show_source(request: ConsoleRequest, source_id: UUID) -> HttpResponse:
    """Show one source: how its facts stand, its runs, and what it no longer emits."""
    with reading(request):
        source = _load(request, source_id)
        details = queries.load_details(source_id, workspace_id=request.here.id)
    context = {"source": source, "details": details, "cap": queries.CAP}
    return show(request, "sources/source.html", context)


def contain(how: Containment) -> Callable[..., HttpResponse]:
    """Return the view that suspends or releases a source."""

    @require_http_methods(["GET", "POST"])
    @require(Permission.RESPOND)
    def view(request: ConsoleRequest, source_id: UUID) -> HttpResponse:
        with reading(request):
            source = _load(request, source_id)
        form = ReasonForm(request.POST or None, is_reason_needed=False)
        context: dict[str, Any] = {
            "source": source,
            "form": form,
            "act": how,
            "action": request.path,
            "cap": queries.CAP,
        }
        if request.method == "GET":
            return show_form(request, "sources/contain", context)
        if not form.is_valid():
            return show_form(request, "sources/contain", context, status=422)
        acted = how.act("source", source_id, form.cleaned_data["reason"], access=request.access)
        if not acted.changed:
            context["conflict"] = f"Nothing changed: the source {acted.skipped[0][1]}."
            return show_form(request, "sources/contain", context, status=409)
        return finish(request, how.done, url(request, "source", source_id))

    return cast(Callable[..., HttpResponse], view)


def _load(request: ConsoleRequest, source_id: UUID) -> dict[str, Any]:
    """Return one source; 404 for what is unknown, foreign or out of reach."""
    source = queries.load_source(source_id, workspace_id=request.access.workspace_id)
    if source is None:
        raise Http404("source")
    return source
