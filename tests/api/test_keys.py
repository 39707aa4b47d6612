"""Keys: who gets in, how far, and what is on record of those who did not."""

from __future__ import annotations

import io
import time
from datetime import timedelta
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connections
from django.utils import timezone

from records import denials, keys
from records.access import Scope
from records.models import ApiKey
from records.scope import workspace_scope
from records.workspaces import find_workspace
from tests.api.conftest import Agent, anonymous, error, make_agent

# (method, path, scope): every door once.
DOORS = [
    ("post", "memories", Scope.WRITE),
    ("post", "memories/batch", Scope.WRITE),
    ("get", "memories", Scope.READ),
    ("get", "memories/{id}", Scope.READ),
    ("get", "memories/{id}/chain", Scope.READ),
    ("get", "memories/{id}/claims", Scope.READ),
    ("get", "memories/{id}/events", Scope.READ),
    ("post", "memories/{id}/correct", Scope.WRITE),
    ("post", "memories/{id}/retract", Scope.WRITE),
    ("post", "recall", Scope.RECALL),
    ("post", "recalls/{id}/feedback", Scope.RECALL),
    ("post", "sources/feed/runs", Scope.WRITE),
    ("post", "sources/feed/runs/{id}/finish", Scope.WRITE),
    ("get", "policies", Scope.READ),
    ("get", "policies/employer", Scope.READ),
    ("put", "policies/employer", Scope.RESPOND),
    ("get", "sessions", Scope.READ),
    ("get", "sessions/{id}", Scope.READ),
    ("get", "gate", Scope.READ),
    ("post", "gate/check", Scope.READ),
    ("get", "incidents", Scope.RESPOND),
    ("post", "incidents", Scope.RESPOND),
    ("get", "incidents/{id}", Scope.RESPOND),
    ("post", "operations", Scope.RESPOND),
    ("get", "operations", Scope.RESPOND),
    ("get", "operations/{id}", Scope.RESPOND),
    ("get", "operations/{id}/targets", Scope.RESPOND),
    ("post", "operations/{id}/submit", Scope.RESPOND),
    ("post", "operations/{id}/cancel", Scope.RESPOND),
    ("post", "operations/{id}/undo", Scope.RESPOND),
]
ID = "01980c1e-7f43-7cc0-b2a4-1f4f0c1d2e3f"


@pytest.fixture(autouse=True)
def _nothing_folded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(denials, "_seen", {})


def maintenance(sql: str, *values: Any) -> list[tuple[Any, ...]]:
    with connections["maintenance"].cursor() as cursor:
        cursor.execute(sql, values)
        return list(cursor.fetchall())


def events(agent: Agent, action: str) -> list[tuple[Any, ...]]:
    return maintenance(
        """SELECT actor, outcome, details->>'scope', details->>'why' FROM event
           WHERE workspace_id = %s AND action = %s ORDER BY id""",
        agent.access.workspace_id,
        action,
    )


def test_a_key_learns_its_own_reach(agent: Agent) -> None:
    body = agent.get("whoami").json()
    assert body["workspace"] == agent.access.workspace
    assert body["partition"] is None
    assert body["scopes"] == sorted(Scope)
    assert agent.key.startswith(body["key"])
    bound = agent.with_scopes(Scope.READ, partition="p").get("whoami").json()
    assert (bound["partition"], bound["scopes"]) == ("p", ["read"])


@pytest.mark.parametrize(
    "header",
    [
        "",
        "Bearer",
        "Bearer ",
        "Bearer mc_unknown",
        "Bearer mc_" + "x" * 10_000,
        "Bearer \x00",
        "Bearer ключ",
        "Basic bWM6cHc=",
        "mc_unknown",
    ],
)
def test_what_is_no_key_opens_no_door(shared: Agent, header: str) -> None:
    for method, path, _ in DOORS:
        response = getattr(shared.client, method)(
            f"/api/v1/{path.format(id=ID)}", headers={"Authorization": header} if header else {}
        )
        error(response, 401, "unauthorized")
        assert response.headers["WWW-Authenticate"].startswith("Bearer")


@pytest.mark.parametrize(("method", "path", "scope"), DOORS)
def test_a_door_opens_for_its_own_scope_only(method: str, path: str, scope: Scope) -> None:
    agent = make_agent(set(Scope) - {scope})
    found = error(agent.raw(method, path.format(id=ID), b"{}"), 403, "forbidden")
    assert str(scope) in found["message"]
    assert events(agent, "scope.refused") == [
        (agent.key[: keys.PREFIX_LENGTH], "denied", str(scope), None)
    ]
    allowed = agent.with_scopes(scope).raw(method, path.format(id=ID), b"{}")
    assert allowed.status_code in (200, 404, 422)


@pytest.mark.parametrize(("method", "path", "scope"), [("get", "whoami", None), *DOORS])
def test_a_wrong_method_is_refused(
    shared: Agent, method: str, path: str, scope: Scope | None
) -> None:
    for wrong in ("delete", "patch", "options", "head"):
        response = shared.raw(wrong, path.format(id=ID), b"")
        assert response.status_code == 405
        assert response.headers["Allow"]
        if wrong != "head":
            error(response, 405, "method_not_allowed")


