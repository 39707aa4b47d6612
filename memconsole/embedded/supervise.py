"""Our processes under supervisord: their configuration, and telling it what to do.

Owns the generated configuration and the connection to supervisord, which is
the kept process manager: it restarts what dies, backs off, and stops in
order. Nothing starts by itself: ``runner.py`` says when.
"""

from __future__ import annotations

import http.client
import os
import shlex
import signal
import subprocess
import sys
import time
import xmlrpc.client
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil
from supervisor.xmlrpc import SupervisorTransport

from memconsole.embedded import leash
from memconsole.embedded.home import DataHome, StartError

GROUP = "memconsole"  # these stop together, before the servers they use
# Variables of which only the first start needs to know.
PRIVATE_VARIABLES = ("MEMCONSOLE_ADMIN_PASSWORD", "DATABASE_ADMIN_URL", "DATABASE_OWNER_URL")
CALL_ERRORS = (OSError, http.client.HTTPException, xmlrpc.client.Error)


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """One supervised process.

    ``log_file`` keeps its output in a file; None shows it on the console.
    ``stop_seconds`` is how long it may take to stop before it is killed.
    """

    name: str
    command: Sequence[str]
    stop_signal: str = "TERM"
    stop_seconds: int = 8
    log_file: Path | None = None
    grouped: bool = True
    environ: Mapping[str, str] = field(default_factory=dict)

    @property
    def full_name(self) -> str:
        """The name that supervisord knows it by."""
        return f"{GROUP}:{self.name}" if self.grouped else self.name


class Supervisor:
    """A supervisord of this home, started and stopped by us."""

    def __init__(self, home: DataHome, programs: Sequence[Program]) -> None:
        self.home = home
        self.programs = tuple(programs)
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start supervisord with every program stopped; StartError when it does not answer."""
        path = self.home.run / "supervisord.conf"
        path.write_text(configuration(self.home, self.programs), encoding="utf-8")
        path.chmod(0o600)
        words = [sys.executable, "-m", "supervisor.supervisord", "-n", "-c", str(path)]
        self.process = subprocess.Popen(
            leash.command(words, holds=True),
            env={k: v for k, v in leash.environment().items() if k not in PRIVATE_VARIABLES},
            cwd=leash.CODE,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            # Ctrl-C in the terminal reaches the runner alone, which stops all in order.
            start_new_session=True,
        )
        deadline = time.monotonic() + 15
        while not answers(self.home):
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise StartError(
                    f"The process manager did not start: see {self.home.logs / 'supervisord.log'}."
                )
            time.sleep(0.03)

    def start_program(self, name: str) -> None:
        """Start one program and return at once."""
        program = next(program for program in self.programs if program.name == name)
        self._call("startProcess", program.full_name, False)

    def failed(self, *, patient: bool) -> list[str]:
        """Return the programs that were given up after their last retry.

        Without patience, those that died at all: at a first start nothing is
        about to get better, and the first reason is the one to read.
        """
        states = ("FATAL",) if patient else ("FATAL", "BACKOFF", "EXITED")
        return [row["name"] for row in self._rows() if row["statename"] in states]

    def is_up(self, name: str) -> bool:
        """Return whether the program is running or about to be started again."""
        states = {row["name"]: row["statename"] for row in self._rows()}
        return states.get(name) in ("STARTING", "RUNNING", "BACKOFF")

    def stop(self, seconds: float = 40.0) -> None:
        """Stop every program in order, then supervisord; by force after ``seconds``."""
        if self.process is None:
            return
        self.process.terminate()
        try:
            self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.kill()

    def kill(self) -> None:
        """Kill supervisord and everything below it at once."""
        if self.process is None or self.process.poll() is not None:
            return
        below = psutil.Process(self.process.pid).children(recursive=True)
        for process in (psutil.Process(self.process.pid), *below):
            try:
                process.kill()
            except psutil.NoSuchProcess:
                continue
        psutil.wait_procs(below, timeout=5)
        self.process.wait()

    def _rows(self) -> list[dict[str, Any]]:
        return list(self._call("getAllProcessInfo"))

    def _call(self, method: str, *arguments: object) -> Any:
        """Return what supervisord answers; StartError when it refuses or is gone."""
        try:
            return getattr(server(self.home), method)(*arguments)
        except xmlrpc.client.Fault as fault:
            raise StartError(
                f"The process manager refused {method} {arguments}: {fault.faultString}."
            ) from fault
        except CALL_ERRORS as error:
            raise StartError(
                f"The process manager is gone: see {self.home.logs / 'supervisord.log'}."
            ) from error


def server(home: DataHome) -> Any:
    """Return the remote interface of the home's supervisord."""
    transport = SupervisorTransport(None, None, f"unix://{socket_path(home)}")
    return xmlrpc.client.ServerProxy("http://localhost", transport=transport).supervisor


