"""The Celery application: three queues, JSON only, truth about jobs in PostgreSQL.

Owns how tasks are carried. Which tasks run when is in ``schedule.py``; what
they do is in ``records/tasks.py`` and ``audits/tasks.py``.
"""

from __future__ import annotations

import os
import signal
import warnings
from typing import Any

from billiard import current_process
from celery import Celery
from celery.exceptions import SecurityWarning
from celery.signals import setup_logging, worker_process_init
from kombu import Queue

from memconsole.embedded.leash import die_with_parent
from memconsole.schedule import LONG_TASKS, MAINTENANCE_TASKS, SCHEDULE

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memconsole.settings")

# Celery warns root of pickled tasks; ours are JSON only.
warnings.filterwarnings("ignore", category=SecurityWarning)

app = Celery("memconsole")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.conf.update(
    task_serializer="json",
    accept_content=["json"],
    result_backend=None,
    task_ignore_result=True,
    timezone="UTC",
    enable_utc=True,
    task_default_queue="default",
    task_queues=(Queue("default"), Queue("maintenance"), Queue("long")),
    task_create_missing_queues=False,
    task_routes={
        **{name: {"queue": "maintenance"} for name in MAINTENANCE_TASKS},
        **{name: {"queue": "long"} for name in LONG_TASKS},
    },
    # A task of a killed worker is found in PostgreSQL and queued again by the
    # beat, so the broker need not keep it; a prefetched one would wait for nothing.
    task_acks_late=True,
    task_reject_on_worker_lost=True,
    worker_prefetch_multiplier=1,
    worker_hijack_root_logger=False,
    worker_redirect_stdouts=False,
    worker_cancel_long_running_tasks_on_connection_loss=True,
    broker_connection_retry_on_startup=True,
    broker_transport_options={"socket_timeout": 30, "socket_connect_timeout": 5},
    beat_schedule=SCHEDULE,
)
app.autodiscover_tasks()


@setup_logging.connect
def _use_our_logging(**_: Any) -> None:
    """Keep Celery from configuring logging: settings have done it."""


@worker_process_init.connect
def _end_with_worker(**_: Any) -> None:
    """End a pool process with its worker, also after kill -9; give way where it is told to."""
    os.nice(int(os.environ.get("MEMCONSOLE_NICE", "0")))
    die_with_parent(signal.SIGKILL, parent=getattr(current_process(), "_parent_pid", None))
