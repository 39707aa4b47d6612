"""Every route of the console climbed by everybody: each role, a stranger, somebody logged out.

The table is the URL configuration itself, so that a new page is on the ladder
from its first day; what a view asks for stands on it as ``permission``.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import pytest
from django.test import Client
from django.urls import URLPattern

from audits import incidents, operations, urls
from audits.access import actor_of
from audits.domain.incidents import Severity
from audits.domain.roles import Permission, Role, may
from audits.domain.scope import Scope
from audits.incidents import Details
from records import scans
from records.access import Access
from records.domain.canonical import source_id
from records.models import Event
from records.scope import workspace_scope

from .conftest import Person, make_access, make_person, put, text

PATTERNS: list[URLPattern] = list(urls.workspace)
READS = ("GET", "HEAD")


def permission_of(pattern: URLPattern) -> Permission:
    view: Any = pattern.callback
    while not hasattr(view, "permission"):
        view = view.__wrapped__
    return Permission(view.permission)


def methods_of(pattern: URLPattern) -> Iterator[str]:
    """Yield the methods a view answers, as it says itself in its 405."""
    answer = pattern.callback(_request("PATCH"), workspace="none")
    yield from (one for one in ("GET", "POST") if one in answer.headers["Allow"])


def _request(method: str) -> Any:
    from django.test import RequestFactory

    return RequestFactory().generic(method, "/")


ROUTES = [(one, method) for one in PATTERNS for method in methods_of(one)]
IDS = [f"{method} {pattern.name}" for pattern, method in ROUTES]


@pytest.fixture(scope="module")
def place(django_db_setup: None, django_db_blocker: Any) -> Iterator[dict[str, Any]]:
    """One workspace with one of everything, and a person of every role."""
    with django_db_blocker.unblock():
        access = make_access()
        made = put(access)
        with workspace_scope(access.workspace_id):
            event = Event.objects.filter(target_id=made.id).first()
        assert event is not None
        asker = make_person(access, Role.RESPONDER)
        made_operation = operations.preview(
            "evict",
            Scope(session_ids=(event.session_id,)),
            access=replace(access, actor=actor_of(asker.user, Role.RESPONDER)),
            user_id=asker.user.id,
        )
        with workspace_scope(access.workspace_id):
            scan = scans.start(scans.Rules.ACTIVE, access=access, now=datetime.now(UTC))
        incident = incidents.open_incident(Details("t", Severity.LOW), access=access)
        yield {
            "access": access,
            "incident_id": incident.id,
            "record_id": made.id,
            "session_id": event.session_id,
            "event_id": event.id,
            "operation_id": made_operation.id,
            "scan_id": scan.id,
            "people": {role: make_person(access, role) for role in Role},
            "stranger": make_person(role=Role.ADMINISTRATOR),
        }


def path_of(pattern: URLPattern, place: dict[str, Any]) -> str:
    """Return the pattern's path with ids that exist, where there is one to take."""
    values = {
        "record_id": place["record_id"],
        "session_id": place["session_id"],
        "source_id": source_id(place["access"].workspace_id, "conversation"),
        "event_id": place["event_id"],
        "position": 1,
        "operation_id": place["operation_id"],
        "incident_id": place["incident_id"],
        "predicate": "employer",
        "name": "validity",
        "scan_id": place["scan_id"],
        "user_id": place["people"][Role.VIEWER].user.id,
    }
    path = str(pattern.pattern)
    for name in pattern.pattern.converters:
        start = path.index("<")
        end = path.index(">", start)
        path = path[:start] + str(values.get(name, uuid4())) + path[end + 1 :]
    return path


def ask(client: Client, method: str, access: Access, path: str) -> Any:
    url = f"/w/{access.workspace}/{path}"
    return client.get(url) if method == "GET" else client.post(url, {})


def test_every_route_of_a_workspace_stands_on_the_ladder() -> None:
    assert len(ROUTES) > 40
    for pattern in PATTERNS:
        assert permission_of(pattern) in Permission


@pytest.mark.parametrize(("pattern", "method"), ROUTES, ids=IDS)
def test_route_opens_to_the_roles_that_have_its_permission_and_to_nobody_else(
    pattern: URLPattern, method: str, place: dict[str, Any]
) -> None:
    path, access = path_of(pattern, place), place["access"]
    permission = permission_of(pattern)
    out = ask(Client(), method, access, path)
    assert out.status_code == 302
    assert out.headers["Location"].startswith("/login")
    foreign = ask(place["stranger"].client, method, access, path)
    unknown = ask(place["stranger"].client, method, make_unknown(), path)
    assert (foreign.status_code, unknown.status_code) == (404, 404)
    for role, person in place["people"].items():
        answer = ask(person.client, method, access, path)
        if may(role, permission):
            assert answer.status_code in (200, 302, 404, 409, 422), (role, answer.status_code)
        else:
            assert answer.status_code == 403, (role, answer.status_code)
            assert "which these roles have" in text(answer)


def make_unknown() -> Access:
    from uuid import UUID

    from records.access import Actor, ActorKind

    return Access(
        workspace_id=UUID(int=0), actor=Actor(ActorKind.SYSTEM, ""), workspace=f"no-{uuid4().hex}"
    )


def test_refused_act_leaves_a_denied_event(place: dict[str, Any]) -> None:
    access: Access = place["access"]
    auditor: Person = place["people"][Role.AUDITOR]
    answer = auditor.post(f"records/{place['record_id']}/evict", {"reason": "x", "version": 1})
    assert answer.status_code == 403
    with workspace_scope(access.workspace_id):
        found = Event.objects.filter(
            action="console.refused", actor=auditor.user.username, outcome="denied"
        )
        routes = {event.details["route"] for event in found}
        assert {event.role for event in found} == {"auditor"}
    assert "console:record-evict" in routes


def test_auditor_sees_no_control_that_changes_anything(place: dict[str, Any]) -> None:
    auditor: Person = place["people"][Role.AUDITOR]
    paths = ["", "records", f"records/{place['record_id']}", "sessions", "policies", "jobs", "keys"]
    paths += [f"sessions/{place['session_id']}", "policies/of/employer", "people"]
    own = ("/profile", "/logout", "/views")  # what is the person's own
    for path in paths:
        page = text(auditor.get(path))
        posts = [part.split('"')[0] for part in page.split('method="post" action="')[1:]]
        assert [one for one in posts if not one.startswith(own) and "/views" not in one] == []
        for verb in ("suspend", "evict", "reject", "hold", "edit", "revoke", "start"):
            assert f'/{verb}"' not in page, (path, verb)


@pytest.mark.parametrize("role", list(Role))
def test_foreign_record_and_session_answer_like_unknown_ones(
    place: dict[str, Any], role: Role
) -> None:
    outsider = make_person(role=role)
    for kind, foreign in (("records", place["record_id"]), ("sessions", place["session_id"])):
        answers = [outsider.get(f"{kind}/{one}") for one in (foreign, uuid4())]
        assert [one.status_code for one in answers] == [404, 404]
        bodies = [
            text(one).replace(str(foreign), "").split('class="refusal"')[1].split("Request")[0]
            for one in answers
        ]
        assert bodies[0] == bodies[1]


def test_pages_outside_a_workspace_ask_for_a_log_in() -> None:
    guarded = ("/", "/profile", "/components", "/workspaces/new")
    posts = ("/profile/look", "/profile/keys", "/profile/password")
    for path in itertools.chain(guarded, posts):
        answer = Client().post(path) if path in posts else Client().get(path)
        assert answer.status_code == 302, path
    assert make_person().client.get("/workspaces/new").status_code == 403
