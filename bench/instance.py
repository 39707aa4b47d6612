"""An instance of MemConsole for one benchmark, as `make run` tunes it.

Its folder is its own and gone afterwards. Import this before anything that
needs Django: it sets the environment and loads the applications.
"""

from __future__ import annotations

import atexit
import csv
import gzip
import http.client
import json
import os
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

CODE = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(CODE))
HOME = Path(tempfile.mkdtemp(prefix="memconsole-bench-"))
os.environ["MEMCONSOLE_HOME"] = str(HOME)
os.environ["DJANGO_SETTINGS_MODULE"] = "memconsole.settings"
for _name in ("DATABASE_URL", "DATABASE_OWNER_URL", "DATABASE_ADMIN_URL", "CELERY_BROKER_URL"):
    os.environ.pop(_name, None)
atexit.register(shutil.rmtree, HOME, ignore_errors=True)

import django  # noqa: E402

django.setup()

from django.core.management import call_command  # noqa: E402
from django.db import connections  # noqa: E402

from memconsole.embedded import leash  # noqa: E402
from memconsole.embedded.home import DataHome  # noqa: E402
from memconsole.embedded.postgres import Postgres  # noqa: E402
from memconsole.embedded.web import web_command  # noqa: E402


@contextmanager
def database() -> Iterator[None]:
    """Start PostgreSQL with the tuning of `make run`, migrated, and stop it at the end."""
    HOME.chmod(0o755)  # a server that may not be root's has to reach its data
    home = DataHome(HOME)
    home.prepare()
    home.static.mkdir()
    server = Postgres(home)
    server.start_detached({})
    try:
        call_command("setup_database", verbosity=0)
        yield
        connections.close_all()
    finally:
        server.stop()


def vacuum() -> None:
    """Do what autovacuum does within a minute.

    Without statistics the planner reads whole tables, without a visibility map
    no scan is index-only.
    """
    with connections["owner"].cursor() as cursor:
        cursor.execute("VACUUM (ANALYZE)")


@contextmanager
def web() -> Iterator[int]:
    """Start the web server with one process, so that one warm-up warms it; yield its port."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    process = subprocess.Popen(
        web_command(host="127.0.0.1", port=port),
        cwd=CODE,
        env=leash.environment(MEMCONSOLE_PROCESS="web", MEMCONSOLE_WEB_PROCESSES="1"),
        stdin=subprocess.DEVNULL,
    )
    try:
        deadline = time.monotonic() + 60
        while True:
            try:
                client = Client(port, "")
                client.get("/healthz")
                break
            except OSError:
                if process.poll() is not None or time.monotonic() > deadline:
                    raise
                time.sleep(0.1)
        yield port
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(15)


class Client:
    """One HTTP client that keeps its connection."""

    def __init__(self, port: int, key: str) -> None:
        self._http = http.client.HTTPConnection("127.0.0.1", port)
        self._headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}

    def get(self, path: str) -> bytes:
        """Return an answer's body."""
        return self._ask("GET", path, None)

    def post(self, path: str, body: bytes) -> bytes:
        """Return an answer's body."""
        return self._ask("POST", path, body)

    def _ask(self, method: str, path: str, body: bytes | None) -> bytes:
        self._http.request(method, path, body, self._headers)
        response = self._http.getresponse()
        answer = response.read()
        if response.status != 200:
            raise RuntimeError(f"{path}: {response.status} {answer[:500]!r}")
        return answer


def real_facts(count: int) -> list[dict[str, Any]]:
    """Return that many real facts of different subjects and predicates, in a shuffled order.

    Those of the real data that the tests hold to known counts.
    """
    path = CODE / "tests" / "fixtures" / "real_facts.csv.gz"
    found: dict[tuple[str, str], dict[str, Any]] = {}
    with gzip.open(path, "rt", encoding="utf-8", newline="") as stream:
        for row in csv.DictReader(stream):
            key = (row["subject"].casefold(), row["predicate"])
            found.setdefault(key, {**row, "confidence": float(row["confidence"])})
    if len(found) < count:
        raise ValueError(f"there are {len(found)} slots, not {count}")
    return list(found.values())[:count]


def timed(work: Callable[[], Any]) -> float:
    """Return how many seconds something took."""
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def spread(seconds: Sequence[float]) -> str:
    """Return the median with the quartiles, in milliseconds."""
    low, middle, high = statistics.quantiles(seconds, n=4)
    return f"{middle * 1e3:8.2f} ms  ({low * 1e3:.2f} to {high * 1e3:.2f})"


def bars(results: Sequence[tuple[str, float, str, float]]) -> int:
    """Print each ratio against its bar: (what, ratio, ">=" or "<=", bar); return the exit code."""
    missed = 0
    for what, ratio, sign, bar in results:
        is_met = ratio >= bar if sign == ">=" else ratio <= bar
        missed += not is_met
        print(f"{'met   ' if is_met else 'MISSED'} {what}: {ratio:.3f} (bar {sign} {bar})")
    return 1 if missed else 0


def dumps(value: Any) -> bytes:
    """Return JSON as a client sends it."""
    return json.dumps(value).encode()