def test_unknown_expired_and_revoked_keys_are_told_the_same(agent: Agent) -> None:
    now = timezone.now()
    expired = Agent(
        keys.make_key(access=agent.access, expires_at=now - timedelta(seconds=1)), agent.access
    )
    revoked = agent.with_scopes(Scope.READ)
    with workspace_scope(agent.access.workspace_id):
        row = ApiKey.objects.get(prefix=revoked.key[: keys.PREFIX_LENGTH])
    assert keys.revoke_key(row.id, reason="leaked", access=agent.access)
    assert not keys.revoke_key(row.id, reason="leaked", access=agent.access)
    answers = [
        anonymous(Agent(key, agent.access).get("whoami").content)
        for key in (expired.key, revoked.key, "mc_unknown")
    ]
    assert answers[0] == answers[1] == answers[2]
    assert {row[3] for row in events(agent, "key.refused")} == {"expired", "revoked"}


def test_a_revocation_takes_effect_within_seconds(
    agent: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert agent.get("whoami").status_code == 200
    with workspace_scope(agent.access.workspace_id):
        row = ApiKey.objects.get(prefix=agent.key[: keys.PREFIX_LENGTH])
    keys.revoke_key(row.id, reason="leaked", access=agent.access)
    assert keys.REMEMBERED_SECONDS <= 5
    later = time.monotonic() + keys.REMEMBERED_SECONDS
    monkeypatch.setattr(time, "monotonic", lambda: later)
    assert agent.get("whoami").status_code == 401


def test_the_last_use_is_noted_at_most_once_a_minute(agent: Agent) -> None:
    def last_use() -> Any:
        with workspace_scope(agent.access.workspace_id):
            return ApiKey.objects.get(prefix=agent.key[: keys.PREFIX_LENGTH]).last_used_at

    assert last_use() is None
    agent.get("whoami")
    first = last_use()
    assert first is not None
    agent.get("whoami")
    assert last_use() == first


def test_a_stranger_is_on_record_once_however_often_it_tries(agent: Agent) -> None:
    before = maintenance("SELECT coalesce(max(id), 0) FROM event")[0][0]
    for n in range(20):
        Agent(f"mc_guess{n}", agent.access).get("whoami")
    found = maintenance(
        "SELECT outcome, actor_kind, details FROM event WHERE id > %s AND action = 'key.refused'"
        " AND workspace_id IS NULL",
        before,
    )
    assert len(found) == 1
    assert found[0][:2] == ("denied", "anonymous")
    assert "guess" not in str(found)


def test_a_partition_out_of_bounds_is_on_record_without_its_name(agent: Agent) -> None:
    agent.write("p")
    bound = agent.with_scopes(*Scope, partition="q")
    for answer in (
        bound.post("memories", {"partition": "p", "content": "Ana likes tea."}),
        bound.post("recall", {"partition": "p", "query": "tea"}),
        bound.get("memories", partition="p"),
        bound.get("sessions", partition="p"),
        bound.post("sources/feed/runs", {"partition": "p"}),
    ):
        error(answer, 404, "not_found")
    found = events(agent, "partition.refused")
    assert found == [(bound.key[: keys.PREFIX_LENGTH], "denied", None, None)]


def test_a_key_is_stored_as_its_digest_only(agent: Agent) -> None:
    secret = agent.key[keys.PREFIX_LENGTH :]
    rows = maintenance(
        "SELECT to_jsonb(k)::text FROM api_key k WHERE workspace_id = %s",
        agent.access.workspace_id,
    )
    assert rows
    assert secret not in str(rows)
    trail = maintenance(
        "SELECT to_jsonb(e)::text FROM event e WHERE workspace_id = %s", agent.access.workspace_id
    )
    assert secret not in str(trail)


def command(*arguments: str) -> str:
    out = io.StringIO()
    call_command("create_api_key", *arguments, stdout=out)
    return out.getvalue()


def test_the_command_prints_the_key_and_nothing_else() -> None:
    name = f"made-{time.monotonic_ns()}"
    key = command("--workspace", name).strip()
    assert len(key.split()) == 1
    assert key.startswith("mc_")
    again = command("--workspace", name, "--partition", "p", "--scopes", "read,recall").strip()
    workspace_id = find_workspace(name)
    assert workspace_id is not None
    first = make_agent()
    first.key = key
    body = first.get("whoami").json()
    assert (body["workspace"], body["scopes"]) == (name, ["read", "recall", "write"])
    first.key = again
    body = first.get("whoami").json()
    assert (body["partition"], body["scopes"]) == ("p", ["read", "recall"])
    first.key = key
    assert first.get("policies").json()["items"]


@pytest.mark.parametrize(
    "arguments",
    [
        ["--workspace", ""],
        ["--workspace", "x" * 101],
        ["--workspace", "w", "--scopes", "admin"],
        ["--workspace", "w", "--scopes", ","],
        ["--workspace", "w", "--partition", " "],
        ["--workspace", "w", "--partition", "p" * 201],
    ],
)
def test_the_command_refuses_what_cannot_be(arguments: list[str]) -> None:
    with pytest.raises(CommandError):
        command(*arguments)


def test_bootstrap_may_run_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMCONSOLE_HOME", "/srv/my data")
    out = io.StringIO()
    call_command("bootstrap", stdout=out)
    assert "MEMCONSOLE_HOME='/srv/my data' " in out.getvalue()  # a line to be pasted
    assert "manage.py create_api_key --workspace default" in out.getvalue()
    call_command("bootstrap", stdout=io.StringIO())
    workspace_id = find_workspace("default")
    assert workspace_id is not None
    policies = maintenance(
        "SELECT count(*), count(DISTINCT predicate) FROM predicate_policy WHERE workspace_id = %s",
        workspace_id,
    )
    assert policies[0][0] == policies[0][1] > 30
    assert maintenance("SELECT name FROM source WHERE workspace_id = %s", workspace_id) == [
        ("conversation",)
    ]
    models = maintenance(
        "SELECT count(*) FROM embedding_model WHERE workspace_id = %s", workspace_id
    )
    assert models == [(1,)]
