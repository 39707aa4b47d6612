"""A repeated request is one request, however and whenever it is repeated."""

from __future__ import annotations

import threading
from datetime import timedelta
from typing import Any

import pytest
from django.db import connections
from django.utils import timezone

from records import idempotency, write
from records.access import Scope
from tests.api.conftest import Agent, error

FACT = {"partition": "p", "subject": "Ana", "predicate": "employer", "value": "Northwind"}
OTHER = {**FACT, "value": "Contoso"}


def test_the_first_answer_is_sent_again(agent: Agent) -> None:
    first = agent.post("memories", FACT, Idempotency_Key="k1")
    again = agent.post("memories", FACT, Idempotency_Key="k1")
    assert first.json()["decision"] == "added"
    assert again.content == first.content
    assert "Idempotency-Replayed" not in first.headers
    assert again.headers["Idempotency-Replayed"] == "true"
    assert again.headers["X-Request-ID"] != first.headers["X-Request-ID"]
    assert agent.get(f"memories/{first.json()['id']}").json()["seen_count"] == 1
    assert agent.post("memories", FACT).json()["seen_count"] == 2


def test_every_changing_door_honours_the_key(agent: Agent) -> None:
    record = agent.write()["id"]
    run = agent.post("sources/feed/runs", {"partition": "p"}).json()["id"]
    for path, body in (
        ("memories/batch", {"items": [FACT, OTHER]}),
        (f"memories/{record}/correct", {"value": "Fabrikam"}),
        (f"memories/{record}/retract", {"reason": "x"}),
        ("sources/feed/runs", {"partition": "p"}),
        (f"sources/feed/runs/{run}/finish", {}),
    ):
        first = agent.post(path, body, Idempotency_Key=f"k-{path}")
        again = agent.post(path, body, Idempotency_Key=f"k-{path}")
        assert first.status_code == 200, first.content
        assert again.content == first.content
        assert again.headers["Idempotency-Replayed"] == "true"


def test_the_same_key_for_another_request_is_a_conflict(agent: Agent) -> None:
    agent.post("memories", FACT, Idempotency_Key="k1")
    error(agent.post("memories", OTHER, Idempotency_Key="k1"), 409, "idempotency_conflict")
    error(
        agent.post("memories/batch", {"items": [FACT]}, Idempotency_Key="k1"),
        409,
        "idempotency_conflict",
    )
    assert agent.get("memories").json()["items"][0]["value"] == "Northwind"


def test_keys_of_two_api_keys_do_not_meet(agent: Agent, stranger: Agent) -> None:
    colleague = agent.with_scopes(*Scope)
    answers = [
        one.post("memories", FACT, Idempotency_Key="k1") for one in (agent, colleague, stranger)
    ]
    decisions = [one.json()["decision"] for one in answers]
    assert decisions == ["added", "reinforced", "added"]


def test_what_was_refused_may_be_mended_under_the_same_key(agent: Agent) -> None:
    error(agent.post("memories", {**FACT, "value": ""}, Idempotency_Key="k1"), 422, "invalid")
    assert agent.post("memories", FACT, Idempotency_Key="k1").json()["decision"] == "added"


@pytest.mark.parametrize("key", ["", " ", "x" * 201, "ключ", "a\tb"])
def test_a_key_that_is_none_is_refused(agent: Agent, key: str) -> None:
    found = error(agent.post("memories", FACT, Idempotency_Key=key), 422, "invalid")
    assert found["fields"][0]["limit"] == 200


def test_a_crash_leaves_neither_the_fact_nor_the_key(
    agent: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = write.write_facts

    def crash(*args: Any, **kwargs: Any) -> Any:
        real(*args, **kwargs)
        raise RuntimeError("killed after writing, before answering")

    monkeypatch.setattr(write, "write_facts", crash)
    with pytest.raises(RuntimeError):
        agent.post("memories", FACT, Idempotency_Key="k1")
    monkeypatch.setattr(write, "write_facts", real)
    assert agent.get("memories", partition="p").status_code == 404
    again = agent.post("memories", FACT, Idempotency_Key="k1")
    assert again.json()["decision"] == "added"


def test_requests_at_once_run_once(agent: Agent) -> None:
    answers: list[Any] = []

    def send() -> None:
        answers.append(Agent(agent.key, agent.access).post("memories", FACT, Idempotency_Key="k1"))
        connections.close_all()

    threads = [threading.Thread(target=send) for _ in range(8)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert {one.status_code for one in answers} == {200}
    assert len({one.content for one in answers}) == 1
    assert sum("Idempotency-Replayed" not in one.headers for one in answers) == 1
    record = answers[0].json()["id"]
    assert agent.get(f"memories/{record}").json()["seen_count"] == 1


def test_a_second_request_waits_only_so_long(agent: Agent, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(idempotency, "WAIT_SECONDS", 1)
    real = write.write_facts
    running, done = threading.Event(), threading.Event()

    def slow(*args: Any, **kwargs: Any) -> Any:
        running.set()
        done.wait(10)
        return real(*args, **kwargs)

    monkeypatch.setattr(write, "write_facts", slow)
    first: list[Any] = []

    def send() -> None:
        first.append(Agent(agent.key, agent.access).post("memories", FACT, Idempotency_Key="k1"))
        connections.close_all()

    thread = threading.Thread(target=send)
    thread.start()
    assert running.wait(10)
    second = agent.post("memories", FACT, Idempotency_Key="k1")
    done.set()
    thread.join()
    error(second, 409, "in_progress")
    assert second.headers["Retry-After"]
    assert first[0].json()["decision"] == "added"
    assert agent.post("memories", FACT, Idempotency_Key="k1").content == first[0].content


def test_an_answer_is_forgotten_after_a_day(agent: Agent, monkeypatch: pytest.MonkeyPatch) -> None:
    agent.post("memories", FACT, Idempotency_Key="k1")
    tomorrow = timezone.now() + timedelta(hours=25)
    monkeypatch.setattr(timezone, "now", lambda: tomorrow)
    again = agent.post("memories", FACT, Idempotency_Key="k1")
    assert again.json()["decision"] == "reinforced"
    assert idempotency.purge(agent.access.workspace_id, now=tomorrow) == 0
    assert idempotency.purge(agent.access.workspace_id, now=tomorrow + timedelta(days=2)) == 1


def test_erasing_a_record_forgets_the_answers_about_it(agent: Agent, stranger: Agent) -> None:
    from uuid import UUID

    from records.scope import workspace_scope

    one = agent.post("memories", FACT, Idempotency_Key="k1").json()["id"]
    agent.post("memories", {**FACT, "subject": "Bo"}, Idempotency_Key="k2")
    workspace_id = agent.access.workspace_id
    with workspace_scope(stranger.access.workspace_id):
        assert idempotency.forget(workspace_id, [UUID(one)]) == 0
    with workspace_scope(workspace_id):
        assert idempotency.forget(workspace_id, [UUID(one)]) == 1
    assert agent.post("memories", FACT, Idempotency_Key="k1").json()["decision"] == "reinforced"
