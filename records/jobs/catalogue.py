"""Which jobs there are: one entry each, read by the beat, the tasks and the pages.

Owns names and times. ``audits`` adds its own with ``register``. Imports no
Django, so that the Celery application can be assembled before it is set up.
Read ``runs.py`` next for what a run is.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta


@dataclass(frozen=True, slots=True)
class Job:
    """One kind of background work.

    ``task`` takes an optional ``workspace_id`` and does that workspace's run,
    or everybody's. ``installation`` jobs have one run for the whole database.
    ``history`` keeps a row for each run that changed something; without it
    (work whose result is its own history) one row is used again.
    ``carries`` starts a run with the cursor of the one before it. ``long`` is work
    of many minutes, done by niced workers of its own queue, so that nothing waits.
    """

    name: str
    title: str
    task: str
    every: timedelta | None
    maintenance: bool = False
    installation: bool = False
    history: bool = True
    carries: bool = False
    long: bool = False


_jobs: dict[str, Job] = {}


def register(job: Job) -> Job:
    """Add a job; two of one name are a mistake of the code."""
    if _jobs.get(job.name, job) != job:
        raise ValueError(f"two jobs are called {job.name}")
    _jobs[job.name] = job
    return job


def jobs() -> Iterator[Job]:
    """Return the jobs in the order in which they were added."""
    return iter(tuple(_jobs.values()))


def find(name: str) -> Job | None:
    """Return the job of that name, if this version of the code has it."""
    return _jobs.get(name)


VALIDITY = register(
    Job(
        "validity",
        "Facts that fade, grow stale or expire",
        "records.validity",
        timedelta(minutes=1),
        carries=True,
    )
)
DECAY = register(
    Job("decay", "Facts that nobody has seen for long", "records.decay", timedelta(minutes=10))
)
RESCAN = register(
    Job(
        "rescan",
        "Every live fact against the current rules",
        "records.rescan",
        timedelta(days=1),
        long=True,
    )
)
SCANS = register(
    Job(
        "scans",
        "Scans by people that wait or go on",
        "records.scans",
        timedelta(seconds=30),
        history=False,
        long=True,
    )
)
FRESHNESS = register(
    Job("freshness", "Sources that are overdue", "records.freshness", timedelta(minutes=5))
)
REQUESTS = register(
    Job("requests", "Answers kept for repeated requests", "records.requests", timedelta(hours=1))
)
REEMBED = register(
    Job(
        "reembed",
        "Facts without a vector of the model in use",
        "records.reembed",
        timedelta(hours=1),
    )
)
RECAST = register(
    Job(
        "recast",
        "Stored facts brought over to changed policies",
        "records.recast",
        timedelta(minutes=5),
        carries=True,
    )
)
GATE_REPLAY = register(
    Job(
        "gate_replay",
        "Live facts under a draft of the gate's rules",
        "records.gate_replay",
        None,
        long=True,
    )
)
PARTITIONS = register(
    Job(
        "partitions",
        "Monthly tables of the logs, and their retention",
        "records.partitions",
        timedelta(hours=6),
        maintenance=True,
        installation=True,
    )
)
ERASURES = register(
    Job(
        "erasures",
        "Texts in the logs that erased facts leave behind",
        "records.erasures",
        timedelta(seconds=30),
        maintenance=True,
        installation=True,
    )
)
RECOVER = register(
    Job(
        "recover",
        "Runs that are due, or whose worker is gone",
        "records.recover",
        timedelta(seconds=30),
        installation=True,
        history=False,
    )
)
