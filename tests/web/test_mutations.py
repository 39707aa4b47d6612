"""Check 34 and 40: a refused act is told for every route, and so is each act of the API.

That every act which succeeds leaves an event is watched over the whole suite:
see ``told.py``.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.test import Client
from django.urls import URLPattern

from audits.domain.roles import Role, may
from records import denials, keys
from records.access import Scope
from records.models import Event
from records.scope import workspace_scope

from .conftest import Person, make_person, put
from .test_ladder import ROUTES, ask, path_of, permission_of, place  # noqa: F401

POSTS = [pattern for pattern, method in ROUTES if method == "POST"]


@pytest.mark.parametrize("pattern", POSTS, ids=[str(one.name) for one in POSTS])
def test_refused_act_of_every_route_is_told(
    pattern: URLPattern,
    place: dict[str, Any],  # noqa: F811
) -> None:
    permission = permission_of(pattern)
    access = place["access"]
    refused = [role for role in Role if not may(role, permission)]
    for role in refused:
        denials._seen.clear()
        person: Person = place["people"][role]
        answer = ask(person.client, "POST", access, path_of(pattern, place))
        assert answer.status_code == 403
        with workspace_scope(access.workspace_id):
            event = Event.objects.get(request_id=answer.headers["X-Request-ID"])
        assert (event.action, event.outcome) == ("console.refused", "denied")
        assert (event.actor, event.role) == (person.user.username, str(role))
        assert event.details["route"] == f"console:{pattern.name}"
        assert (event.details["method"], event.details["permission"]) == ("POST", str(permission))


# What an auditor may post: none of it changes anything that others see, except the trail itself.
AUDITORS_OWN = {
    *("trail-check", "trail-check-file", "trail-export", "trail-sample-export"),
    *("trail-access-export", "view-save", "view-delete"),
    "gate-try",  # says what the gate would say, and keeps nothing
    "as-of-export",
    "approval-withdraw",  # a person's own question
    "operation-seen",  # a person's own notice
}


def test_auditor_may_post_nothing_but_checks_and_exports() -> None:
    allowed = {str(one.name) for one in POSTS if may(Role.AUDITOR, permission_of(one))}
    assert allowed <= AUDITORS_OWN, "what is open to auditors is listed here, with why"


@pytest.fixture
def agent() -> tuple[Person, Client, dict[str, str]]:
    person = make_person(role=Role.ADMINISTRATOR)
    key = keys.make_key(name="agent", scopes=tuple(Scope), access=person.access)
    return person, Client(), {"Authorization": f"Bearer {key}"}


def fact(value: str) -> dict[str, str]:
    return {
        **{"partition": "ada", "subject": "Ada", "predicate": "employer", "value": value},
        "session": "s1",
    }


ACTS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "write": ("POST", "memories", fact("Acme Ltd")),
    "batch": ("POST", "memories/batch", {"items": [fact("Globex"), fact("Initech")]}),
    "correct": ("POST", "memories/{id}/correct", {"value": "Helio", "reason": "was wrong"}),
    "retract": ("POST", "memories/{id}/retract", {"reason": "was wrong"}),
    "policy": ("PUT", "policies/employer", {"cardinality": "many", "reason": "was wrong"}),
    "source run": ("POST", "sources/crm/runs", {"partition": "ada"}),
}


@pytest.mark.parametrize("name", ACTS)
def test_act_of_the_api_is_told_with_who_and_why(
    agent: tuple[Person, Client, dict[str, str]], name: str
) -> None:
    person, client, headers = agent
    made = put(person.access)
    method, path, body = ACTS[name]
    url = f"/api/v1/{path.format(id=made.id)}"
    answer = client.generic(
        method, url, _json(body), content_type="application/json", headers=headers
    )
    assert answer.status_code < 300, answer.content
    told = _told(person, answer)
    assert told
    assert {one.actor_kind for one in told} == {"key"}
    assert all(one.actor and one.outcome for one in told)
    if "reason" in body:
        assert any(body["reason"] in one.reason for one in told)


@pytest.mark.parametrize("name", ACTS)
def test_act_of_the_api_without_the_scope_is_refused_and_told(
    agent: tuple[Person, Client, dict[str, str]], name: str
) -> None:
    person, client, _ = agent
    denials._seen.clear()
    made = put(person.access)
    key = keys.make_key(name="reader", scopes=(Scope.READ,), access=person.access)
    method, path, body = ACTS[name]
    answer = client.generic(
        method,
        f"/api/v1/{path.format(id=made.id)}",
        _json(body),
        content_type="application/json",
        headers={"Authorization": f"Bearer {key}"},
    )
    assert answer.status_code == 403, answer.content
    (told,) = _told(person, answer)
    assert (told.action, told.outcome) == ("scope.refused", "denied")


def _json(body: dict[str, Any]) -> str:
    return json.dumps(body)


def _told(person: Person, answer: Any) -> list[Event]:
    with workspace_scope(person.access.workspace_id):
        return list(Event.objects.filter(request_id=answer.headers["X-Request-ID"]))
