"""Bulk operations for machines: preview, submit, receipt, undo; never a second person's word."""

from __future__ import annotations

from typing import Any
from uuid import UUID, uuid4

import pytest

from audits.operations import running
from audits.schemas import OperationAnswer, OperationPage, TargetPage
from records.access import Scope
from records.models import Workspace
from records.scope import workspace_scope
from tests.api.conftest import Agent, error


def fill(agent: Agent, count: int = 3, session: str = "bad") -> UUID:
    for i in range(count):
        agent.write("p", predicate="owns", value=f"thing {i}", session=session)
    found = agent.get("sessions", partition="p", session=session).json()["items"]
    return UUID(found[0]["id"])


def preview(agent: Agent, **scope: Any) -> dict[str, Any]:
    answer = agent.post("operations", {"scope": scope})
    assert answer.status_code == 200, answer.content
    OperationAnswer.model_validate_json(answer.content)
    return dict(answer.json())


def submit(agent: Agent, made: dict[str, Any], **more: Any) -> Any:
    body = {"digest": made["digest"], "reason": "poison", **more}
    return agent.post(f"operations/{made['id']}/submit", body)


def values(agent: Agent) -> set[str]:
    return {one["value"] for one in agent.get("memories", partition="p").json()["items"]}


def test_eviction_and_undo_by_key(agent: Agent) -> None:
    session = fill(agent)
    agent.write("p", predicate="owns", value="a boat", session="good")
    made = preview(agent, session_ids=[str(session)])
    assert (made["state"], made["asked"], made["groups"]["evict"]) == ("preview", 3, 3)
    assert sum(made["groups"].values()) == made["total"]
    assert made["needs_second"] is None
    assert values(agent) == {"thing 0", "thing 1", "thing 2", "a boat"}
    assert submit(agent, made).json()["state"] == "queued"
    running.perform_waiting(agent.access.workspace_id)
    done = agent.get(f"operations/{made['id']}").json()
    assert (done["state"], done["changed"], done["receipt"]["residue_total"]) == ("done", 3, 0)
    assert values(agent) == {"a boat"}
    undo = agent.post(f"operations/{made['id']}/undo").json()
    assert (undo["kind"], undo["undoes"], undo["asked"]) == ("restore", made["id"], 3)
    submit(agent, undo)
    running.perform_waiting(agent.access.workspace_id)
    assert values(agent) == {"thing 0", "thing 1", "thing 2", "a boat"}


def test_targets_carry_no_memory_text_and_page_by_cursor(agent: Agent) -> None:
    made = preview(agent, session_ids=[str(fill(agent, 5))])
    seen: list[str] = []
    cursor: dict[str, str] = {}
    while True:
        answer = agent.get(f"operations/{made['id']}/targets", limit=2, group="evict", **cursor)
        TargetPage.model_validate_json(answer.content)
        assert b"thing" not in answer.content
        seen += [one["id"] for one in answer.json()["items"]]
        if answer.json()["next_cursor"] is None:
            break
        cursor = {"cursor": answer.json()["next_cursor"]}
    assert len(seen) == len(set(seen)) == 5


def test_list_shows_what_was_submitted(agent: Agent, stranger: Agent) -> None:
    made = preview(agent, session_ids=[str(fill(agent))])
    assert agent.get("operations").json()["items"] == []
    submit(agent, made)
    page = agent.get("operations")
    OperationPage.model_validate_json(page.content)
    assert [one["id"] for one in page.json()["items"]] == [made["id"]]
    assert agent.get("operations", kind="erase").json()["items"] == []
    assert stranger.get("operations").json()["items"] == []


