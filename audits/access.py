"""Who may open which page: from the logged-in person to an ``Access``, or a refusal.

Owns the decorators that stand before every view, and the look-up of a person's
workspaces. Opens no scope: the view does, when it knows what it reads. The
table of roles is ``domain/roles.py``; refusals are drawn by ``views/errors.py``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar, cast
from urllib.parse import quote
from uuid import UUID

from django.conf import settings
from django.core.exceptions import PermissionDenied
from django.db import connection
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.utils.http import url_has_allowed_host_and_scheme
from django_htmx.middleware import HtmxDetails

from audits.domain.roles import Permission, Role, may
from audits.models import User
from records import denials
from records.access import Access, Actor, ActorKind

PLACES_LIMIT = 51  # the workspace switch lists fifty; more are reached by their name

P = ParamSpec("P")
Answer = TypeVar("Answer", bound=HttpResponse)


@dataclass(frozen=True, slots=True)
class Place:
    """A workspace that a person may enter, and what they are there."""

    id: UUID
    name: str
    role: Role

    @property
    def slug(self) -> str:
        """The workspace in a URL: its name, or its id where the name cannot be a path's part."""
        is_plain = "/" not in self.name and self.name not in (".", "..") and not _as_id(self.name)
        return self.name if is_plain else str(self.id)

    def may(self, permission: str) -> bool:
        """Say whether the person's role here has a permission; for templates too."""
        return may(self.role, Permission(permission))


class ConsoleRequest(HttpRequest):
    """A request behind ``require``: who asks, where, and how far they reach. For types only."""

    user: User
    htmx: HtmxDetails
    request_id: str
    access: Access
    here: Place
    places: tuple[Place, ...]


class RefusedError(PermissionDenied):
    """A member whose role lacks what the page needs."""

    def __init__(self, permission: Permission) -> None:
        super().__init__(f"needs the permission {permission}")
        self.permission = permission


def require(
    permission: Permission,
) -> Callable[
    [Callable[Concatenate[ConsoleRequest, P], HttpResponseBase]], Callable[..., HttpResponseBase]
]:
    """Let a view of a workspace be reached by members whose role has ``permission``.

    A stranger gets the same 404 as for a workspace that does not exist; a
    member without the permission 403, and the attempt becomes an event.
    """

    def decorate(
        view: Callable[Concatenate[ConsoleRequest, P], HttpResponseBase],
    ) -> Callable[..., HttpResponseBase]:
        @wraps(view)
        def guarded(
            plain: HttpRequest, workspace: str, *args: P.args, **kwargs: P.kwargs
        ) -> HttpResponseBase:
            if not plain.user.is_authenticated:
                return ask_to_log_in(plain)
            request = cast(ConsoleRequest, plain)
            enter(request, workspace)
            demand(request, permission)
            return view(request, *args, **kwargs)

        guarded.permission = permission  # type: ignore[attr-defined]  # read by the ladder test
        return guarded

    return decorate


def demand(request: ConsoleRequest, permission: Permission) -> None:
    """Refuse a member without the permission, and put the attempt on record."""
    if request.here.may(permission):
        return
    match = request.resolver_match
    denials.deny(
        "console.refused",
        access=request.access,
        details={
            "permission": str(permission),
            "route": match.view_name if match else "",
            "method": str(request.method),
        },
    )
    raise RefusedError(permission)


def signed_in(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """Let a view that belongs to no workspace be reached by anybody who has logged in."""

    @wraps(view)
    def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if not request.user.is_authenticated:
            return ask_to_log_in(request)
        places = places_of(request.user.id)
        request.places = places  # type: ignore[attr-defined]
        if places:
            # Where the person was last: the navigation around the page, no access to anything.
            last = request.session.get("place")
            here = next((one for one in places if str(one.id) == last), places[0])
            request.here = here  # type: ignore[attr-defined]
        return view(request, *args, **kwargs)

    return guarded


def enter(request: ConsoleRequest, workspace: str) -> None:
    """Put the person's place and access in this workspace on the request; 404 without one."""
    found = places_of(request.user.id, workspace) if "\x00" not in workspace else ()
    if not found or workspace not in (found[0].name, str(found[0].id)):
        raise Http404("workspace")
    request.here = found[0]
    request.places = tuple(sorted(found, key=lambda place: place.name.casefold()))
    request.access = Access(
        workspace_id=request.here.id,
        actor=actor_of(request.user, request.here.role),
        workspace=request.here.name,
        request_id=request.request_id,
    )


def actor_of(user: User, role: Role | None = None) -> Actor:
    """Return a person as events name them."""
    return Actor(ActorKind.USER, user.get_username(), str(role or ""))


def places_of(user_id: UUID, wanted: str = "") -> tuple[Place, ...]:
    """Return the workspaces a person may enter, the wanted one first, then by name."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT id, name, role FROM memconsole_reach(%s, %s, %s, %s)",
            [user_id, wanted, _as_id(wanted), PLACES_LIMIT],
        )
        return tuple(Place(row[0], row[1], Role(row[2])) for row in cursor.fetchall())


def ask_to_log_in(request: HttpRequest) -> HttpResponse:
    """Send a visitor to the log-in and back; a partial's request keeps its page and its text."""
    target = request.get_full_path() if request.method == "GET" else "/"
    if cast(ConsoleRequest, request).htmx:
        return HttpResponse(
            "Your session has ended. Log in again in another tab, then repeat: nothing you typed"
            " is lost.",
            status=401,
            content_type="text/plain; charset=utf-8",
        )
    return redirect(f"{settings.LOGIN_URL}?next={quote(target)}")


def safe_next(request: HttpRequest, target: str) -> str:
    """Return where to go after a log-in: a path of this site, or the start."""
    if url_has_allowed_host_and_scheme(
        target, allowed_hosts={request.get_host()}, require_https=request.is_secure()
    ):
        return target
    return str(settings.LOGIN_REDIRECT_URL)


def client_address(request: HttpRequest) -> str:
    """Return the visitor's address: the proxy's word for it where a proxy stands in front."""
    if settings.HTTPS:
        forwarded = request.META.get("HTTP_X_FORWARDED_FOR", "").split(",")[-1].strip()
        if forwarded:
            return str(forwarded)[:64]
    return str(request.META.get("REMOTE_ADDR", ""))


def _as_id(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None
