"""Incidents over HTTP: opened by alerts, read by scripts, for whole-workspace keys alone."""

from __future__ import annotations

from typing import Any
from uuid import UUID, uuid4

import pytest

from audits.api_incidents import IncidentPage, IncidentWhole
from audits.domain.incidents import DEFAULT_TASKS
from records import curate
from records.access import Scope
from tests.api.conftest import Agent, error


def session_of(agent: Agent, name: str = "odd") -> str:
    (found,) = agent.get("sessions", session=name).json()["items"]
    return str(found["id"])


def opened(agent: Agent, **more: Any) -> dict[str, Any]:
    response = agent.post("incidents", {"title": "Agents name the wrong employer", **more})
    assert response.status_code == 200, response.content
    IncidentWhole.model_validate_json(response.content)
    return dict(response.json())


def test_incident_is_opened_with_its_scope_and_says_what_is_served(agent: Agent) -> None:
    agent.write(session="odd")
    session = session_of(agent)
    body = opened(agent, severity="high", scope=[{"kind": "session", "id": session}])
    assert (body["number"], body["severity"], body["state"], body["owner"]) == (
        1,
        "high",
        "open",
        "",
    )
    assert body["verdict"] == "1 of 1 fact in scope is served to agents right now."
    assert body["standing"] == {"facts": 1, "served": 1, "withheld": 0, "held": 0, "out": 0}
    assert body["open_tasks"] == len(DEFAULT_TASKS)
    (part,) = body["scope"]
    assert (part["kind"], part["target"]) == ("session", session)
    found = agent.get(f"incidents/{body['id']}")
    assert found.json() == body
    curate.suspend("session", UUID(session), "x", access=agent.access)
    after = agent.get(f"incidents/{body['id']}").json()
    assert after["standing"]["withheld"] == 1
    assert after["contained_at"] is not None


def test_repeated_post_with_a_key_opens_one_incident(agent: Agent) -> None:
    sent = {"title": "Alert 17"}
    first = agent.post("incidents", sent, Idempotency_Key="alert-17")
    second = agent.post("incidents", sent, Idempotency_Key="alert-17")
    assert first.json()["id"] == second.json()["id"]
    assert len(agent.get("incidents").json()["items"]) == 1


def test_list_filters_pages_and_shows_the_worst_first(agent: Agent) -> None:
    for severity in ("low", "critical", "medium"):
        opened(agent, severity=severity)
    page = agent.get("incidents", limit="2")
    IncidentPage.model_validate_json(page.content)
    rows = page.json()
    assert [one["severity"] for one in rows["items"]] == ["critical", "medium"]
    rest = agent.get("incidents", limit="2", cursor=rows["next_cursor"]).json()
    assert [one["severity"] for one in rest["items"]] == ["low"]
    assert rest["next_cursor"] is None
    assert agent.get("incidents", state="closed").json()["items"] == []
    error(agent.get("incidents", state="gone"), 422, "invalid")


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "title"),
        ({"title": ""}, "title"),
        ({"title": "x" * 201}, "title"),
        ({"title": "t", "severity": "awful"}, "severity"),
        ({"title": "t", "colour": "red"}, "colour"),
        ({"title": "t", "scope": [{"kind": "session"}]}, "scope"),
        ({"title": "t", "scope": [{"kind": "text", "text": "…"}]}, "text"),
        ({"title": "t", "scope": [{"kind": "session", "id": str(uuid4())}]}, "scope"),
        ({"title": "t\x00"}, "title"),
    ],
)
def test_malformed_body_names_the_field_and_opens_nothing(
    agent: Agent, body: dict[str, Any], field: str
) -> None:
    found = error(agent.post("incidents", body), 422, "invalid")
    assert [one["field"] for one in found["fields"]] == [field]
    assert agent.get("incidents").json()["items"] == []


def test_foreign_incidents_and_sessions_are_unknown(agent: Agent, stranger: Agent) -> None:
    agent.write(session="odd")
    body = opened(agent)
    error(stranger.get(f"incidents/{body['id']}"), 404, "not_found")
    error(stranger.get(f"incidents/{uuid4()}"), 404, "not_found")
    assert stranger.get("incidents").json()["items"] == []
    sent = {"title": "t", "scope": [{"kind": "session", "id": session_of(agent)}]}
    error(stranger.post("incidents", sent), 422, "invalid")


def test_key_needs_the_scope_and_the_whole_workspace(agent: Agent) -> None:
    reader = agent.with_scopes(Scope.READ)
    error(reader.get("incidents"), 403, "forbidden")
    error(reader.post("incidents", {"title": "t"}), 403, "forbidden")
    bound = agent.with_scopes(Scope.RESPOND, partition="p")
    for answer in (
        bound.get("incidents"),
        bound.post("incidents", {"title": "t"}),
        bound.get(f"incidents/{uuid4()}"),
    ):
        error(answer, 403, "forbidden")
