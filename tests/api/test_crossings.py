"""Tenants that write and recall at the same moment over kept connections never meet."""

from __future__ import annotations

import http.client
import json
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from threading import Barrier
from typing import Any
from urllib.parse import urlsplit

from django.db import connections

from records.access import Scope
from records.models import MemoryRecord
from records.scope import workspace_scope

from .conftest import Agent, make_agent

WRITES = 500  # by each tenant
CLIENTS = 4  # connections of each tenant, all kept open
WRITER = (Scope.WRITE, Scope.RECALL)


class Caller:
    """One kept connection with one key."""

    def __init__(self, url: str, key: str) -> None:
        parts = urlsplit(url)
        self.connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=30)
        self.headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}

    def post(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        self.connection.request("POST", f"/api/v1/{path}", json.dumps(body), self.headers)
        response = self.connection.getresponse()
        answer = json.loads(response.read())
        assert response.status == 200, answer
        return dict(answer)


def test_interleaved_writes_and_recalls_of_two_tenants_never_cross(live_server_url: str) -> None:
    tenants = {name: make_agent() for name in ("north", "south")}
    # In one tenant two partitions under keys of their own; in the other the whole workspace.
    keys = {
        ("north", "p"): tenants["north"].with_scopes(*WRITER, partition="p").key,
        ("north", "q"): tenants["north"].with_scopes(*WRITER, partition="q").key,
        ("south", "p"): tenants["south"].key,
        ("south", "q"): tenants["south"].key,
    }
    places = [place for place in keys for _ in range(CLIENTS // 2)]
    start = Barrier(len(places))

    def live(number: int, tenant: str, partition: str) -> int:
        caller = Caller(live_server_url, keys[tenant, partition])
        with closing(caller.connection):
            return talk(caller, number, f"{tenant}{partition}", partition)

    def talk(caller: Caller, number: int, mark: str, partition: str) -> int:
        start.wait()
        for step in range(WRITES // CLIENTS // 5):
            fact = {"partition": partition, "subject": "Ana", "predicate": "allergy"}
            fact["session"] = f"{mark} session"
            items = [{**fact, "value": f"{mark} kiwi {number} {step} {i}"} for i in range(4)]
            written = [caller.post("memories", {**fact, "value": f"{mark} nut {number} {step}"})]
            written += caller.post("memories/batch", {"items": items})["results"]
            assert [one["decision"] for one in written] == ["added"] * 5
            asked = {"partition": partition, "query": "Ana allergy kiwi nut", "top_k": 50}
            found = caller.post("recall", asked)["items"]
            assert found
            for one in found:
                assert one["value"].startswith(mark), f"{mark} was told {one['value']}"
        return WRITES // CLIENTS

    try:
        with ThreadPoolExecutor(len(places)) as pool:
            done = [pool.submit(live, n, *place) for n, place in enumerate(places)]
            assert sum(one.result() for one in done) == 2 * WRITES
        for name, tenant in tenants.items():
            _check(name, tenant)
    finally:
        connections.close_all()


def _check(name: str, tenant: Agent) -> None:
    with workspace_scope(tenant.access.workspace_id):
        rows = list(MemoryRecord.objects.values_list("workspace_id", "partition__name", "value"))
    assert len(rows) == WRITES
    for workspace_id, partition, value in rows:
        assert workspace_id == tenant.access.workspace_id
        assert value.startswith(f"{name}{partition} ")
