"""How a view reads and answers: one scope around its queries, one shell around its content.

Owns the frame that all pages share. A view is: ``require``, parse, one
``reading`` block, ``show``. Everything is rendered eagerly, after the scope.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any, cast

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.middleware.gzip import GZipMiddleware
from django.shortcuts import render
from django.urls import NoReverseMatch, reverse
from django.utils import timezone
from psycopg.errors import QueryCanceled

from audits.access import ConsoleRequest, Place
from audits.domain import shortcuts
from audits.domain.roles import Permission
from audits.queries.shell import Shell, bound_statements, load_shell
from records.scope import workspace_scope

# Pages alone, not the API: there a client waits on the same machine, and a byte costs nothing.
# The middleware adds a random length to each answer, so that sizes give no secret away.
_gzip = GZipMiddleware(lambda request: HttpResponse())


SEEN = "operations_seen"  # in the person's session: by workspace, up to when


@dataclass(frozen=True, slots=True)
class NavItem:
    """One entry of the navigation: a page of the workspace."""

    name: str
    title: str
    icon: str
    permission: Permission = Permission.VIEW
    group: str = ""
    count: str = ""
    counted: str = ""  # what the number counts, for those who hear it


NAV: tuple[NavItem, ...] = (
    NavItem("overview", "Overview", "overview"),
    NavItem("queue", "Queue", "queue", Permission.REVIEW, count="held", counted="held"),
    NavItem("records", "Records", "records"),
    NavItem("sessions", "Sessions", "sessions", count="suspended_sessions", counted="suspended"),
    NavItem("sources", "Sources", "sources", count="suspended_sources", counted="suspended"),
    NavItem(
        "incidents",
        "Incidents",
        "incidents",
        group="Response",
        count="open_incidents",
        counted="open",
    ),
    NavItem(
        "operations",
        "Operations",
        "operations",
        group="Response",
        count="running_operations",
        counted="running",
    ),
    NavItem(
        "approvals",
        "Approvals",
        "approvals",
        group="Response",
        count="waiting_approvals",
        counted="waiting",
    ),
    NavItem("figures", "Figures", "chart", group="Health"),
    NavItem("first-audit", "First audit", "flag", group="Health"),
    NavItem("verification", "Sample and verify", "check", group="Health"),
    NavItem("scans", "Scans", "search", group="Health"),
    NavItem("freshness", "Freshness", "clock", group="Health"),
    NavItem("duplicates", "Duplicates", "copy", group="Health"),
    NavItem("as-of", "As of", "clock", group="Evidence"),
    NavItem("trail", "Audit trail", "trail", Permission.SEE_TRAIL, group="Evidence"),
    NavItem(
        "subjects", "Subject requests", "subjects", Permission.HANDLE_SUBJECTS, group="Evidence"
    ),
    NavItem("legal-holds", "Legal holds", "holds", group="Evidence"),
    NavItem("gate", "Gate", "shield", group="Settings"),
    NavItem("policies", "Policies", "policies", group="Settings"),
    NavItem("jobs", "Jobs", "jobs", group="Settings"),
    NavItem("keys", "API keys", "keys", Permission.SEE_ACCESS, group="Settings"),
    NavItem("four-eyes", "Four eyes", "approvals", group="Settings"),
    NavItem("people", "People", "people", Permission.SEE_ACCESS, group="Settings"),
    NavItem("notifications", "Notifications", "bell", Permission.SEE_ACCESS, group="Settings"),
)


class TooSlowError(PermissionDenied):
    """A page's query took longer than anybody should wait; the filters were too broad.

    A kind of PermissionDenied, because Django hands that one to a handler of
    ours (``views/errors.py``) wherever it is raised.
    """


@contextmanager
def reading(request: ConsoleRequest) -> Iterator[None]:
    """Open the workspace for a page's queries; a full page gets its shell on the way."""
    try:
        with workspace_scope(request.access.workspace_id):
            if is_partial(request):
                bound_statements()
            else:
                request.shell = load_shell(  # type: ignore[attr-defined]
                    request.access.workspace_id,
                    user_id=request.user.id,
                    now=timezone.now(),
                    seen=_seen(request),
                )
            yield
    except Exception as error:
        if isinstance(error.__cause__, QueryCanceled) or isinstance(error, QueryCanceled):
            raise TooSlowError from error
        raise