def answers(home: DataHome) -> bool:
    """Return whether a supervisord of this home answers."""
    try:
        server(home).getState()
    except CALL_ERRORS:
        return False
    return True


def socket_path(home: DataHome) -> Path:
    """Return where supervisord listens."""
    return home.sockets / "supervisor"


def end_predecessor(home: DataHome, seconds: float = 45.0) -> None:
    """Stop the supervisord that a killed runner left, and wait until it is gone.

    The caller holds the home, so it is nobody's any more.
    """
    try:
        process = psutil.Process(int((home.run / "supervisord.pid").read_text()))
        if not any("supervisord" in word for word in process.cmdline()):
            return
        process.send_signal(signal.SIGTERM)
        process.wait(seconds)
    except (OSError, ValueError, psutil.NoSuchProcess):
        return
    except psutil.TimeoutExpired as error:
        raise StartError(
            f"Process {process.pid} of an earlier start does not stop: run kill -9 {process.pid}."
        ) from error


def configuration(home: DataHome, programs: Iterable[Program]) -> str:
    """Return supervisord's configuration file."""
    programs = list(programs)
    sections: list[tuple[str, Mapping[str, object]]] = [
        ("unix_http_server", {"file": socket_path(home), "chmod": "0700"}),
        (
            "supervisord",
            {
                "logfile": home.logs / "supervisord.log",
                "logfile_maxbytes": "5MB",
                "logfile_backups": "1",
                "pidfile": home.run / "supervisord.pid",
                "childlogdir": home.logs,
                "silent": "true",
                "nodaemon": "true",
                # Says that running as root is meant.
                **({"user": "root"} if os.geteuid() == 0 else {}),
            },
        ),
        (
            "rpcinterface:supervisor",
            {"supervisor.rpcinterface_factory": "supervisor.rpcinterface:make_main_rpcinterface"},
        ),
        (
            f"group:{GROUP}",
            {"programs": ",".join(p.name for p in programs if p.grouped), "priority": "900"},
        ),
    ]
    sections += [(f"program:{p.name}", _program(p, place)) for place, p in enumerate(programs)]
    return "\n".join(
        f"[{name}]\n" + "".join(f"{key}={_escape(value)}\n" for key, value in values.items())
        for name, values in sections
    )


def _program(program: Program, place: int) -> dict[str, object]:
    environ = {"MEMCONSOLE_PROCESS": program.name, **program.environ}
    output: dict[str, object] = {"stdout_logfile": "/dev/fd/1", "stdout_logfile_maxbytes": "0"}
    if program.log_file is not None:
        output = {
            # supervisord expands this one twice.
            "stdout_logfile": str(program.log_file).replace("%", "%%"),
            "stdout_logfile_maxbytes": "10MB",
            "stdout_logfile_backups": "2",
        }
    return {
        "command": shlex.join(program.command),
        "environment": ",".join(f'{name}="{value}"' for name, value in environ.items()),
        "autostart": "false",
        "autorestart": "true",
        # One that lived for five seconds counts as started: what dies later starts
        # again without end. One that does not is tried again, ever less often, for
        # two minutes, in which a database may come back.
        "startsecs": "5",
        "startretries": "10",
        "priority": str(100 + place),
        "stopsignal": program.stop_signal,
        "stopwaitsecs": str(program.stop_seconds),
        "killasgroup": "true",
        "redirect_stderr": "true",
        **output,
    }


def _escape(value: object) -> str:
    text = str(value)
    for comment in (" ;", " #", "\n"):
        if comment in text:
            raise StartError(
                f"The process manager cannot be told of {text!r} because of the {comment!r} in it:"
                " move MemConsole, or MEMCONSOLE_HOME, to a path without."
            )
    return text.replace("%", "%%")
