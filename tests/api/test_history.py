"""Reading facts and their trails: filters, pages, chains, and what a stranger gets."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import pytest
from pydantic import BaseModel

from records.access import Scope
from records.schemas.history import (
    ClaimPage,
    EventPage,
    MemoryAnswer,
    MemoryPage,
    SessionAnswer,
    SessionPage,
)
from tests.api.conftest import Agent, anonymous, error

TRAILS = ["", "/chain", "/claims", "/events"]
MODELS: dict[str, type[BaseModel]] = {
    "": MemoryAnswer,
    "/chain": MemoryPage,
    "/claims": ClaimPage,
    "/events": EventPage,
}


def ids(response: Any) -> list[str]:
    assert response.status_code == 200, response.content
    return [one["id"] for one in response.json()["items"]]


@pytest.mark.parametrize("trail", TRAILS)
def test_a_trail_has_exactly_its_schema(agent: Agent, trail: str) -> None:
    written = agent.write(session="s1", evidence="She said so.", metadata={"a": [1]}, tags=["t"])
    response = agent.get(f"memories/{written['id']}{trail}")
    assert response.status_code == 200
    MODELS[trail].model_validate_json(response.content)


def test_a_record_tells_its_provenance(agent: Agent) -> None:
    written = agent.write(session="s1", extracted_by="m", external_id="x-1", metadata={"a": [1]})
    found = agent.get(f"memories/{written['id']}").json()
    assert found["session"] == "s1"
    assert found["source"] == "conversation"
    assert found["extracted_by"] == "m"
    assert found["external_id"] == "x-1"
    assert found["metadata"] == {"a": [1]}
    assert found["current"] is True
    assert found["why_not_current"] == []
    assert found["partition"] == "p"


def test_the_chain_shows_who_held_the_slot_in_order(agent: Agent) -> None:
    first, second, third = (
        agent.write(value=value) for value in ("Northwind", "Contoso", "Northwind")
    )
    for one in (first, second, third):
        chain = agent.get(f"memories/{one['id']}/chain").json()["items"]
        assert [link["id"] for link in chain] == [first["id"], second["id"], third["id"]]
    assert [link["status"] for link in chain] == ["superseded", "superseded", "active"]
    assert chain[0]["superseded_by"] == second["id"]
    assert chain[0]["why_not_current"] == ["superseded"]


def test_claims_name_every_session_and_events_every_act(agent: Agent) -> None:
    written = agent.write(session="s1")
    agent.write(session="s2")
    claims = agent.get(f"memories/{written['id']}/claims").json()["items"]
    assert [one["session"] for one in claims] == ["s1", "s2"]
    events = agent.get(f"memories/{written['id']}/events").json()["items"]
    assert events[0]["action"] == "record.added"
    assert events[0]["actor_kind"] == "key"
    assert all("Northwind" not in str(one) for one in events)


def test_lists_show_active_facts_unless_asked(agent: Agent) -> None:
    old = agent.write(value="Northwind")
    new = agent.write(value="Contoso")
    assert ids(agent.get("memories")) == [new["id"]]
    assert ids(agent.get("memories", status="superseded")) == [old["id"]]
    assert ids(agent.get("memories", status="all")) == [new["id"], old["id"]]


def test_as_of_lists_what_was_believed_then(agent: Agent) -> None:
    before = datetime.now(UTC)
    old = agent.write(value="Northwind")
    between = datetime.now(UTC)
    agent.write(value="Contoso")
    assert ids(agent.get("memories", as_of=between.isoformat())) == [old["id"]]
    assert ids(agent.get("memories", as_of=before.isoformat())) == []


def test_each_filter_narrows(agent: Agent) -> None:
    mine = agent.write(
        session="s1",
        external_id="x-1",
        source="crm",
        source_key="ana",
        valid_from="2026-01-01T00:00:00Z",
        valid_until="2026-02-01T00:00:00Z",
    )["id"]
    other = agent.write(subject="Bo", predicate="city", value="Oslo", session="s2")["id"]
    session_id = agent.get(f"memories/{mine}").json()["session_id"]
    for filters in (
        {"session": "s1", "partition": "p"},
        {"session_id": session_id},
        {"external_id": "x-1"},
        {"source": "crm"},
        {"subject": "  ANA "},
        {"predicate": "Employer"},
        {"text": "NORTH"},
    ):
        assert ids(agent.get("memories", **filters)) == [mine], filters
    assert ids(agent.get("memories", valid_at="2026-01-15T00:00:00Z")) == [other, mine]
    assert ids(agent.get("memories", valid_at="2026-03-15T00:00:00Z")) == [other]
    assert ids(agent.get("memories", text="100%_")) == []
    assert set(ids(agent.get("memories", partition="p"))) == {mine, other}


def test_pages_neither_repeat_nor_skip(agent: Agent) -> None:
    items = [
        {"partition": "p", "subject": f"s{n}", "predicate": "city", "value": "Oslo"}
        for n in range(25)
    ]
    written = agent.post("memories/batch", {"items": items}).json()["results"]
    found: list[str] = []
    cursor: dict[str, str] = {}
    for _ in range(3):
        page = agent.get("memories", limit=10, **cursor).json()
        found += [one["id"] for one in page["items"]]
        agent.write(subject=uuid4().hex)  # what arrives meanwhile moves nothing
        cursor = {"cursor": page["next_cursor"]}
    assert page["next_cursor"] is None
    assert found == sorted((one["id"] for one in written), reverse=True)


def test_trails_have_pages_too(agent: Agent) -> None:
    for n in range(5):
        record = agent.write(value=f"Firm {n}")["id"]
    for n in range(5):
        agent.write(value="Firm 4", session=f"s{n}")
    for trail in ("chain", "claims", "events"):
        whole = agent.get(f"memories/{record}/{trail}").json()
        assert whole["next_cursor"] is None
        assert len(whole["items"]) >= 2
        page = agent.get(f"memories/{record}/{trail}", limit=1).json()
        found = page["items"]
        while page["next_cursor"]:
            cursor = page["next_cursor"]
            page = agent.get(f"memories/{record}/{trail}", limit=1, cursor=cursor).json()
            found += page["items"]
        assert found == whole["items"]


def test_a_cursor_is_good_for_its_own_list_only(agent: Agent, stranger: Agent) -> None:
    for n in range(3):
        agent.write(subject=f"s{n}")
        stranger.write(subject=f"s{n}")
    cursor = agent.get("memories", limit=1).json()["next_cursor"]
    assert agent.get("memories", cursor=cursor).status_code == 200
    for other in (
        agent.get("memories", cursor=cursor, status="all"),
        agent.get("sessions", cursor=cursor),
        agent.get("memories", cursor=cursor[:-1] + ("B" if cursor[-1] == "A" else "A")),
        agent.get("memories", cursor="x"),
        stranger.get("memories", cursor=cursor),
    ):
        assert error(other, 422, "invalid")["fields"][0]["field"] == "cursor"


@pytest.mark.parametrize(
    ("parameters", "field"),
    [
        ({"limit": "0"}, "limit"),
        ({"limit": "201"}, "limit"),
        ({"limit": "9" * 5000}, "limit"),
        ({"limit": "x"}, "limit"),
        ({"status": "deleted"}, "status"),
        ({"colour": "red"}, "colour"),
        ({"as_of": "2026-03-01T12:00:00"}, "as_of"),
        ({"as_of": "now"}, "as_of"),
        ({"as_of": "0001-01-01T00:00:00+14:00"}, "as_of"),
        ({"text": "a\x00b"}, "text"),
        ({"text": " "}, "text"),
        ({"partition": ""}, "partition"),
        ({"session": "s1"}, "session"),
        ({"session_id": "s1"}, "session_id"),
        ({"status": ["active", "all"]}, "status"),
    ],
)
def test_a_bad_parameter_is_named(agent: Agent, parameters: dict[str, Any], field: str) -> None:
    found = error(agent.get("memories", **parameters), 422, "invalid")
    assert found["fields"][0]["field"] == field


@pytest.mark.parametrize("trail", TRAILS)
def test_a_foreign_record_is_as_unknown_as_any(agent: Agent, stranger: Agent, trail: str) -> None:
    record = agent.write()["id"]
    assert agent.get(f"memories/{record}{trail}").status_code == 200
    unknown = stranger.get(f"memories/{uuid4()}{trail}")
    error(unknown, 404, "not_found")
    bound = agent.with_scopes(*Scope, partition="other")
    for answer in (
        stranger.get(f"memories/{record}{trail}"),
        stranger.get(f"memories/not-an-id{trail}"),
        bound.get(f"memories/{record}{trail}"),
    ):
        assert answer.status_code == 404
        assert anonymous(answer.content) == anonymous(unknown.content)


def test_a_bound_key_lists_its_own_partition_only(agent: Agent) -> None:
    agent.write("p")
    mine = agent.write("q")["id"]
    bound = agent.with_scopes(*Scope, partition="q")
    assert ids(bound.get("memories")) == [mine]
    assert ids(bound.get("memories", partition="q")) == [mine]
    foreign = bound.get("memories", partition="p")
    unknown = bound.get("memories", partition="never")
    error(foreign, 404, "not_found")
    assert anonymous(foreign.content) == anonymous(unknown.content)
    error(agent.get("memories", partition="never"), 404, "not_found")


def test_sessions_are_listed_with_what_they_wrote(agent: Agent, stranger: Agent) -> None:
    record = agent.write(session="s1", agent="a1")["id"]
    agent.write(value="Contoso", session="s2")
    page = agent.get("sessions")
    SessionPage.model_validate_json(page.content)
    assert [one["session"] for one in page.json()["items"]] == ["s2", "s1"]
    first = agent.get("sessions", session="s1").json()["items"]
    assert [(one["session"], one["agent"], one["added"]) for one in first] == [("s1", "a1", 1)]
    session_id = agent.get(f"memories/{record}").json()["session_id"]
    one = agent.get(f"sessions/{session_id}")
    SessionAnswer.model_validate_json(one.content)
    assert agent.get("sessions", suspended="true").json()["items"] == []
    assert len(agent.get("sessions", suspended="false", partition="p").json()["items"]) == 2
    error(agent.get("sessions", suspended="maybe"), 422, "invalid")
    unknown = stranger.get(f"sessions/{uuid4()}")
    foreign = stranger.get(f"sessions/{session_id}")
    assert foreign.status_code == 404
    assert anonymous(foreign.content) == anonymous(unknown.content)


def test_sessions_come_in_pages(agent: Agent) -> None:
    for n in range(5):
        agent.write(subject=f"s{n}", session=f"s{n}")
    found: list[str] = []
    cursor: dict[str, str] = {}
    while True:
        page = agent.get("sessions", limit=2, **cursor).json()
        found += [one["session"] for one in page["items"]]
        if page["next_cursor"] is None:
            break
        cursor = {"cursor": page["next_cursor"]}
    assert found == ["s4", "s3", "s2", "s1", "s0"]
