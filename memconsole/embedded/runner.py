"""`make run`: everything on this machine, in order, until somebody says stop.

Owns the order: the data folder, the servers, the schema, then our own
processes. A process that dies is started again; one that cannot start stops
everything, with the reason. Read ``supervise.py`` for the process manager.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from types import FrameType

from memconsole import database
from memconsole.embedded import leash, supervise, valkey
from memconsole.embedded.home import DataHome, StartError
from memconsole.embedded.postgres import Postgres, tail
from memconsole.embedded.supervise import Program, Supervisor
from memconsole.embedded.valkey import Valkey
from memconsole.embedded.web import require_free_port, web_command

READY_SECONDS = 90.0
STOP_EXIT_CODE = 0  # being asked to stop is not a failure


class Stopped(Exception):
    """Somebody asked us to stop."""


@dataclass(frozen=True, slots=True)
class Address:
    """Where the web server listens."""

    host: str
    port: int

    @classmethod
    def from_environ(cls, environ: Mapping[str, str]) -> Address:
        """Return what ``MEMCONSOLE_HOST`` and ``PORT`` say; StartError for a bad port."""
        text = environ.get("PORT", "").strip() or "8000"
        if not text.isdecimal() or not 1 <= int(text) <= 65535:
            raise StartError(f"PORT must be a number from 1 to 65535, not {text!r}.")
        return cls(environ.get("MEMCONSOLE_HOST", "").strip() or "127.0.0.1", int(text))

    @property
    def url(self) -> str:
        """The URL to open on this machine."""
        reachable = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(self.host, self.host)  # noqa: S104
        return f"http://{reachable}:{self.port}"


def run(environ: Mapping[str, str]) -> None:
    """Start everything and return when it has been stopped; StartError says what to do."""
    home = DataHome.from_environ(environ)
    address = Address.from_environ(environ)
    home.prepare()
    with home.held():
        supervise.end_predecessor(home)
        require_free_port(address.host, address.port)
        supervisor = Supervisor(home, programs(home, address, environ))
        try:
            if database.is_embedded(environ):
                Postgres(home).clear_the_way()
            supervisor.start()
            _show_output(supervisor)
            start_servers(supervisor, home, environ)
            notes = prepare()
            # One after the other: all at once would make the person wait for each.
            supervisor.start_program("web")
            wait_until_ready(supervisor, address)
            for name in ("worker", "maintenance", "scanner", "beat"):
                supervisor.start_program(name)
            announce(home, address, notes)
            watch(supervisor)
        except Stopped:
            _say("Stopping ...")
        finally:
            _stop(supervisor)
    _say("Stopped.")


def programs(home: DataHome, address: Address, environ: Mapping[str, str]) -> list[Program]:
    """Return what is to run here, in the order in which it starts."""
    found = []
    if database.is_embedded(environ):
        postgres = Postgres(home)
        postgres.initialise()
        found.append(
            Program(
                name="postgres",
                command=postgres.command(),
                stop_signal="INT",  # a fast shutdown: roll back, write down, end
                stop_seconds=20,
                log_file=postgres.log_file,
                grouped=False,
            )
        )
    if valkey.is_embedded(environ):
        broker = Valkey(home)
        found.append(
            Program(
                name="valkey", command=broker.command(), log_file=broker.log_file, grouped=False
            )
        )
    found.append(Program(name="web", command=web_command(host=address.host, port=address.port)))
    for name, queue, processes, nice in (
        ("worker", "default", 2, 0),
        ("maintenance", "maintenance", 1, 0),
        # Scans of everything: minutes of one core each, while recall must stay quick.
        ("scanner", "long", 2, 10),
    ):
        words = ["worker", "--queues", queue, "--concurrency", str(processes)]
        # The workers have nothing to tell each other: queues and PostgreSQL know all.
        words += ["--hostname", f"{name}@%h", "--without-mingle", "--without-gossip"]
        environment = {"MEMCONSOLE_NICE": str(nice)} if nice else {}
        found.append(Program(name=name, command=_celery(*words), environ=environment))
    schedule = home.run / "beat"
    found.append(Program(name="beat", command=_celery("beat", "--schedule", str(schedule))))
    return found


def start_servers(supervisor: Supervisor, home: DataHome, environ: Mapping[str, str]) -> None:
    """Start the embedded servers and wait until both answer."""
    servers: list[Postgres | Valkey] = []
    if database.is_embedded(environ):
        servers.append(Postgres(home))
    if valkey.is_embedded(environ):
        servers.append(Valkey(home))
    for server in servers:
        supervisor.start_program(server.name)
    for server in servers:
        try:
            server.wait_until_ready(alive=partial(supervisor.is_up, server.name))
        except StartError as error:
            raise StartError(f"{error}\n{tail(server.log_file)}") from error


def prepare() -> list[str]:
    """Bring schema, static files and first contents up to date; return lines for the person."""
    _say("Preparing the database ...")
    outcome = subprocess.run(
        leash.command([sys.executable, "manage.py", "prepare"]),
        cwd=leash.CODE,
        env=leash.environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    if outcome.returncode != 0:
        raise StartError(_reason(outcome.stderr))
    return outcome.stdout.splitlines()


def wait_until_ready(supervisor: Supervisor, address: Address) -> None:
    """Return when /readyz answers 200; StartError names what fails."""
    deadline = time.monotonic() + READY_SECONDS
    reason = "no answer"
    while time.monotonic() < deadline:
        _require_all(supervisor, patient=False)
        try:
            with urllib.request.urlopen(f"{address.url}/readyz", timeout=5):  # noqa: S310
                return
        except urllib.error.HTTPError as error:
            with suppress(ValueError, KeyError):
                reason = "failing: " + ", ".join(json.loads(error.read())["failing"])
        except OSError:
            pass
        time.sleep(0.1)
    raise StartError(f"{address.url}/readyz is not green after {READY_SECONDS:.0f} s ({reason}).")


def announce(home: DataHome, address: Address, notes: Sequence[str]) -> None:
    """Print the URL and what the person must know, once everything works."""
    _say("")
    _say(f"MemConsole is ready at {address.url}")
    for note in notes:
        _say(note)
    _say(f"Data: {home.root}   Logs of the servers: {home.logs}   Stop: Ctrl-C")
    _say("")


def watch(supervisor: Supervisor) -> None:
    """Return never: raise Stopped by signal, StartError when a process is given up."""
    while True:
        _require_all(supervisor, patient=True)
        time.sleep(1)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run until stopped; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m memconsole.embedded")
    parser.add_argument(
        "--with-parent", action="store_true", help="stop when the starting process dies"
    )
    options = parser.parse_args(arguments)
    if options.with_parent:
        leash.die_with_parent()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _on_signal)
    try:
        run(os.environ)
    except Stopped:
        return STOP_EXIT_CODE
    except StartError as error:
        print(f"memconsole: {error}", file=sys.stderr, flush=True)
        return 1
    return STOP_EXIT_CODE


def _reason(errors: str) -> str:
    """Return what a command says went wrong; all of it when it does not say so itself."""
    last = errors.strip().rpartition("\n")[2]
    kind, _, reason = last.partition(": ")
    if kind.rpartition(".")[2] in ("CommandError", "ImproperlyConfigured"):
        return reason
    return f"The database could not be prepared:\n{errors.strip()}"


def _celery(*arguments: str) -> list[str]:
    words = [sys.executable, "-m", "celery", "--app", "memconsole.celery", "--quiet"]
    # Nobody would be left to end a worker that waits for its task, or for a broker
    # that is gone as well. PostgreSQL knows what it was doing.
    return leash.command([*words, *arguments, "--loglevel", "INFO"], stop_signal="KILL")


def _require_all(supervisor: Supervisor, *, patient: bool) -> None:
    # Cut short, the call would leave the process manager complaining.
    with _on_signal.wait():
        failed = supervisor.failed(patient=patient)
    if failed:
        raise StartError(
            f"The process {failed[0]} does not stay up, so everything was stopped:"
            f" its last words are above, or in {supervisor.home.logs}."
        )


def _stop(supervisor: Supervisor) -> None:
    try:
        supervisor.stop()
    except Stopped:  # asked a second time: no more waiting
        supervisor.kill()


def _show_output(supervisor: Supervisor) -> None:
    """Copy what the processes print to our own output, for as long as they live."""
    assert supervisor.process is not None
    stream = supervisor.process.stdout
    assert stream is not None

    def copy() -> None:
        for line in stream:
            # Nobody reading us any more must not stop the processes.
            with suppress(OSError, ValueError):
                sys.stdout.buffer.write(line)
                sys.stdout.buffer.flush()

    threading.Thread(target=copy, name="output", daemon=True).start()


class _Interrupts:
    """Stop requests by signal: raised at once, or at the end of a call that must finish."""

    def __init__(self) -> None:
        self.deferred = False
        self.pending = False

    def __call__(self, number: int, frame: FrameType | None) -> None:
        if self.deferred:
            self.pending = True
        else:
            raise Stopped

    @contextmanager
    def wait(self) -> Iterator[None]:
        """Let the call inside finish before a request to stop is raised."""
        self.deferred = True
        try:
            yield
        finally:
            self.deferred = False
        if self.pending:
            self.pending = False
            raise Stopped


_on_signal = _Interrupts()


def _say(text: str) -> None:
    with suppress(OSError):
        print(text, flush=True)
