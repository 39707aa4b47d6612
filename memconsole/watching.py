"""Background tasks, timed and traced: Celery's signals tied to our counts and spans.

Owns nothing but the ties. A task's span goes on the trace of whoever queued it,
and a log line of a task carries the task's id as its request id.
"""

from __future__ import annotations

import os
import time
from contextlib import AbstractContextManager
from contextvars import Token
from typing import Any

from celery.signals import (
    before_task_publish,
    task_failure,
    task_postrun,
    task_prerun,
    task_success,
    worker_process_shutdown,
    worker_shutdown,
)

from memconsole import logs, tracing
from records.telemetry import counts

FAILED = "failed"
DONE = "done"
OTHER = "ended"  # neither: retried, revoked, killed while it ran

_running: dict[str, tuple[float, AbstractContextManager[Any], Token[str]]] = {}
_states: dict[str, str] = {}


@before_task_publish.connect
def _carry(headers: dict[str, Any] | None = None, **_: Any) -> None:
    """Let the message carry the trace in which it was queued."""
    if headers is not None:
        tracing.put_into(headers)


@task_prerun.connect
def _begin(task_id: str = "", task: Any = None, **_: Any) -> None:
    """Open the task's span and start its clock."""
    carrier = {
        name: value
        for name in tracing.CARRIED
        if isinstance(value := getattr(task.request, name, None), str)
    }
    span = tracing.working(carrier, task.name)
    span.__enter__()
    _running[task_id] = (time.perf_counter(), span, logs.begin_request(task_id))


@task_success.connect
def _succeeded(sender: Any = None, **_: Any) -> None:
    _states[sender.request.id] = DONE


@task_failure.connect
def _failed(task_id: str = "", **_: Any) -> None:
    _states[task_id] = FAILED


@task_postrun.connect
def _end(task_id: str = "", task: Any = None, **_: Any) -> None:
    """Close the span and count the task."""
    found = _running.pop(task_id, None)
    state = _states.pop(task_id, OTHER)
    if found is None:
        return
    started, span, token = found
    span.__exit__(None, None, None)
    logs.end_request(token)
    counts.count_task(task.name, state, time.perf_counter() - started)


@worker_process_shutdown.connect
@worker_shutdown.connect
def _flush(**_: Any) -> None:
    """Send the spans that are left before a worker goes."""
    tracing.switch_off()


def switch_on() -> None:
    """Trace in this process if its environment asks for it."""
    tracing.switch_on(os.environ)
