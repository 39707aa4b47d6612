"""Counters of several processes: added up, kept when a process ends, never counted twice."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from memconsole.metrics import processes

ROOT = Path(__file__).resolve().parents[2]
COUNT = """
from records.telemetry import counts
counts.WRITES.labels("added").inc({number})
counts.RECALLS.observe(0.2)
"""
STAY = "print('ready', flush=True); import sys; sys.stdin.read()"


def start(folder: Path, number: int, *, stays: bool = False) -> subprocess.Popen[str]:
    code = COUNT.format(number=number) + (STAY if stays else "")
    return subprocess.Popen(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env={**os.environ, "PROMETHEUS_MULTIPROC_DIR": str(folder)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def run(folder: Path, number: int) -> None:
    process = start(folder, number)
    process.communicate()
    assert process.returncode == 0


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PROMETHEUS_MULTIPROC_DIR", str(tmp_path))
    return tmp_path


def read() -> tuple[float | None, float | None, float | None]:
    with processes.everywhere() as found:
        return (
            found.get_sample_value("memconsole_writes_total", {"decision": "added"}),
            found.get_sample_value("memconsole_recall_duration_seconds_count"),
            found.get_sample_value("memconsole_recall_duration_seconds_bucket", {"le": "0.25"}),
        )


def test_counts_of_processes_are_added_up_and_outlive_them(folder: Path) -> None:
    run(folder, 2)
    living = start(folder, 3, stays=True)
    assert living.stdout is not None
    assert living.stdout.readline() == "ready\n"
    assert read() == (5, 2, 2)
    names = {path.name for path in folder.glob("*.db")}
    assert names == {
        "counter_gone.db",
        "histogram_gone.db",
        f"counter_{living.pid}.db",
        f"histogram_{living.pid}.db",
    }
    assert read() == (5, 2, 2)  # asking changes nothing
    living.communicate()
    run(folder, 4)
    assert read() == (9, 3, 3)
    assert {path.name for path in folder.glob("*.db")} == {"counter_gone.db", "histogram_gone.db"}


def test_folding_twice_folds_nothing_the_second_time(folder: Path) -> None:
    run(folder, 2)
    assert processes.fold(folder, "counter") == 1
    assert processes.fold(folder, "counter") == 0


def test_a_fold_that_was_cut_short_leaves_no_wrong_count(folder: Path) -> None:
    run(folder, 2)
    (folder / ".counter_gone.draft").write_bytes(b"half")
    assert read()[0] == 2
