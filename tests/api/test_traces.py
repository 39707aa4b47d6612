"""A request, a write, a recall and a job, traced: whose parts they are, and that no text is there."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from celery.contrib.testing.worker import start_worker
from celery.signals import task_postrun
from django.test import Client
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from audits import jobs, leases, tasks
from memconsole import tracing
from memconsole.celery import app
from records import write
from records.jobs.runs import enqueue, perform
from records.keys import make_key
from records.scope import workspace_scope
from records.telemetry import traces
from tests.web.conftest import make_access

MARKER = "zanzibarmarker"
CALLER = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


@pytest.fixture
def spans() -> Iterator[InMemorySpanExporter]:
    exporter = InMemorySpanExporter()
    tracing.trace_to(SimpleSpanProcessor(exporter), environ={})
    yield exporter
    tracing.switch_off()


def named(spans: InMemorySpanExporter) -> dict[str, ReadableSpan]:
    return {one.name: one for one in spans.get_finished_spans()}


def parent(found: dict[str, ReadableSpan], name: str) -> str:
    above = found[name].parent
    ids = {one.get_span_context().span_id: key for key, one in found.items()}
    return ids.get(above.span_id, "") if above else ""


def agent(**headers: str) -> Client:
    key = make_key(access=make_access())
    return Client(
        headers={"Authorization": f"Bearer {key}", **headers}, raise_request_exception=False
    )


def post(client: Client, path: str, data: Any) -> Any:
    return client.post(f"/api/v1/{path}", json.dumps(data), content_type="application/json")


def test_a_write_and_a_recall_go_on_the_callers_trace_step_by_step(
    spans: InMemorySpanExporter,
) -> None:
    fact = {
        "partition": MARKER, "subject": MARKER, "predicate": "note", "value": MARKER,
        "session": MARKER, "evidence": MARKER, "tags": [MARKER],
    }  # fmt: skip
    client = agent(traceparent=CALLER)
    assert post(client, "memories", fact).status_code == 200
    assert post(client, "recall", {"partition": MARKER, "query": MARKER}).status_code == 200
    found = named(spans)
    write = "POST api/v1/memories"
    assert parent(found, "memory.write") == write
    for step in ("gate", "embed", "reconcile", "save"):
        assert parent(found, f"memory.{step}") == "memory.write"
    assert parent(found, "memory.recall") == "POST api/v1/recall"
    for step in ("score", "log"):
        assert parent(found, f"memory.recall.{step}") == "memory.recall"
    assert f"{found[write].get_span_context().trace_id:032x}" == CALLER.split("-")[1]
    attributes = found["memory.recall"].attributes
    assert attributes is not None
    assert attributes["memconsole.served"] == 1
    assert MARKER not in "".join(one.to_json() for one in spans.get_finished_spans())


def test_a_request_that_fails_says_the_kind_alone(
    spans: InMemorySpanExporter, monkeypatch: pytest.MonkeyPatch
) -> None:
    def crash(*args: Any, **named: Any) -> Any:
        raise RuntimeError(MARKER)

    monkeypatch.setattr(write, "_write", crash)
    answer = post(agent(), "memories", {"partition": "p", "content": "text"})
    assert answer.status_code == 500
    found = named(spans)
    attributes = found["memory.write"].attributes
    assert attributes is not None
    assert attributes["error.type"] == "RuntimeError"
    assert MARKER not in "".join(one.to_json() for one in spans.get_finished_spans())


def test_a_run_and_its_steps_are_spans(spans: InMemorySpanExporter) -> None:
    access = make_access()
    assert perform(jobs.LEASES, access.workspace_id, leases.free) is not None
    found = named(spans)
    assert parent(found, "job.step") == "job.run"
    attributes = found["job.run"].attributes
    assert attributes is not None
    assert attributes["memconsole.job"] == "leases"
    assert attributes["memconsole.workspace"] == str(access.workspace_id)


def test_a_task_in_a_worker_goes_on_the_trace_of_whoever_queued_it(
    spans: InMemorySpanExporter,
) -> None:
    access = make_access()
    with workspace_scope(access.workspace_id):
        enqueue(jobs.LEASES, access.workspace_id, requested_by="test")
    with traces.span("http.request"):
        tasks.free_leases.apply_async(kwargs={"workspace_id": str(access.workspace_id)})
    ended = threading.Event()

    @task_postrun.connect
    def note(sender: Any = None, **_: Any) -> None:
        if sender.name == jobs.LEASES.task:  # others may have left messages in the queue
            ended.set()

    with start_worker(app, perform_ping_check=False, pool="solo", queues=["default"]):
        assert ended.wait(60)
    wanted = f"task {jobs.LEASES.task}"
    found = named(spans)
    queued, worked = found["http.request"], found[wanted]
    assert worked.get_span_context().trace_id == queued.get_span_context().trace_id
    assert parent(found, "job.run") == wanted
