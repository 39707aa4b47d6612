"""What only the real server can show: bodies refused while they are still being sent."""

from __future__ import annotations

import http.client
import json
import threading
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

import pytest
from django.db import connections

from records.access import Actor, ActorKind
from records.items import BODY_LIMIT
from records.workspaces import make_workspace
from tests.api.conftest import Agent


def send(url: str, path: str, body: Any, key: str, **how: Any) -> tuple[int, dict[str, Any]]:
    connection = http.client.HTTPConnection(str(urlsplit(url).netloc), timeout=30)
    headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
    connection.request("POST", f"/api/v1/{path}", body, headers, **how)
    response = connection.getresponse()
    answer = json.loads(response.read())
    connection.close()
    return response.status, answer


@pytest.mark.parametrize("path", ["memories", "memories/batch", "recall"])
def test_ten_megabytes_are_answered_and_not_cut_off(
    live_server_url: str, shared: Agent, path: str
) -> None:
    body = json.dumps({"partition": "p", "content": "x" * 10 * 1024 * 1024}).encode()
    status, answer = send(live_server_url, path, body, shared.key)
    assert status == 413
    assert answer["error"]["fields"][0]["limit"] == BODY_LIMIT


def test_a_stranger_with_ten_megabytes_is_answered_too(live_server_url: str) -> None:
    status, answer = send(live_server_url, "memories", b"x" * 10 * 1024 * 1024, "mc_unknown")
    assert (status, answer["error"]["code"]) == (401, "unauthorized")


def test_a_body_in_chunks_is_told_what_is_missing(live_server_url: str, shared: Agent) -> None:
    body = iter([b'{"partition": "p",', b'"content": "Ana likes tea."}'])
    status, answer = send(live_server_url, "memories", body, shared.key, encode_chunked=True)
    assert (status, answer["error"]["code"]) == (411, "length_required")


def test_eight_megabytes_are_taken(live_server_url: str, shared: Agent) -> None:
    items = [
        {"partition": "p", "subject": f"s{n}", "predicate": "city", "value": "Oslo"} for n in "ab"
    ]
    body = json.dumps({"items": items}).encode()
    body += b" " * (BODY_LIMIT - len(body))
    status, answer = send(live_server_url, "memories/batch", body, shared.key)
    assert status == 200
    assert answer["counts"]["added"] == 2


def test_a_workspace_asked_for_by_many_at_once_is_one() -> None:
    name = f"w-{uuid4().hex[:12]}"
    found: list[Any] = []

    def make() -> None:
        found.append(make_workspace(name, actor=Actor(ActorKind.COMMAND, "test")).workspace_id)
        connections.close_all()

    threads = [threading.Thread(target=make) for _ in range(4)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert len(found) == 4
    assert len(set(found)) == 1
    with connections["maintenance"].cursor() as cursor:
        cursor.execute(
            "SELECT count(*), count(DISTINCT predicate) FROM predicate_policy"
            " WHERE workspace_id = %s",
            [found[0]],
        )
        total, distinct = cursor.fetchone()
    assert total == distinct > 30
