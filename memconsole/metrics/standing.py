"""How the memory stands, as metrics: read from the last measurement, the database and the broker.

Owns the names of the gauges. The numbers were measured by the job ``measures``;
here they are added up over the workspaces, or shown for each of the first few
by name where ``MEMCONSOLE_METRICS_WORKSPACES`` asks for that. What cannot be
read is left out, and ``memconsole_up`` says so.
"""

from __future__ import annotations

import logging
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from typing import Any

from django.conf import settings
from prometheus_client import CollectorRegistry
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric

from audits.queries import measures
from memconsole.metrics import broker
from records.jobs import catalogue
from records.jobs.overview import installation_runs

logger = logging.getLogger(__name__)
OTHER = "other"  # the workspaces beyond those with a label of their own
STATES = ("queued", "running", "waiting", "done", "drifted", "cancelled", "failed", "refused")

Numbers = dict[str, Any]
Keep = Callable[[float, float], float]


class Standing:
    """A collector that reads at most once in ``METRICS_CACHE_SECONDS``."""

    def __init__(self) -> None:
        self._families: list[Metric] = []
        self._read_at = float("-inf")

    def collect(self) -> Iterator[Metric]:
        """Yield the families, read anew when the last reading is old."""
        if time.monotonic() - self._read_at >= settings.METRICS_CACHE_SECONDS:
            self._families = list(read(datetime.now(UTC)))
            self._read_at = time.monotonic()
        yield from self._families

    def describe(self) -> Iterator[Metric]:
        """Yield nothing: the names are not known before reading."""
        yield from ()


def registry() -> CollectorRegistry:
    """Return a registry of the gauges alone."""
    return _registry


def read(now: datetime) -> Iterator[Metric]:
    """Read everything; a part that fails is left out and counted as down."""
    up = GaugeMetricFamily(
        "memconsole_up", "Whether a part could be read for these metrics.", labels=["part"]
    )
    parts: dict[str, Callable[[], Iterable[Metric]]] = {
        "measures": lambda: memory(measures.load_all(), now),
        "database": database,
        "jobs": lambda: installation(now),
        "broker": broker.queues,
    }
    for name, part in parts.items():
        try:
            yield from list(part())
        except Exception as error:  # noqa: BLE001 - a scrape answers with what there is
            logger.warning("Metrics of %s cannot be read: %s", name, type(error).__name__)
            up.add_metric([name], 0)
        else:
            up.add_metric([name], 1)
    yield up


def memory(rows: list[tuple[str, datetime, Numbers]], now: datetime) -> Iterator[Metric]:
    """Yield the families of the workspaces' numbers."""
    shown = _Shown(rows, settings.METRICS_WORKSPACES, now)
    yield shown.of("records", "Facts by status, counted up to 100,000 each.", "status", _records)
    yield shown.of("quarantine_facts", "Held facts, by risk.", "risk", lambda n: n["held"])
    yield shown.of(
        "quarantine_oldest_age_seconds",
        "How long the oldest held fact has waited; 0 when none waits.",
        value=lambda n: shown.age(n["held_oldest_at"]),
        keep=max,
    )
    yield shown.of("expired_facts", "Facts past their validity.", value=lambda n: n["expired"])
    yield shown.of(
        "suspended", "Sessions and sources that are contained.", "kind", lambda n: n["suspended"]
    )
    yield shown.of("fences", "Fences that stand.", value=lambda n: n["fences"])
    yield shown.of(
        "fence_attempts",
        "Writes that standing fences have kept out.",
        value=lambda n: n["fence_attempts"],
    )
    yield shown.of(
        "duplicate_facts",
        "Live facts that are stored twice: 0 by construction.",
        value=lambda n: n["duplicates"]["repeats"],
    )
    yield shown.of(
        "duplicates_checked_facts",
        "Live facts compared in the last whole pass.",
        value=lambda n: n["duplicates"]["checked"],
    )
    yield shown.of("incidents_open", "Open incidents.", value=lambda n: n["incidents"]["open"])
    yield shown.of(
        "incidents_unacknowledged",
        "Open incidents that nobody has acknowledged.",
        value=lambda n: n["incidents"]["unacknowledged"],
    )
    yield shown.of(
        "incident_unacknowledged_age_seconds",
        "How long the oldest of them has waited; 0 when none waits.",
        value=lambda n: shown.age(n["incidents"]["oldest_at"]),
        keep=max,
    )
    yield shown.of(
        "approvals_waiting",
        "Questions to a second person that wait.",
        value=lambda n: n["approvals"]["waiting"],
    )
    yield shown.of(
        "operations", "The last 1,000 bulk operations of a workspace, by state.", "state", _states
    )
    yield shown.of(
        "gate_rule_hits",
        "Facts that a rule of the gate hit (sealed events; the rules beyond 200 as other).",
        "rule",
        lambda n: {rule: hits for rule, (hits, _) in n["gate"].items()},
        family=CounterMetricFamily,
    )
    yield shown.of(
        "gate_rule_holds",
        "Facts that were held with a rule's hit.",
        "rule",
        lambda n: {rule: held for rule, (_, held) in n["gate"].items()},
        family=CounterMetricFamily,
    )
    yield shown.of("job_runs", "The newest run of each job, by state.", ("job", "state"), _newest)
    yield shown.of(
        "job_last_success_age_seconds",
        "How long ago each job last succeeded, in the workspace where that is longest.",
        "job",
        lambda n: {
            job: shown.age(one["done_at"]) for job, one in n["jobs"].items() if one["done_at"]
        },
        keep=max,
    )
    yield shown.of(
        "job_last_duration_seconds",
        "How long the newest run of each job took or has taken, where that is longest.",
        "job",
        lambda n: {job: one["seconds"] for job, one in n["jobs"].items()},
        keep=max,
    )
    yield shown.of(
        "trail_unsealed_events",
        "Events that are not sealed yet, counted up to 10,000.",
        value=lambda n: n["trail"]["unsealed"],
    )
    yield shown.of(
        "trail_seal_lag_seconds",
        "How old the oldest unsealed event is; 0 when all are sealed.",
        value=lambda n: shown.age(n["trail"]["oldest_at"]),
        keep=max,
    )
    checked = shown.only(lambda n: n["trail"]["checked_at"] is not None)
    yield checked.of(
        "trail_whole",
        "Whether the last verification found the trail whole: 1, or 0 where any is broken.",
        value=lambda n: float(bool(n["trail"]["whole"])),
        keep=min,
    )
    yield checked.of(
        "trail_verified_age_seconds",
        "How long ago the trail was last verified, where that is longest.",
        value=lambda n: shown.age(n["trail"]["checked_at"]),
        keep=max,
    )
    yield _single("workspaces", "Workspaces that are measured.", len(rows))
    oldest = max((max(0.0, (now - at).total_seconds()) for _, at, _ in rows), default=0.0)
    yield _single("measured_age_seconds", "How old the oldest of these measurements is.", oldest)


