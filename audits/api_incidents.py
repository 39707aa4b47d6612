"""The door for incidents: alerts and scripts open them, and read how they stand.

Owns the endpoints and their shapes. What people do in an incident (contain,
hand over, close) is the console's; evictions are ``operations``'. An incident
is the whole workspace's: a key bound to one partition reaches none.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from ninja import Router
from pydantic import ConfigDict, Field

from audits import incidents
from audits.domain import incidents as rules
from audits.domain.incidents import ScopeKind, Severity
from audits.incidents import Details, Part
from audits.queries import incidents as queries
from audits.queries.incident_standing import Scope as IncidentScope
from audits.queries.incident_standing import load_scope
from records.access import Access, Scope
from records.api.answers import answer, endpoint
from records.api.auth import access_of
from records.api.once import once
from records.api.paging import NAMES, PAGING, answer_page, parameter, read_limit
from records.api.problems import Problem, invalid, not_found
from records.api.reading import read_id, read_model, read_parameters
from records.items import FieldError
from records.schemas.base import Given, Instant, Sent, SentId
from records.schemas.history import NextCursor
from records.scope import workspace_scope

router = Router(tags=["incidents"])
SeverityName = Literal["critical", "high", "medium", "low"]
StateName = Literal["open", "closed", "merged"]
KindName = Literal["session", "source", "partition", "record", "text"]
STATES = ("open", "closed", "merged")
SEVERITIES = tuple(str(one) for one in rules.SEVERITIES)


class PartBody(Sent):
    """One thing the incident is about: an `id`, or words as `text`."""

    kind: KindName
    id: SentId | None = None
    text: Annotated[str, Field(max_length=rules.SCOPE_TEXT_LIMIT)] = ""


class IncidentBody(Sent):
    """What is wrong, how bad it is, and what it is about."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "title": "Agents name the wrong employer",
                    "severity": "high",
                    "scope": [{"kind": "text", "text": "northwind payroll"}],
                }
            ]
        }
    )

    title: Annotated[str, Field(min_length=1, max_length=rules.TITLE_LIMIT)]
    severity: SeverityName = "medium"
    summary: Annotated[str, Field(max_length=rules.TEXT_LIMIT)] = ""
    scope: Annotated[list[PartBody], Field(max_length=rules.SCOPE_MOST)] = []


class IncidentAnswer(Given):
    """An incident as a list shows it."""

    id: UUID
    number: int
    title: str
    severity: SeverityName
    state: StateName
    owner: str = Field(description="Empty: nobody has taken it")
    opened_by: str
    opened_at: Instant
    acknowledged_at: Instant | None
    contained_at: Instant | None
    evicted_at: Instant | None
    closed_at: Instant | None
    merged_into: UUID | None


class StandingAnswer(Given):
    """How facts stand right now: each is in one of the last four counts."""

    facts: int
    served: int
    withheld: int = Field(description="Active, but only suspended sessions or sources assert it")
    held: int
    out: int


class PartAnswer(Given):
    """One part of the scope."""

    id: UUID
    kind: KindName
    target: UUID | None
    text: str
    standing: StandingAnswer


class IncidentWhole(IncidentAnswer):
    """An incident with its scope and what is left to do."""

    summary: str
    cause: str
    lessons: str
    verdict: str = Field(description="What is served of the scope right now, in a sentence")
    standing: StandingAnswer
    scope: list[PartAnswer]
    open_tasks: int


class IncidentPage(Given):
    """A page of incidents: open ones first, then by severity, then the newest."""

    items: list[IncidentAnswer]
    next_cursor: NextCursor


FILTERS = [
    parameter("state", enum=list(STATES)),
    parameter("severity", enum=list(SEVERITIES)),
]
SHOWN = tuple(IncidentAnswer.model_fields)


@router.get(
    "/incidents",
    **endpoint(
        IncidentPage,
        scope=Scope.RESPOND,
        summary="List incidents",
        parameters=[*FILTERS, *PAGING],
    ),
)
def list_incidents(request: HttpRequest) -> HttpResponse:
    """List incidents, what is open and worst first."""
    found = read_parameters(request, ("state", "severity", *NAMES))
    for name, known in (("state", STATES), ("severity", SEVERITIES)):
        if name in found and found[name] not in known:
            raise invalid(FieldError(name, f"must be one of {', '.join(known)}", "choice"))
    access = _whole(request)
    wanted = queries.IncidentFilter(state=found.get("state"), severity=found.get("severity"))
    with workspace_scope(access.workspace_id):
        page = queries.list_incidents(
            wanted,
            cursor=found.get("cursor"),
            workspace_id=access.workspace_id,
            limit=read_limit(found),
        )
    rows = [{name: row[name] for name in SHOWN} for row in page.items]
    return answer_page(type(page)(rows, page.next_cursor))


@router.post(
    "/incidents",
    **endpoint(
        IncidentWhole,
        scope=Scope.RESPOND,
        summary="Open an incident",
        takes=IncidentBody,
        once=True,
    ),
)
def open_incident(request: HttpRequest) -> HttpResponse:
    """Open an incident with its scope; nobody owns it until a person takes it."""
    access = _whole(request)
    body = read_model(request, IncidentBody)
    details = Details(body.title, Severity(body.severity), body.summary)
    parts = [Part(ScopeKind(one.kind), one.id, one.text) for one in body.scope]

    def run() -> dict[str, Any]:
        opened = incidents.open_incident(details, parts, access=access, origin_kind="api")
        return _whole_of(opened.id, access)

    return once(request, access, run)


@router.get(
    "/incidents/{incident_id}",
    **endpoint(IncidentWhole, scope=Scope.RESPOND, summary="One incident", errors=(404, 422)),
)
def get_incident(request: HttpRequest, incident_id: str) -> HttpResponse:
    """Return one incident, its scope, and what is served of it right now."""
    read_parameters(request, ())
    return answer(_whole_of(read_id(incident_id), _whole(request)))


def _whole(request: HttpRequest) -> Access:
    access = access_of(request)
    if access.partition is not None:
        raise Problem(403, "Incidents are the whole workspace's; this key reaches one partition.")
    return access


def _whole_of(incident_id: UUID, access: Access) -> dict[str, Any]:
    with workspace_scope(access.workspace_id):
        row = queries.load_incident(incident_id, workspace_id=access.workspace_id)
        if row is None:
            raise not_found()
        scope: IncidentScope = load_scope(incident_id, workspace_id=access.workspace_id)
    return {
        **{name: row[name] for name in SHOWN},
        "summary": row["summary"],
        "cause": row["cause"],
        "lessons": row["lessons"],
        "verdict": rules.verdict(scope.total, parts=len(scope.parts)),
        "standing": _standing(scope.total),
        "scope": [
            {
                "id": part.id,
                "kind": part.kind,
                "target": part.target_id,
                "text": part.text,
                "standing": _standing(part.standing),
            }
            for part in scope.parts
        ],
        "open_tasks": sum(task["done_at"] is None for task in row["tasks"]),
    }


def _standing(one: rules.Standing) -> dict[str, int]:
    return {
        "facts": one.facts,
        "served": one.served,
        "withheld": one.withheld,
        "held": one.held,
        "out": one.out,
    }
