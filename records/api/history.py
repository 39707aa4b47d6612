"""The door for reading facts and their trails: lists, one record, chain, claims, events.

For people and tools with the scope ``read``; an agent reads by recall. The
queries are ``records/lists.py`` and ``records/history.py``.
"""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.utils import timezone

from records import history, lists
from records.access import Scope
from records.api import memories
from records.api.answers import answer, endpoint
from records.api.auth import access_of, require_reach
from records.api.paging import NAMES, PAGING, answer_page, parameter, read_limit
from records.api.problems import invalid
from records.api.reading import read_id, read_instant, read_parameters, read_uuid
from records.domain.facts import Status
from records.items import FieldError
from records.schemas.history import ClaimPage, EventPage, MemoryAnswer, MemoryPage

router = memories.router  # ninja takes one router for all methods of a path
STATUSES = (*Status, "all")
TEXTS = ("partition", "session", "predicate", "subject", "source", "text", "external_id")
INSTANTS = ("as_of", "valid_at")
FILTERS = [
    parameter("partition", "Of a key that is bound to one, its own"),
    parameter("status", "`active` by default; with `as_of` every status", enum=list(STATUSES)),
    parameter("session", "The writer's name for the session; needs the partition"),
    parameter("session_id", format="uuid"),
    parameter("predicate", "Any spelling or alias of it"),
    parameter("subject", "Any spelling of it"),
    parameter("source", "Facts that this source claims"),
    parameter("text", "A part of content, value or subject, in any case"),
    parameter("external_id", "The writer's own id"),
    parameter("as_of", "What the store believed at this instant", format="date-time"),
    parameter(
        "valid_at",
        "Facts whose own `valid_from` and `valid_until` span this instant; recall's `valid_at`"
        " follows chains, too",
        format="date-time",
    ),
]


@router.get(
    "/memories",
    **endpoint(
        MemoryPage,
        scope=Scope.READ,
        summary="List facts",
        parameters=[*FILTERS, *PAGING],
        errors=(404,),
    ),
)
def list_memories(request: HttpRequest) -> HttpResponse:
    """List facts, newest first, in keyset pages. An unknown parameter is a 422."""
    found = read_parameters(request, (*TEXTS, *INSTANTS, "status", "session_id", *NAMES))
    status = found.get("status")
    if status is not None and status not in STATUSES:
        raise invalid(FieldError("status", f"must be one of {', '.join(STATUSES)}", "choice"))
    empty = [name for name in TEXTS if name in found and not found[name].strip()]
    if empty:
        raise invalid(*(FieldError(name, "must not be blank", "required") for name in empty))
    values: dict[str, Any] = {name: found[name] for name in TEXTS if name in found}
    values |= {name: read_instant(name, found[name]) for name in INSTANTS if name in found}
    if "session_id" in found:
        values["session_id"] = read_uuid("session_id", found["session_id"])
    wanted = lists.MemoryFilter(status=status, **values)
    access = access_of(request)
    require_reach(access, wanted.partition)
    page = lists.list_memories(
        wanted,
        limit=read_limit(found),
        cursor=found.get("cursor"),
        access=access,
        now=timezone.now(),
    )
    return answer_page(page)


@router.get(
    "/memories/{memory_id}",
    **endpoint(MemoryAnswer, scope=Scope.READ, summary="One fact", errors=(404, 422)),
)
def get_memory(request: HttpRequest, memory_id: str) -> HttpResponse:
    """Return one record, whatever its status, with its provenance and standing."""
    read_parameters(request, ())
    record_id = read_id(memory_id)
    return answer(history.get_memory(record_id, access=access_of(request), now=timezone.now()))


@router.get(
    "/memories/{memory_id}/chain",
    **endpoint(
        MemoryPage,
        scope=Scope.READ,
        summary="All facts of its slot",
        parameters=PAGING,
        errors=(404,),
    ),
)
def list_chain(request: HttpRequest, memory_id: str) -> HttpResponse:
    """List the records that held or contested the fact's slot, oldest first."""
    found = read_parameters(request, NAMES)
    page = history.list_chain(
        read_id(memory_id),
        limit=read_limit(found),
        cursor=found.get("cursor"),
        access=access_of(request),
        now=timezone.now(),
    )
    return answer_page(page)


@router.get(
    "/memories/{memory_id}/claims",
    **endpoint(
        ClaimPage, scope=Scope.READ, summary="Who asserted it", parameters=PAGING, errors=(404,)
    ),
)
def list_claims(request: HttpRequest, memory_id: str) -> HttpResponse:
    """List the sessions and sources that assert the fact, with their evidence."""
    found = read_parameters(request, NAMES)
    page = history.list_claims(
        read_id(memory_id),
        limit=read_limit(found),
        cursor=found.get("cursor"),
        access=access_of(request),
    )
    return answer_page(page)


@router.get(
    "/memories/{memory_id}/events",
    **endpoint(
        EventPage,
        scope=Scope.READ,
        summary="What happened to it",
        parameters=PAGING,
        errors=(404,),
    ),
)
def list_events(request: HttpRequest, memory_id: str) -> HttpResponse:
    """List what happened to the fact, by whom and why, in order."""
    found = read_parameters(request, NAMES)
    page = history.list_events(
        read_id(memory_id),
        limit=read_limit(found),
        cursor=found.get("cursor"),
        access=access_of(request),
    )
    return answer_page(page)
