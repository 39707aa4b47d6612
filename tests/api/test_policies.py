"""Policies and source runs over HTTP."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest

from records.access import Scope
from records.schemas.policies import PolicyAnswer, PolicyChanged, PolicyList
from records.schemas.sources import RunAnswer, RunFinished
from tests.api.conftest import Agent, anonymous, error

BODY = {"cardinality": "one", "ttl_days": 30, "aliases": ["Ship Name"], "reason": "one at a time"}


def test_starter_policies_are_listed_and_found_by_alias(agent: Agent) -> None:
    page = agent.get("policies")
    PolicyList.model_validate_json(page.content)
    names = [one["predicate"] for one in page.json()["items"]]
    assert names == sorted(names)
    assert "employer" in names
    one = agent.get("policies/Employer")
    PolicyAnswer.model_validate_json(one.content)
    alias = one.json()["aliases"][0]
    assert agent.get(f"policies/{alias}").json() == one.json()
    error(agent.get("policies/never_heard_of"), 404, "not_found")


def test_a_change_is_a_new_version_and_takes_effect(agent: Agent) -> None:
    agent.write(predicate="vessel", value="Argo")
    shown = agent.put("policies/vessel?preview=true", BODY).json()
    assert (shown["changed"], shown["preview"], shown["facts"]) == (0, True, 1)
    assert shown["policy"] is None
    error(agent.get("policies/vessel"), 404, "not_found")
    response = agent.put("policies/vessel", BODY)
    PolicyChanged.model_validate_json(response.content)
    body = response.json()
    assert (body["matched"], body["changed"], body["policy"]["version"]) == (0, 1, 1)
    assert agent.get("policies/ship_name").json()["predicate"] == "vessel"
    same = agent.put("policies/vessel", BODY).json()
    assert (same["changed"], same["skipped"]) == (0, 1)
    assert same["why"]
    second = agent.put("policies/vessel", {**BODY, "ttl_days": 60}).json()
    assert (second["policy"]["version"], second["fields"]) == (2, ["ttl_days"])
    agent.write(subject="Bo", predicate="vessel", value="Argo")
    update = agent.write(subject="Bo", predicate="Ship Name", value="Beagle")
    assert update["decision"] == "updated"


def test_a_change_to_one_valued_is_counted_first_and_settles_what_is_stored(agent: Agent) -> None:
    for value in ("Argo", "Beagle", "Cutty Sark"):
        agent.write(predicate="vessel", value=value)
    shown = agent.put("policies/vessel?preview=true", BODY).json()
    assert (shown["facts"], shown["superseded"], shown["changed"]) == (3, 2, 0)
    done = agent.put("policies/vessel", BODY).json()
    assert (done["changed"], done["superseded"]) == (1, 2)
    live = agent.get("memories?predicate=vessel").json()["items"]
    assert [one["value"] for one in live] == ["Cutty Sark"]


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"cardinality": "two"}, "cardinality"),
        ({"normaliser": "soundex"}, "normaliser"),
        ({"ttl_days": 0}, "ttl_days"),
        ({"ttl_days": float("inf")}, "ttl_days"),
        ({"ttl_days": "30"}, "ttl_days"),
        ({"aliases": "x"}, "aliases"),
        ({"aliases": ["employer"]}, "aliases"),
        ({"validators": [{"kind": "no such kind"}]}, "validators[0]"),
        ({"validators": [{"kind": "pattern", "re2": "("}]}, "validators[0]"),
        ({"region": "usa"}, "region"),
        ({"region": "ZZ"}, "region"),
        ({"reason": ""}, "reason"),
        ({"reason": None}, "reason"),
        ({"colour": "red"}, "colour"),
        ({"immutable": "yes"}, "immutable"),
        ({"description": "\x00"}, "description"),
    ],
)
def test_a_bad_policy_is_named(agent: Agent, change: dict[str, Any], field: str) -> None:
    found = error(agent.put("policies/vessel", {**BODY, **change}), 422, "invalid")
    assert found["fields"][0]["field"] == field
    error(agent.get("policies/vessel"), 404, "not_found")


def test_a_bound_or_writing_key_changes_no_policy(agent: Agent) -> None:
    bound = agent.with_scopes(*Scope, partition="p")
    error(bound.put("policies/vessel", BODY), 403, "forbidden")
    writer = agent.with_scopes(Scope.WRITE, Scope.RECALL, Scope.READ)
    error(writer.put("policies/vessel", BODY), 403, "forbidden")
    error(agent.put("policies/vessel?preview=maybe", BODY), 422, "invalid")
    error(agent.put("policies/vessel?force=1", BODY), 422, "invalid")


def test_a_policy_changes_in_its_own_workspace_only(agent: Agent, stranger: Agent) -> None:
    agent.put("policies/vessel", BODY)
    error(stranger.get("policies/vessel"), 404, "not_found")


def derived(agent: Agent, key: str, value: str = "starred") -> dict[str, Any]:
    body = {"partition": "p", "source": "feed", "source_key": key, "value": value}
    return dict(agent.post("memories", body).json())


def test_a_run_demotes_what_it_did_not_name(agent: Agent) -> None:
    kept, gone = derived(agent, "a")["id"], derived(agent, "b")["id"]
    started = agent.post("sources/feed/runs", {"partition": "p", "run_id": "r1"})
    RunAnswer.model_validate_json(started.content)
    run = started.json()["id"]
    assert agent.post("sources/feed/runs", {"partition": "p", "run_id": "r1"}).json()["id"] == run
    derived(agent, "a")
    done = agent.post(f"sources/feed/runs/{run}/finish")
    RunFinished.model_validate_json(done.content)
    assert (done.json()["seen"], done.json()["changed"]) == (1, 1)
    assert agent.get(f"memories/{kept}").json()["current"] is True
    assert agent.get(f"memories/{gone}").json()["why_not_current"] == ["unlisted"]
    again = agent.post(f"sources/feed/runs/{run}/finish").json()
    assert (again["changed"], again["skipped"]) == (0, 1)
    assert again["why"]


def test_a_run_needs_a_partition_in_reach(agent: Agent, stranger: Agent) -> None:
    assert error(agent.post("sources/feed/runs"), 422, "invalid")["fields"][0]["field"] == (
        "partition"
    )
    bound = agent.with_scopes(*Scope, partition="q")
    error(bound.post("sources/feed/runs", {"partition": "p"}), 404, "not_found")
    assert bound.post("sources/feed/runs").json()["partition"] == "q"
    run = agent.post("sources/feed/runs", {"partition": "p"}).json()["id"]
    unknown = stranger.post(f"sources/feed/runs/{uuid4()}/finish")
    error(unknown, 404, "not_found")
    for answer in (
        stranger.post(f"sources/feed/runs/{run}/finish"),
        bound.post(f"sources/feed/runs/{run}/finish"),
        agent.post(f"sources/other/runs/{run}/finish"),
        agent.post("sources/feed/runs/nonsense/finish"),
    ):
        assert answer.status_code == 404
        assert anonymous(answer.content) == anonymous(unknown.content)
