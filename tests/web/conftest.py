"""People of fresh workspaces at a browser without scripts: Django's client, every middleware."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from django.http import HttpResponse
from django.test import Client

from audits import people
from audits.domain.roles import Role
from audits.models import User
from records import denials
from records.access import Access, Actor, ActorKind
from records.items import WriteItem, Written
from records.workspaces import make_workspace
from records.write import write_fact
from tests.web import told

PASSWORD = "correct-horse-battery"


@dataclass
class Person:
    """Somebody with an account, logged in, perhaps a member of a workspace."""

    user: User
    access: Access
    client: Client = field(default_factory=Client)

    def url(self, path: str = "") -> str:
        return f"/w/{self.access.workspace}/{path}"

    def get(self, path: str = "", *, htmx: bool = False, **query: Any) -> Any:
        return self.client.get(self.url(path), query, headers=_headers(htmx))

    def post(self, path: str, data: Any = None, *, htmx: bool = False) -> Any:
        answer = self.client.post(self.url(path), data or {}, headers=_headers(htmx))
        told.note(answer, self.access.workspace_id, data, self.user.get_username())
        return answer


def _headers(htmx: bool) -> dict[str, str]:
    return {"HX-Request": "true"} if htmx else {}


def make_access(name: str = "") -> Access:
    return make_workspace(name or f"w-{uuid4().hex[:12]}", actor=Actor(ActorKind.COMMAND, "test"))


def make_person(access: Access | None = None, role: Role | None = None) -> Person:
    """Make an account; with a role, a member of the workspace."""
    access = access or make_access()
    user = User.objects.create_user(f"p-{uuid4().hex[:10]}", password=PASSWORD)
    if role is not None:
        people.add_member(user, role, access=access)
    person = Person(user, access)
    person.client.force_login(user)
    return person


def put(access: Access, value: str = "Acme", **more: Any) -> Written:
    """Write one fact through the one way in."""
    item = WriteItem(
        partition=more.pop("partition", "ada"),
        subject=more.pop("subject", "Ada"),
        predicate=more.pop("predicate", "employer"),
        value=value,
        session=more.pop("session", "s1"),
        **more,
    )
    result = write_fact(item, access=access, now=datetime.now(UTC))
    assert isinstance(result, Written), result
    return result


@pytest.fixture(scope="session", autouse=True)
def _every_act_is_told(request: pytest.FixtureRequest) -> Iterator[None]:
    """When all of these tests have run, no route may have acted in silence."""
    yield
    here = Path(__file__).parent
    ran = {item.path for item in request.session.items}
    if set(here.glob("test_*.py")) <= ran:
        assert told.problems() == []


@pytest.fixture(autouse=True)
def _fresh_denials() -> None:
    """Let every test see its own refusals: the same one again within a minute is only counted."""
    denials._seen.clear()


@pytest.fixture
def admin() -> Person:
    """An administrator of a fresh workspace."""
    return make_person(role=Role.ADMINISTRATOR)


@pytest.fixture
def stranger() -> Person:
    """An administrator of another fresh workspace."""
    return make_person(role=Role.ADMINISTRATOR)


def text(response: HttpResponse) -> str:
    return response.content.decode()


def words(response: HttpResponse) -> str:
    """Return the text of a page with white space collapsed."""
    gatherer = _Words()
    gatherer.feed(text(response))
    return re.sub(r"\s+", " ", " ".join(gatherer.found))


class _Words(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_data(self, data: str) -> None:
        self.found.append(data)