def test_key_is_no_second_person_and_cannot_ask_for_one(agent: Agent) -> None:
    session = fill(agent, 3)
    with workspace_scope(agent.access.workspace_id):
        row = Workspace.objects.get(id=agent.access.workspace_id)
        row.settings = {**row.settings, "four_eyes": {"bulk": 2}}
        row.save(update_fields=["settings"])
    made = preview(agent, session_ids=[str(session)])
    assert "more than 2 facts" in made["needs_second"]
    found = error(submit(agent, made), 422, "invalid")
    assert "a person must ask" in found["message"]
    assert agent.get(f"operations/{made['id']}").json()["state"] == "preview"
    assert agent.post(f"operations/{made['id']}/approve", {}).status_code == 404


def test_old_digest_is_a_conflict_and_nothing_runs(agent: Agent) -> None:
    made = preview(agent, session_ids=[str(fill(agent))])
    error(submit(agent, {**made, "digest": "0" * 32}), 409, "conflict")
    assert agent.get(f"operations/{made['id']}").json()["state"] == "preview"


def test_cancelled_preview_is_a_conflict_and_a_queued_one_stops(agent: Agent) -> None:
    made = preview(agent, session_ids=[str(fill(agent))])
    error(agent.post(f"operations/{made['id']}/cancel"), 409, "conflict")
    submit(agent, made)
    assert agent.post(f"operations/{made['id']}/cancel").json()["state"] == "cancelled"
    running.perform_waiting(agent.access.workspace_id)
    assert len(values(agent)) == 3


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "scope"),
        ({"scope": {}}, "scope"),
        ({"scope": {"colour": "red"}}, "scope.colour"),
        ({"scope": {"session_ids": "x"}}, "scope.session_ids"),
        ({"scope": {"status": "blue"}}, "scope.status"),
        ({"scope": {"since": "2026-01-01"}}, "scope.since"),
        ({"scope": {"agent": "a"}, "shared": "maybe"}, "shared"),
        ({"scope": {"agent": "a"}, "kind": "erase"}, "kind"),
    ],
)
def test_scope_that_makes_no_sense_names_its_field(
    shared: Agent, body: dict[str, Any], field: str
) -> None:
    found = error(shared.post("operations", body), 422, "invalid")
    assert [one["field"] for one in found["fields"]] == [field]


def test_repeated_submit_runs_once(agent: Agent) -> None:
    made = preview(agent, session_ids=[str(fill(agent))])
    body = {"digest": made["digest"], "reason": "poison"}
    path = f"operations/{made['id']}/submit"
    first = agent.post(path, body, Idempotency_Key="k1")
    second = agent.post(path, body, Idempotency_Key="k1")
    assert first.content == second.content
    assert second.headers["Idempotency-Replayed"] == "true"


def test_foreign_and_bound_keys_see_nothing(agent: Agent, stranger: Agent) -> None:
    made = preview(agent, session_ids=[str(fill(agent))])
    for path in ("", "/targets"):
        foreign = stranger.get(f"operations/{made['id']}{path}")
        unknown = stranger.get(f"operations/{uuid4()}{path}")
        assert (foreign.status_code, unknown.status_code) == (404, 404)
    for verb in ("cancel", "undo"):
        error(stranger.post(f"operations/{made['id']}/{verb}"), 404, "not_found")
    error(submit(stranger, made), 404, "not_found")
    bound = agent.with_scopes(Scope.RESPOND, partition="p")
    error(bound.get(f"operations/{made['id']}"), 403, "forbidden")
    error(bound.post("operations", {"scope": {"agent": "a"}}), 403, "forbidden")


def test_incident_of_another_workspace_is_refused_by_field(agent: Agent) -> None:
    session = fill(agent)
    unknown = str(uuid4())
    body = {"scope": {"session_ids": [str(session)]}, "incident_id": unknown}
    answer = agent.post("operations", body)
    assert error(answer, 422, "invalid")["fields"][0]["field"] == "incident_id"
    made = preview(agent, session_ids=[str(session)])
    answer = submit(agent, made, incident_id=unknown)
    assert error(answer, 422, "invalid")["fields"][0]["field"] == "incident_id"
    assert agent.get(f"operations/{made['id']}").json()["state"] == "preview"
