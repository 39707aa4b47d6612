"""A real worker on a real broker, killed in the middle of a rescan."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from uuid import UUID

import pytest
from django.db import connections
from kombu import Connection

from memconsole.embedded import leash
from memconsole.embedded.home import DataHome
from memconsole.embedded.valkey import Valkey
from records import tasks
from records.access import Access
from records.items import Written
from records.jobs import catalogue, runs
from records.jobs.catalogue import Job
from records.jobs.recover import recover_in
from records.models import Event, JobRun, MemoryRecord
from records.scope import workspace_scope
from records.write import write_facts
from tests.server import test_home as folder_of_tests

from .test_job_runs import grow_old
from .test_rescan import POISON
from .test_write import fact

COUNT = 3_000
PATIENCE = 60.0


@pytest.fixture
def broker() -> Iterator[Valkey]:
    """Run a broker of this test's own."""
    home = DataHome(folder_of_tests().root / f"broker-{os.getpid()}")
    home.prepare()
    valkey = Valkey(home)
    process = subprocess.Popen(valkey.command(), cwd=leash.CODE, stdout=subprocess.DEVNULL)
    try:
        valkey.wait_until_ready()
        yield valkey
    finally:
        process.terminate()
        process.wait(10)
        shutil.rmtree(home.root)


@contextmanager
def worker(broker: Valkey, log: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Run a Celery worker as `make run` does, with one process in its pool."""
    words = [sys.executable, "-m", "celery", "--app", "memconsole.celery", "worker"]
    words += ["--queues", "default", "--concurrency", "1", "--loglevel", "INFO"]
    environ = leash.environment(
        CELERY_BROKER_URL=broker.url, DJANGO_SETTINGS_MODULE="memconsole.settings"
    )
    with log.open("wb") as output:
        process = subprocess.Popen(words, cwd=leash.CODE, env=environ, stdout=output, stderr=output)
    try:
        yield process
    finally:
        process.kill()
        process.wait(10)


def queue_on(broker: Valkey) -> Callable[[Job, UUID | None], None]:
    def queue(job: Job, workspace_id: UUID | None) -> None:
        with Connection(broker.url) as connection:
            tasks.rescan.apply_async(
                kwargs={"workspace_id": str(workspace_id)}, connection=connection, queue="default"
            )

    return queue


def fill(access: Access) -> list[UUID]:
    """Write facts, some of which say what older rules would have let through."""
    ids: list[UUID] = []
    now = datetime.now(UTC)
    for start in range(0, COUNT, 1_000):
        batch = [
            fact(subject=f"person {start + n}", predicate="likes", session=f"s{n % 50}")
            for n in range(1_000)
        ]
        for one in write_facts(batch, access=access, now=now):
            assert isinstance(one, Written)
            assert one.id is not None
            ids.append(one.id)
    poisoned = sorted(ids)[::100]
    with connections["maintenance"].cursor() as cursor:
        cursor.execute(
            "UPDATE memory_record SET content = %s WHERE id = ANY(%s)", [POISON, poisoned]
        )
    return poisoned


def the_run(access: Access) -> JobRun:
    with workspace_scope(access.workspace_id):
        run = JobRun.objects.get(job="rescan", workspace_id=access.workspace_id)
    assert run.state != "failed", run.error
    return run


def wait_for(condition: Callable[[], bool], log: Path) -> None:
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, log.read_text(errors="replace")[-3_000:]
        time.sleep(0.02)


def test_rescan_of_a_killed_worker_is_finished_by_another_record_by_record(
    access: Access, broker: Valkey, tmp_path: Path
) -> None:
    poisoned = fill(access)
    queue, log = queue_on(broker), tmp_path / "worker.log"
    with workspace_scope(access.workspace_id):
        runs.enqueue(catalogue.RESCAN, access.workspace_id, requested_by="test")
    with ExitStack() as stack:
        first = stack.enter_context(worker(broker, log))
        queue(catalogue.RESCAN, access.workspace_id)
        wait_for(lambda: the_run(access).changed.get("checked", 0) >= 400, log)
        first.send_signal(signal.SIGKILL)
        first.wait(10)
    lost = the_run(access)
    assert lost.state == "running", "the worker was killed too late for this test to mean anything"
    assert 400 <= lost.changed["checked"] < COUNT
    assert recover_in(access.workspace_id, queue=queue) == 0  # it may still be alive
    grow_old(lost.id)
    with worker(broker, log):
        assert recover_in(access.workspace_id, queue=queue) == 1
        wait_for(lambda: the_run(access).state == "done", log)
    done = the_run(access)
    assert done.id == lost.id
    assert done.changed == {"checked": COUNT, "held": len(poisoned)}
    with workspace_scope(access.workspace_id):
        held = MemoryRecord.objects.filter(status="quarantined", hold_reason="rescan")
        assert sorted(held.values_list("id", flat=True)) == poisoned
        told = Event.objects.filter(action="record.held").values_list("target_id", flat=True)
        assert sorted(told) == poisoned
