"""Processes on a leash end with their parent, whatever ends it."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from memconsole.embedded import leash

CODE = Path(__file__).resolve().parents[2]
linux_only = pytest.mark.skipif(sys.platform != "linux", reason="the kernel's service is Linux's")


@linux_only
def test_a_leashed_process_dies_with_a_killed_parent() -> None:
    words = leash.command([sys.executable, "-c", "import time; time.sleep(60)"])
    script = (
        "import subprocess, sys, time\n"
        "child = subprocess.Popen(sys.argv[1:])\n"
        "print(child.pid, flush=True)\n"
        "time.sleep(60)"
    )
    parent = subprocess.Popen(
        [sys.executable, "-c", script, *words], cwd=CODE, stdout=subprocess.PIPE, text=True
    )
    assert parent.stdout is not None
    child = psutil.Process(int(parent.stdout.readline()))
    _wait(lambda: "memconsole.embedded.leash" not in child.cmdline())
    parent.send_signal(signal.SIGKILL)
    parent.wait()
    parent.stdout.close()
    _wait(lambda: not child.is_running() or child.status() == psutil.STATUS_ZOMBIE)


def test_a_parent_that_is_already_gone_ends_the_process() -> None:
    script = (
        "from memconsole.embedded.leash import die_with_parent\n"
        "die_with_parent(parent=999999999); print('survived')"
    )
    orphan = subprocess.run([sys.executable, "-c", script], cwd=CODE, capture_output=True)
    assert orphan.returncode == 1
    assert orphan.stdout == b""


def test_a_holder_that_died_before_the_leash_was_on_is_noticed() -> None:
    words = leash.command([sys.executable, "-c", "print('survived')"])
    environ = {**leash.environment(), leash.HOLDER_VARIABLE: "999999999"}
    orphan = subprocess.run(words, cwd=CODE, env=environ, capture_output=True)
    assert orphan.returncode == 1
    assert orphan.stdout == b""


def test_only_a_holder_holds_what_it_starts_itself() -> None:
    show = [sys.executable, "-c", f"import os; print(os.environ.get({leash.HOLDER_VARIABLE!r}))"]
    for holds, expected in ((True, True), (False, False)):
        words = leash.command(show, holds=holds)
        process = subprocess.Popen(
            words, cwd=CODE, env=leash.environment(), stdout=subprocess.PIPE, text=True
        )
        output, _ = process.communicate()
        assert (output.strip() == str(process.pid)) is expected


def test_a_bare_process_sees_no_secrets() -> None:
    words = leash.command([sys.executable, "-c", "import os; print(sorted(os.environ))"], bare=True)
    environ = {**os.environ, "MEMCONSOLE_ADMIN_PASSWORD": "hunter2"}
    seen = subprocess.run(
        words, cwd=CODE, env=environ, capture_output=True, text=True, check=True
    ).stdout
    assert "PATH" in seen
    assert "MEMCONSOLE_ADMIN_PASSWORD" not in seen


def _wait(condition: object, seconds: float = 60.0) -> None:
    assert callable(condition)
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "did not happen in time"
        time.sleep(0.02)
