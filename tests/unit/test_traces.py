"""Traces: nothing unless asked for; ids, numbers and codes only; sent by OTLP to a collector."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from memconsole import tracing
from records.telemetry import traces

MARKER = "Ada lives in Zanzibar"


@pytest.fixture
def spans() -> Iterator[InMemorySpanExporter]:
    exporter = InMemorySpanExporter()
    tracing.trace_to(SimpleSpanProcessor(exporter), environ={})
    yield exporter
    tracing.switch_off()


def names(spans: tuple[ReadableSpan, ...]) -> list[str]:
    return [one.name for one in spans]


def test_without_an_endpoint_nothing_is_loaded_and_spans_are_one_shared_nothing() -> None:
    code = (
        "import sys; from memconsole import tracing; from records.telemetry import traces;"
        "assert tracing.switch_on({}) is False;"
        "assert traces.span('a', x=1) is traces.span('b');"
        "found = [one for one in sys.modules if one.startswith('opentelemetry')];"
        "assert not found, found"
    )
    root = Path(__file__).resolve().parents[2]
    done = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("environ", "wanted"),
    [
        ({}, False),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://c:4318"}, True),
        ({"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://c:4318/v1/traces"}, True),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://c", "OTEL_SDK_DISABLED": "true"}, False),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://c", "OTEL_TRACES_EXPORTER": "none"}, False),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": " "}, False),
    ],
)
def test_the_standard_variables_decide(environ: dict[str, str], wanted: bool) -> None:
    assert tracing.is_wanted(environ) is wanted


def test_attributes_are_ids_numbers_and_codes_alone(spans: InMemorySpanExporter) -> None:
    found = uuid4()
    with traces.span(
        "memory.write", id=found, items=3, share=0.5, done=True, code="added", text=MARKER,
        many=[MARKER], nothing=None, mail="ada@example.org",
    ) as span:  # fmt: skip
        span.note(late=MARKER, count=2)
    (one,) = spans.get_finished_spans()
    assert dict(one.attributes or {}) == {
        "memconsole.id": str(found),
        "memconsole.items": 3,
        "memconsole.share": 0.5,
        "memconsole.done": True,
        "memconsole.code": "added",
        "memconsole.count": 2,
    }


def test_a_failure_is_named_by_its_kind_and_nothing_of_its_text(
    spans: InMemorySpanExporter,
) -> None:
    def fails() -> None:
        with traces.span("memory.save"):
            raise ValueError(MARKER)

    with pytest.raises(ValueError, match="Zanzibar"):
        fails()
    (one,) = spans.get_finished_spans()
    assert MARKER not in one.to_json()
    assert one.attributes is not None
    assert one.attributes["error.type"] == "ValueError"
    assert not one.status.is_ok
    assert one.events == ()


def test_spans_inside_spans_are_their_children(spans: InMemorySpanExporter) -> None:
    with traces.span("outer"), traces.span("inner"):
        pass
    inner, outer = spans.get_finished_spans()
    assert inner.parent is not None
    assert inner.parent.span_id == outer.get_span_context().span_id


def test_a_task_goes_on_the_trace_in_which_it_was_queued(spans: InMemorySpanExporter) -> None:
    headers: dict[str, Any] = {"task": "records.validity"}
    with traces.span("http.request"):
        tracing.put_into(headers)
    with tracing.working({"traceparent": headers["traceparent"]}, "records.validity"):
        pass
    request, task = spans.get_finished_spans()
    assert task.name == "task records.validity"
    assert task.get_span_context().trace_id == request.get_span_context().trace_id


def test_a_malformed_traceparent_begins_a_trace_of_its_own(spans: InMemorySpanExporter) -> None:
    with tracing.working({"traceparent": MARKER}, "records.validity"):
        pass
    (one,) = spans.get_finished_spans()
    assert one.parent is None


class Collector:
    """What an OpenTelemetry collector does at its door: takes protobuf by HTTP."""

    def __init__(self) -> None:
        self.requests: list[ExportTraceServiceRequest] = []
        self.headers: list[dict[str, str]] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                outer.requests.append(ExportTraceServiceRequest.FromString(body))
                outer.headers.append({**self.headers, "path": self.path})
                self.send_response(200)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *args: Any) -> None:
                pass

        self.server = HTTPServer(("127.0.0.1", 0), Handler)

    @property
    def names(self) -> list[str]:
        return [
            span.name
            for request in self.requests
            for resource in request.resource_spans
            for scope in resource.scope_spans
            for span in scope.spans
        ]


@pytest.fixture
def collector() -> Iterator[Collector]:
    found = Collector()
    thread = threading.Thread(target=found.server.serve_forever, daemon=True)
    thread.start()
    yield found
    found.server.shutdown()
    found.server.server_close()
    thread.join()


def test_spans_reach_a_collector_by_the_standard_variables(
    collector: Collector, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = f"http://127.0.0.1:{collector.server.server_port}"
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", url)
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", "x-team=memory")
    monkeypatch.setenv("OTEL_SERVICE_NAME", "our-memory")
    environ = {
        "OTEL_EXPORTER_OTLP_ENDPOINT": url,
        "OTEL_SERVICE_NAME": "our-memory",
        "MEMCONSOLE_PROCESS": "worker",
    }
    assert tracing.switch_on(environ)
    try:
        with traces.span("memory.write", items=1), traces.span("memory.gate"):
            pass
        tracing.flush()
    finally:
        tracing.switch_off()
    assert sorted(collector.names) == ["memory.gate", "memory.write"]
    assert collector.headers[0]["path"] == "/v1/traces"
    assert collector.headers[0]["x-team"] == "memory"
    resource = {
        one.key: one.value.string_value
        for one in collector.requests[0].resource_spans[0].resource.attributes
    }
    assert resource["service.name"] == "our-memory"
    assert resource["process.name"] == "worker"


def test_a_collector_that_is_away_harms_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "1")
    assert tracing.switch_on({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9"})
    with traces.span("memory.write"):
        done = True
    tracing.flush(10)
    tracing.switch_off()
    assert done
