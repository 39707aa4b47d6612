"""The door for looking at sessions: the units of provenance and of containment."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from ninja import Router

from records import lists
from records.access import Scope
from records.api.answers import answer, endpoint
from records.api.auth import access_of, require_reach
from records.api.paging import NAMES, PAGING, answer_page, parameter, read_limit
from records.api.problems import invalid
from records.api.reading import read_id, read_parameters
from records.items import FieldError
from records.schemas.history import SessionAnswer, SessionPage

router = Router(tags=["sessions"])
FILTERS = [
    parameter("partition"),
    parameter("session", "The writer's name for the session"),
    parameter("agent"),
    parameter("suspended", type="boolean"),
]
BOOLEANS = {"true": True, "false": False}


@router.get(
    "/sessions",
    **endpoint(
        SessionPage,
        scope=Scope.READ,
        summary="List sessions",
        parameters=[*FILTERS, *PAGING],
        errors=(404,),
    ),
)
def list_sessions(request: HttpRequest) -> HttpResponse:
    """List sessions, the last to write first."""
    found = read_parameters(request, ("partition", "session", "agent", "suspended", *NAMES))
    if found.get("suspended", "true") not in BOOLEANS:
        raise invalid(FieldError("suspended", "must be true or false", "choice"))
    wanted = lists.SessionFilter(
        partition=found.get("partition"),
        session=found.get("session"),
        agent=found.get("agent"),
        suspended=BOOLEANS[found["suspended"]] if "suspended" in found else None,
    )
    access = access_of(request)
    require_reach(access, wanted.partition)
    page = lists.list_sessions(
        wanted,
        limit=read_limit(found),
        cursor=found.get("cursor"),
        access=access,
    )
    return answer_page(page)


@router.get(
    "/sessions/{session_id}",
    **endpoint(SessionAnswer, scope=Scope.READ, summary="One session", errors=(404, 422)),
)
def get_session(request: HttpRequest, session_id: str) -> HttpResponse:
    """Return one session and what it wrote, by decision."""
    read_parameters(request, ())
    return answer(lists.get_session(read_id(session_id), access=access_of(request)))
