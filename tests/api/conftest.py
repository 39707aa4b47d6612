"""Keys of fresh workspaces and a client that speaks JSON, for tests of the HTTP doors."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pytest
from django.test import Client

from records import keys
from records.access import Access, Actor, ActorKind, Scope
from records.workspaces import make_workspace

if TYPE_CHECKING:
    from pytest_django.plugin import DjangoDbBlocker

ALL = tuple(Scope)


@dataclass
class Agent:
    """One API key at work: Django's own client, so that every middleware runs."""

    key: str
    access: Access
    client: Client = field(default_factory=Client)

    def get(self, path: str, **parameters: Any) -> Any:
        return self.client.get(f"/api/v1/{path}", parameters, headers=self.headers())

    def post(self, path: str, body: Any = None, **headers: str) -> Any:
        text = "" if body is None else json.dumps(body)
        return self.raw("post", path, text.encode(), **headers)

    def put(self, path: str, body: Any, **headers: str) -> Any:
        return self.raw("put", path, json.dumps(body).encode(), **headers)

    def raw(
        self,
        method: str,
        path: str,
        body: bytes,
        *,
        content_type: str = "application/json",
        **headers: str,
    ) -> Any:
        return self.client.generic(
            method.upper(),
            f"/api/v1/{path}",
            body,
            content_type=content_type,
            headers={**self.headers(), **{k.replace("_", "-"): v for k, v in headers.items()}},
        )

    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.key}"} if self.key else {}

    def with_scopes(self, *scopes: Scope, partition: str | None = None) -> Agent:
        """Return another key of the same workspace."""
        return Agent(
            keys.make_key(access=self.access, scopes=scopes, partition=partition), self.access
        )

    def write(self, partition: str = "p", **values: Any) -> dict[str, Any]:
        """Write one well-formed fact and return the answer."""
        body = {"partition": partition, "subject": "Ana", "predicate": "employer", **values}
        body.setdefault("value", "Northwind")
        response = self.post("memories", body)
        assert response.status_code == 200, response.content
        return dict(response.json())


def make_agent(scopes: Iterable[Scope] = ALL) -> Agent:
    access = make_workspace(f"w-{uuid4().hex[:12]}", actor=Actor(ActorKind.COMMAND, "test"))
    return Agent(keys.make_key(access=access, scopes=scopes), access)


@pytest.fixture
def agent() -> Agent:
    """A key with every scope, in a fresh workspace."""
    return make_agent()


@pytest.fixture(scope="session")
def shared(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Agent:
    """A key with every scope for tests that leave nothing behind that another one minds."""
    with django_db_blocker.unblock():
        return make_agent()


@pytest.fixture
def stranger() -> Agent:
    """A key with every scope, in another fresh workspace."""
    return make_agent()


def error(response: Any, status: int, code: str) -> dict[str, Any]:
    """Assert that the answer is this error in the one shape, and return the error."""
    assert response.status_code == status, response.content
    assert response.headers["Content-Type"] == "application/json"
    body = json.loads(response.content)
    assert set(body) == {"error"}
    found = body["error"]
    assert set(found) == {"code", "message", "fields", "request_id"}
    assert found["code"] == code
    assert found["message"]
    assert found["request_id"] == response.headers["X-Request-ID"]
    for one in found["fields"]:
        assert set(one) == {"field", "message", "code", "limit"}
    return dict(found)


def anonymous(response_body: bytes) -> dict[str, Any]:
    """Return an error body without its request id, to compare two answers."""
    body = json.loads(response_body)
    body["error"].pop("request_id")
    return dict(body)
