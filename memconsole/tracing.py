"""OpenTelemetry traces, where the standard ``OTEL_*`` variables say where to send them.

Owns switching on, the span of a request, and carrying a trace into tasks. Without
an endpoint nothing is imported and nothing is recorded. Spans end up at
``OTEL_EXPORTER_OTLP_ENDPOINT`` by OTLP over HTTP; sampler, headers, time-outs and
service name are OpenTelemetry's own variables. What may stand on a span is
``records/telemetry/traces.py``'s to say.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

from django.http import HttpRequest

from records.telemetry import traces

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import SpanProcessor, TracerProvider

logger = logging.getLogger(__name__)
ENDPOINTS = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
CARRIED = ("traceparent", "tracestate")

_provider: TracerProvider | None = None


def is_wanted(environ: Mapping[str, str]) -> bool:
    """Say whether the environment asks for traces: an endpoint, and nothing that forbids it."""
    if environ.get("OTEL_SDK_DISABLED", "").strip().lower() == "true":
        return False
    if environ.get("OTEL_TRACES_EXPORTER", "otlp").strip().lower() not in ("", "otlp"):
        return False
    return any(environ.get(name, "").strip() for name in ENDPOINTS)


def switch_on(environ: Mapping[str, str]) -> bool:
    """Start tracing if the environment asks for it; return whether it does."""
    if not is_wanted(environ):
        return False
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    trace_to(BatchSpanProcessor(OTLPSpanExporter()), environ=environ)
    return True


def trace_to(processor: SpanProcessor, *, environ: Mapping[str, str] = os.environ) -> None:
    """Send every span to this processor from now on."""
    global _provider
    from opentelemetry.sdk.resources import SERVICE_NAME, Resource
    from opentelemetry.sdk.trace import TracerProvider

    # OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES come on top of ours.
    named: dict[str, Any] = {"process.name": environ.get("MEMCONSOLE_PROCESS", "command")}
    if not environ.get("OTEL_SERVICE_NAME"):
        named[SERVICE_NAME] = "memconsole"
    _provider = TracerProvider(resource=Resource.create(named))
    _provider.add_span_processor(processor)
    traces.switch_on(_provider.get_tracer("memconsole"))


def switch_off() -> None:
    """Send what is left, and trace no longer."""
    global _provider
    traces.switch_on(None)
    if _provider is not None:
        _provider.shutdown()
        _provider = None


def flush(milliseconds: int = 5_000) -> None:
    """Send what is finished now."""
    if _provider is not None:
        _provider.force_flush(milliseconds)


def serving(request: HttpRequest) -> AbstractContextManager[traces.Spanned]:
    """Return the span of a request; it goes on the caller's trace where there is one."""
    from opentelemetry.trace import SpanKind

    carrier = {name: request.headers[name] for name in CARRIED if name in request.headers}
    return traces.span_from(_extract(carrier), "http.request", SpanKind.SERVER)


def name_request(span: traces.Spanned, method: str, route: str) -> None:
    """Name a request's span by its route's template, once the route is known."""
    inner = getattr(span, "span", None)
    if inner is not None:
        inner.update_name(f"{method} {route}")
        inner.set_attribute("http.request.method", method)
        inner.set_attribute("http.route", route)


def put_into(headers: dict[str, Any]) -> None:
    """Put the trace at hand into a message's headers, so that its task goes on the same trace."""
    if traces.is_on():
        from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

        TraceContextTextMapPropagator().inject(headers)


def working(carrier: Mapping[str, str], task: str) -> AbstractContextManager[traces.Spanned]:
    """Return the span of a task; it goes on the trace of whoever queued it."""
    if not traces.is_on():
        return traces.NOTHING
    from opentelemetry.trace import SpanKind

    return traces.span_from(_extract(carrier), f"task {task}", SpanKind.CONSUMER, task=task)


def _extract(carrier: Mapping[str, str]) -> Any:
    from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

    return TraceContextTextMapPropagator().extract(dict(carrier)) if carrier else None
