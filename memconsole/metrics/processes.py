"""What all processes of this machine have counted, read from their files.

Owns the folder of ``PROMETHEUS_MULTIPROC_DIR``. Each process keeps its counters
and histograms in files named by its id. The files of processes that are gone
are added up into one, or every restarted worker and every command would leave
its own for ever; their counts stay. Two readers at once wait for each other.
Without the folder a process answers for itself alone.
"""

from __future__ import annotations

import fcntl
import os
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
from prometheus_client import CollectorRegistry
from prometheus_client.mmap_dict import MmapedDict
from prometheus_client.multiprocess import MultiProcessCollector

from records.telemetry.counts import REGISTRY

GONE = "gone"  # in the place of a process id: what processes that ended had counted
KINDS = ("counter", "histogram")


@contextmanager
def everywhere() -> Iterator[CollectorRegistry]:
    """Yield a registry with the counts of every process; read it inside the block."""
    folder = os.environ.get("PROMETHEUS_MULTIPROC_DIR", "")
    if not folder:
        yield REGISTRY
        return
    found = CollectorRegistry()
    with _locked(Path(folder)):
        for kind in KINDS:
            fold(Path(folder), kind)
        MultiProcessCollector(found, path=folder)  # type: ignore[no-untyped-call]
        yield found


def fold(folder: Path, kind: str) -> int:
    """Add the files of processes that are gone into one; return how many there were."""
    gone = [path for path in sorted(folder.glob(f"{kind}_*.db")) if _is_gone(path)]
    if not gone:
        return 0
    kept = folder / f"{kind}_{GONE}.db"
    totals: dict[str, float] = defaultdict(float)
    for path in [*gone, kept]:
        if path.exists():
            for key, value, _, _ in _read(path):
                totals[key] += value
    draft = folder / f".{kind}_{GONE}.draft"
    draft.unlink(missing_ok=True)
    written: Any = MmapedDict(str(draft))  # type: ignore[no-untyped-call]
    for key, value in totals.items():
        written.write_value(key, value, 0.0)
    written.close()
    draft.rename(kept)
    for path in gone:
        path.unlink(missing_ok=True)
    return len(gone)


def _read(path: Path) -> Iterator[tuple[str, float, float, int]]:
    yield from MmapedDict.read_all_values_from_file(str(path))  # type: ignore[no-untyped-call]


def _is_gone(path: Path) -> bool:
    pid = path.stem.rpartition("_")[2]
    return pid.isdecimal() and not psutil.pid_exists(int(pid))


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / ".lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
