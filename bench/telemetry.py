"""What telemetry costs: a measurement and a scrape on a large store, and tracing on the hot paths.

    .venv/bin/python -m bench.telemetry [--facts N]

Tracing is compared within one process: rounds with it off, and on with every span recorded and
thrown away, alternate. "Off" against "code without spans" is below what can be told apart here: a
span that is off is one global look-up, whose price is printed.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import timeit
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from time import perf_counter
from uuid import uuid4

from django.db import connections
from django.test import Client
from opentelemetry.sdk.trace.export import (
    BatchSpanProcessor,
    SimpleSpanProcessor,
    SpanExporter,
    SpanExportResult,
)
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from audits import jobs, measures, seals
from bench import instance
from bench.instance import real_facts
from bench.writes import _items
from memconsole import tracing
from memconsole.metrics import broker, standing
from records.access import Access, Actor, ActorKind
from records.jobs.runs import perform
from records.retrieve import RecallRequest, recall
from records.scope import workspace_scope
from records.telemetry import counts, traces
from records.workspaces import make_workspace
from records.write import write_facts

BATCH = 1_000
ROUNDS = 15


def main() -> int:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--facts", type=int, default=200_000)
    facts = parser.parse_args().facts
    with instance.database():
        access = make_workspace("bench", actor=Actor(ActorKind.COMMAND, "bench"))
        _tracing(access)
        _fill(access, facts)
        _measuring(access, facts)
    return 0


class Nowhere(SpanExporter):
    """Takes spans as a collector does, and drops them."""

    def export(self, spans: object) -> SpanExportResult:
        """Take them."""
        return SpanExportResult.SUCCESS


def _tracing(access: Access) -> None:
    facts = real_facts(BATCH)
    number = iter(range(1_000_000))

    def write() -> None:
        name = f"p-{next(number)}"
        items = _items(facts, name)
        write_facts(items, access=access)

    def ask() -> None:
        recall(RecallRequest(partition="p-0", query="where does she work now"), access=access)

    def on() -> None:
        tracing.trace_to(BatchSpanProcessor(Nowhere()))

    write()
    for name, act, each in (("write of 1,000", write, 1), ("recall of 1,000", ask, 40)):
        off_times, on_times = _alternate(act, on, each)
        ratio = statistics.median(b / a for a, b in zip(off_times, on_times, strict=True))
        off = statistics.median(off_times)
        print(f"tracing on, {name}: {ratio:.3f} of off ({off:.2f} ms)")
        share = _spans_of(act) * _each(_off) / (off * 1e-3)
        print(f"tracing off, {name}: 1 + {share:.6f} of code without spans")
    count = partial(counts.count_recall, 0.01, current=9, stale=1, expired=1, complete=True)
    print(f"counting a recall: {_each(count) * 1e6:.1f} µs")
    request = partial(counts.count_request, "POST", "api/v1/recall", 200, 0.01)
    print(f"counting a request: {_each(request) * 1e6:.1f} µs")


def _off() -> None:
    with traces.span("memory.write", items=1, workspace=None) as span:
        span.note(count=1)


def _each(act: Callable[[], object], loops: int = 50_000) -> float:
    """Return the seconds that one call takes, at its best of five: less was in its way."""
    return min(timeit.repeat(act, number=loops, repeat=5)) / loops


def _spans_of(act: Callable[[], None]) -> int:
    """Return how many spans one act has."""
    kept = InMemorySpanExporter()
    tracing.trace_to(SimpleSpanProcessor(kept))
    act()
    tracing.switch_off()
    return len(kept.get_finished_spans())


def _alternate(
    act: Callable[[], None], on: Callable[[], None], each: int
) -> tuple[list[float], list[float]]:
    off_times: list[float] = []
    on_times: list[float] = []
    for _ in range(ROUNDS):
        tracing.switch_off()
        off_times.append(_clock(act, each))
        on()
        on_times.append(_clock(act, each))
    tracing.switch_off()
    return off_times, on_times


def _clock(act: Callable[[], None], each: int = 1) -> float:
    started = perf_counter()
    for _ in range(each):
        act()
    return (perf_counter() - started) * 1000 / each


def _fill(access: Access, count: int) -> None:
    """Fill the store with facts, a tenth of them held, by the shape that writing gives them."""
    with workspace_scope(access.workspace_id), connections["default"].cursor() as cursor:
        cursor.execute("SELECT partition_id, source_id, session_id FROM memory_record LIMIT 1")
        partition_id, source_id, session_id = cursor.fetchone()
        cursor.execute(
            """INSERT INTO memory_record (id, workspace_id, partition_id, source_id, session_id,
                   slot_id, fingerprint, subject, subject_key, predicate, value, content,
                   cardinality, tags, labels, metadata, confidence, stated_confidence, written_at,
                   order_at, recorded_at, last_seen, status_at, believed, terms, findings, status,
                   hold_reason, risk)
               SELECT gen_random_uuid(), %s, %s, %s, %s, gen_random_uuid(),
                   'fp_' || left(md5(n::text), 24), 'Ada', 'ada', 'note', 'value ' || n, '',
                   'many', '{}', '{}', '{}', 0.8, 0.8, now(), now(), now(), now(), now(), '{}',
                   '{}', '[]', CASE WHEN n %% 10 = 0 THEN 'quarantined' ELSE 'active' END,
                   CASE WHEN n %% 10 = 0 THEN 'gate' ELSE '' END, CASE WHEN n %% 10 = 0 THEN 1 ELSE 0 END
               FROM generate_series(1, %s) AS n""",
            [access.workspace_id, partition_id, source_id, session_id, count],
        )
        cursor.execute(
            """INSERT INTO fence (id, workspace_id, partition_id, fingerprint, reason, created_by,
                   attempts)
               SELECT gen_random_uuid(), %s, %s, 'fp_' || left(md5('f' || n), 24), '', 'bench', 1
               FROM generate_series(1, %s) AS n""",
            [access.workspace_id, partition_id, count // 10],
        )
    with connections["maintenance"].cursor() as cursor:
        cursor.execute("VACUUM (ANALYZE) memory_record, fence, event")
    seals.seal_now(access.workspace_id)


def _measuring(access: Access, facts: int) -> None:
    def measure() -> None:
        perform(jobs.MEASURES, access.workspace_id, measures.measure)

    measure()
    spent = [_clock(measure) for _ in range(ROUNDS)]
    print(f"a measurement of {facts:,} facts: {statistics.median(spent):.0f} ms")
    for _ in range(50):
        make_workspace(f"w-{uuid4().hex}", actor=Actor(ActorKind.COMMAND, "bench"))
    broker.queues = lambda: iter(())  # there is none here
    client = Client(SERVER_NAME="localhost")
    assert client.get("/metrics").status_code == 200
    scrapes = [_clock(lambda: client.get("/metrics")) for _ in range(ROUNDS)]
    print(f"a scrape whose own readings are kept: {statistics.median(scrapes):.1f} ms")
    reading = [_clock(lambda: list(standing.read(datetime.now(UTC)))) for _ in range(ROUNDS)]
    print(f"what a scrape reads anew: {statistics.median(reading):.1f} ms")


if __name__ == "__main__":
    sys.exit(main())
