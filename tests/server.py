"""The embedded PostgreSQL and the web server that tests use.

The server's folder is ``MEMCONSOLE_TEST_HOME`` (``.data/test`` by default).
Sessions that run at once share one server: each holds a shared lock, and the
last one out stops it. A session that was killed leaves a server that the next
one takes over.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from psycopg import sql

from memconsole.embedded import leash
from memconsole.embedded.home import DataHome
from memconsole.embedded.postgres import TEST_TUNING, Postgres, tail
from memconsole.embedded.valkey import Valkey
from memconsole.embedded.web import web_command

CODE = Path(__file__).resolve().parent.parent
WEB_SECONDS = 120.0  # a busy machine starts slowly; nothing is measured by it


def test_home() -> DataHome:
    """Return the data folder of the test server."""
    named = os.environ.get("MEMCONSOLE_TEST_HOME", "")
    return DataHome(Path(named).resolve() if named else CODE / ".data" / "test")


@contextmanager
def postgres() -> Iterator[Postgres]:
    """Run the shared test server as long as somebody uses it."""
    home = test_home()
    home.prepare()
    server = Postgres(home)
    with (
        (home.run / "starting.lock").open("w") as starting,
        (home.run / "users.lock").open("w") as users,
    ):
        fcntl.flock(starting, fcntl.LOCK_EX)
        fcntl.flock(users, fcntl.LOCK_SH)
        server.start_detached(TEST_TUNING)
        fcntl.flock(starting, fcntl.LOCK_UN)
        try:
            yield server
        finally:
            fcntl.flock(starting, fcntl.LOCK_EX)
            try:
                fcntl.flock(users, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                pass  # somebody else still uses the server
            else:
                server.stop()


@contextmanager
def test_database() -> Iterator[None]:
    """Keep the server up for this process's database, and drop that at the end.

    Databases of sessions that are gone are dropped too.
    """
    with postgres() as server:
        _drop_abandoned(server)
        try:
            yield
        finally:
            _drop(server, os.environ["MEMCONSOLE_DATABASE"])


@contextmanager
def broker() -> Iterator[str]:
    """Run a Valkey of this process alone; yield its URL."""
    home = DataHome(test_home().root / f"broker-{os.getpid()}")
    home.prepare()
    server = Valkey(home)
    process = subprocess.Popen(
        server.command(),
        cwd=CODE,
        env=leash.environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
    )
    try:
        server.wait_until_ready(alive=lambda: process.poll() is None)
        yield server.url
    finally:
        process.terminate()
        process.wait(10)
        shutil.rmtree(home.root, ignore_errors=True)


@contextmanager
def web_server(**environ: str) -> Iterator[str]:
    """Run the real web server against this process's test database; yield its URL.

    ``MEMCONSOLE_TEST_BROKER`` in ``environ`` gives it a real broker.
    """
    port = free_port()
    log_file = test_home().logs / f"web-{port}.log"
    with log_file.open("wb") as log:
        process = subprocess.Popen(
            web_command(host="127.0.0.1", port=port),
            cwd=CODE,
            env=leash.environment(
                MEMCONSOLE_PROCESS="web",
                MEMCONSOLE_TEST_DATABASE=os.environ["MEMCONSOLE_DATABASE"],
                **environ,
            ),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
        )
    url = f"http://127.0.0.1:{port}"
    try:
        _wait_until_alive(process, f"{url}/healthz", log_file)
        yield url
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def plain_environment(**changes: str) -> dict[str, str]:
    """Return an environment for a process that is no test's: the project's own settings."""
    mine = ("DJANGO_SETTINGS_MODULE", "MEMCONSOLE_", "DATABASE_", "CELERY_")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(mine)}
    return {**kept, **changes}


def free_port() -> int:
    """Return a port that nobody listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait_until_alive(process: subprocess.Popen[bytes], url: str, log_file: Path) -> None:
    deadline = time.monotonic() + WEB_SECONDS
    while time.monotonic() < deadline:
        if process.poll() is not None:
            break
        try:
            with urllib.request.urlopen(url, timeout=2):
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.05)
    raise RuntimeError(f"The web server did not start:\n{tail(log_file, 60)}")


def _drop_abandoned(server: Postgres) -> None:
    with server.connect("postgres") as connection:
        rows = connection.execute(
            "SELECT datname FROM pg_database WHERE datname LIKE 'test\\_memconsole\\_%'"
        ).fetchall()
    for (name,) in rows:
        pid = int(name.rsplit("_", 1)[1])
        if pid == os.getpid() or not _is_alive(pid):
            _drop(server, name)


def _drop(server: Postgres, name: str) -> None:
    with server.connect("postgres") as connection:
        connection.execute(
            sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name))
        )


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