def _seen(request: ConsoleRequest) -> datetime | None:
    """Return up to when the person has seen what colleagues did in bulk here."""
    kept = (request.session.get(SEEN) or {}).get(str(request.access.workspace_id))
    return datetime.fromisoformat(kept) if kept else None


def visit(request: ConsoleRequest) -> None:
    """Load the shell of a page that reads nothing of its own."""
    with reading(request):
        pass


def is_partial(request: HttpRequest) -> bool:
    """Say whether htmx asks for a piece; a page it restores from history is asked for whole."""
    htmx = cast(ConsoleRequest, request).htmx
    return bool(htmx) and not htmx.history_restore_request and not htmx.boosted


def show(
    request: HttpRequest,
    template: str,
    context: Mapping[str, Any] | None = None,
    *,
    status: int = 200,
    announce: str = "",
) -> HttpResponse:
    """Render a page in the shell, or the partial that ``template`` names.

    ``announce`` is said by the polite live region when the answer is swapped in.
    """
    response = render(request, template, {**frame(request), **(context or {})}, status=status)
    if announce and is_partial(request):
        response.headers["HX-Trigger"] = json.dumps({"announce": announce})
    response.headers["Cache-Control"] = "no-store"
    patch_vary(response)
    _gzip.process_response(request, response)  # in place
    return response


def patch_vary(response: HttpResponse) -> None:
    """Say that the same URL answers a page or a piece, so that no cache mixes them up."""
    response.headers["Vary"] = "Cookie, HX-Request"


def done(request: ConsoleRequest, message: str, target: str) -> HttpResponse:
    """Answer an act that worked: say so, and go where its result is seen."""
    messages.success(request, message)
    return HttpResponseRedirect(target)


def frame(request: HttpRequest) -> dict[str, Any]:
    """Return what ``base.html`` draws around the content; works for strangers as well."""
    user = request.user if hasattr(request, "user") and request.user.is_authenticated else None
    here: Place | None = getattr(request, "here", None)
    shell: Shell | None = getattr(request, "shell", None)
    remap = user.remap if user else {}
    return {
        "here": here,
        "places": getattr(request, "places", ()),
        "shell": shell,
        "nav": _nav(request, here, shell) if here else [],
        "shortcut_groups": shortcuts.grouped(remap),
        "keymap": shortcuts.keymap(remap),
        "person": user,
        "jump": request.GET.get("q") or request.GET.get("text") or "",
        "may_respond": bool(here and here.may(Permission.RESPOND)),
        "may_hold": bool(here and here.may(Permission.HANDLE_SUBJECTS)),
        "may_see_trail": bool(here and here.may(Permission.SEE_TRAIL)),
    }


def url(request: ConsoleRequest, name: str, *args: object, query: str = "") -> str:
    """Return the URL of a page of this workspace."""
    path = reverse(f"console:{name}", args=[request.here.slug, *args])
    return f"{path}?{query}" if query else path


def _nav(request: HttpRequest, here: Place, shell: Shell | None) -> list[dict[str, Any]]:
    """Return the groups of pages that this person may open, with capped counts."""
    match = request.resolver_match
    current = (match.url_name if match else "") or ""
    groups: dict[str, list[dict[str, Any]]] = {}
    for item in NAV:
        if not here.may(item.permission):
            continue
        try:
            target = reverse(f"console:{item.name}", args=[here.slug])
        except NoReverseMatch:
            continue
        groups.setdefault(item.group, []).append(
            {
                "item": item,
                "url": target,
                "is_current": bool(current) and (current == item.name or _is_below(current, item)),
                "count": getattr(shell, item.count) if shell and item.count else 0,
            }
        )
    return [{"title": title, "items": items} for title, items in groups.items()]


def _is_below(current: str, item: NavItem) -> bool:
    """Say whether a page belongs under an entry: ``record-evict`` is under ``records``."""
    one = item.name.removesuffix("s")
    return current == one or current.startswith(one + "-")
