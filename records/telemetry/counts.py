"""Counters and histograms of this process: writes, recalls, requests, tasks.

Owns their names and labels. Labels are words of the code (a decision, a route's
template, a task's name), never anything a caller chose. Where
``PROMETHEUS_MULTIPROC_DIR`` is set, values live in a file per process there, so
that whichever process is asked can answer for all of them.
"""

from __future__ import annotations

from collections import Counter as Tally
from collections.abc import Sequence
from typing import Protocol

from prometheus_client import CollectorRegistry, Counter, Histogram

# A registry of our own: the default one carries process metrics that mean nothing when
# several processes are read as one.
REGISTRY = CollectorRegistry(auto_describe=True)

# Requests and recalls end between half a millisecond and some seconds.
SECONDS = (0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
LONG_SECONDS = (0.01, 0.05, 0.25, 1.0, 5.0, 15.0, 60.0, 300.0, 1800.0)
METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})

WRITES = Counter(
    "memconsole_writes", "Facts written, by what was decided.", ["decision"], registry=REGISTRY
)
REFUSED = Counter(
    "memconsole_writes_refused", "Items refused because they were malformed.", registry=REGISTRY
)
VERDICTS = Counter(
    "memconsole_gate_verdicts", "What the gate said of facts.", ["outcome"], registry=REGISTRY
)
RECALLS = Histogram(
    "memconsole_recall_duration_seconds",
    "How long recalls took, from the question to the committed log.",
    buckets=SECONDS,
    registry=REGISTRY,
)
INCOMPLETE = Counter(
    "memconsole_recalls_incomplete",
    "Recalls answered without likeness: a model could not embed.",
    registry=REGISTRY,
)
SERVED = Counter(
    "memconsole_served_facts",
    "Facts served by recalls, by whether they were current.",
    ["current"],
    registry=REGISTRY,
)
EXPIRED_SERVED = Counter(
    "memconsole_expired_served",
    "Facts served although their validity had ended (marked as not current).",
    registry=REGISTRY,
)
REQUESTS = Histogram(
    "memconsole_http_request_duration_seconds",
    "How long requests took, by route template.",
    ["method", "route", "status"],
    buckets=SECONDS,
    registry=REGISTRY,
)
TASKS = Histogram(
    "memconsole_task_duration_seconds",
    "How long background tasks took, by how they ended.",
    ["task", "state"],
    buckets=LONG_SECONDS,
    registry=REGISTRY,
)


class Decided(Protocol):
    """A write as it is counted."""

    @property
    def decision(self) -> str:
        """What the write path decided."""

    @property
    def verdict(self) -> str:
        """What the gate said."""


def count_writes(written: Sequence[Decided], *, refused: int = 0) -> None:
    """Count a request's writes; call after their commit."""
    for decision, number in Tally(str(one.decision) for one in written).items():
        WRITES.labels(decision).inc(number)
    for outcome, number in Tally(str(one.verdict) for one in written).items():
        VERDICTS.labels(outcome).inc(number)
    if refused:
        REFUSED.inc(refused)


def count_recall(seconds: float, *, current: int, stale: int, expired: int, complete: bool) -> None:
    """Count one recall that was logged and is about to be answered."""
    RECALLS.observe(seconds)
    if current:
        SERVED.labels("yes").inc(current)
    if stale:
        SERVED.labels("no").inc(stale)
    if expired:
        EXPIRED_SERVED.inc(expired)
    if not complete:
        INCOMPLETE.inc()


def count_request(method: str, route: str, status: int, seconds: float) -> None:
    """Count one HTTP request; ``route`` is the template, never the path."""
    known = method if method in METHODS else "other"
    REQUESTS.labels(known, route, str(status)).observe(seconds)


def count_task(task: str, state: str, seconds: float) -> None:
    """Count one background task."""
    TASKS.labels(task, state).observe(seconds)