def database() -> Iterator[Metric]:
    """Yield what the database takes: disk and connections."""
    sizes = GaugeMetricFamily(
        "memconsole_table_size_bytes",
        "Bytes on disk, with indexes and all months.",
        labels=["table"],
    )
    for name, size in measures.load_sizes().items():
        sizes.add_metric([name], size)
    yield sizes
    used, most = measures.load_connections()
    yield _single("database_connections", "Connections to this database.", used)
    yield _single("database_connections_limit", "Connections the server allows.", most)


def installation(now: datetime) -> Iterator[Metric]:
    """Yield the jobs that belong to no workspace."""
    age = GaugeMetricFamily(
        "memconsole_installation_job_last_success_age_seconds",
        "How long ago each job of the whole installation last succeeded.",
        labels=["job"],
    )
    failed = GaugeMetricFamily(
        "memconsole_installation_job_failed",
        "Whether the newest run of a job of the whole installation failed.",
        labels=["job"],
    )
    for job, state, done_at in installation_runs():
        if catalogue.find(job) is None:
            continue
        failed.add_metric([job], float(state in ("failed", "lost")))
        if done_at is not None:
            age.add_metric([job], max(0.0, (now - done_at).total_seconds()))
    yield age
    yield failed


class _Shown:
    """Numbers of workspaces, and how they become samples."""

    def __init__(
        self, rows: list[tuple[str, datetime, Numbers]], labelled: int, now: datetime
    ) -> None:
        self.rows = rows
        self.labelled = labelled
        self.now = now
        self.named = {name for name, _, _ in rows[:labelled]}

    def only(self, condition: Callable[[Numbers], bool]) -> _Shown:
        """Return the same of some workspaces, with the same labels."""
        found = _Shown([row for row in self.rows if condition(row[2])], self.labelled, self.now)
        found.named = self.named
        return found

    def age(self, at: str | None) -> float:
        """Return how long ago that was; 0 for nothing."""
        if at is None:
            return 0.0
        return max(0.0, (self.now - datetime.fromisoformat(at)).total_seconds())

    def of(
        self,
        name: str,
        text: str,
        label: str | tuple[str, ...] = (),
        values: Callable[[Numbers], dict[Any, float]] | None = None,
        *,
        value: Callable[[Numbers], float] | None = None,
        keep: Keep | None = None,
        family: type[GaugeMetricFamily] | type[CounterMetricFamily] = GaugeMetricFamily,
    ) -> Metric:
        """Return one family: added up over the workspaces, or what ``keep`` leaves of two."""
        labels = (label,) if isinstance(label, str) else label
        found: dict[tuple[str, ...], float] = {}
        for workspace, _, numbers in self.rows:
            each = values(numbers) if values else {(): value(numbers) if value else 0.0}
            for key, number in each.items():
                place = self._place(workspace, key)
                if place not in found:
                    found[place] = float(number)
                else:
                    found[place] = (
                        keep(found[place], float(number)) if keep else found[place] + number
                    )
        made = family(
            f"memconsole_{name}",
            text,
            labels=[*labels, "workspace"] if self.labelled else labels,
        )
        for place, number in found.items():
            made.add_metric(list(place), number)
        return made

    def _place(self, workspace: str, key: Any) -> tuple[str, ...]:
        words = key if isinstance(key, tuple) else (str(key),)
        if not self.labelled:
            return words
        return (*words, workspace if workspace in self.named else OTHER)


def _records(numbers: Numbers) -> dict[str, float]:
    return dict(numbers["records"])


def _states(numbers: Numbers) -> dict[str, float]:
    return {state: numbers["operations"].get(state, 0) for state in STATES}


def _newest(numbers: Numbers) -> dict[tuple[str, str], float]:
    found: dict[tuple[str, str], float] = defaultdict(float)
    for job, one in numbers["jobs"].items():
        found[job, one["state"]] += 1
    return found


def _single(name: str, text: str, value: float) -> Metric:
    return GaugeMetricFamily(f"memconsole_{name}", text, value=value)


_registry = CollectorRegistry()
_registry.register(Standing())
