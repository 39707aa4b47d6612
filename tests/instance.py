"""A whole MemConsole as `make run` starts it, in a folder and on a port of its own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path
from types import TracebackType

import psutil

from tests.server import CODE, free_port, plain_environment

START_SECONDS = 60.0
STOP_SECONDS = 20.0


class Instance:
    """One run of the runner; leaving the context kills every process of its home."""

    def __init__(self, home: Path, **environ: str) -> None:
        self.home = home
        self.port = int(environ.get("PORT") or free_port())
        self.url = f"http://127.0.0.1:{self.port}"
        self.environ = {**environ, "MEMCONSOLE_HOME": str(home), "PORT": str(self.port)}
        self.log_file = home.with_name(f"{home.name}-{self.port}.log")
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> Instance:
        """Start it and return at once."""
        with self.log_file.open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "memconsole.embedded"],
                cwd=CODE,
                env=plain_environment(**self.environ),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
        return self

    def wait_until_ready(self) -> float:
        """Return the seconds until it said that it is ready."""
        assert self.process is not None
        began = time.monotonic()
        while f"ready at {self.url}" not in self.output():
            assert self.process.poll() is None, f"it stopped:\n{self.output()}"
            assert time.monotonic() - began < START_SECONDS, f"not ready:\n{self.output()}"
            time.sleep(0.05)
        return time.monotonic() - began

    def is_green(self) -> bool:
        """Return whether /readyz answers 200."""
        try:
            with urllib.request.urlopen(f"{self.url}/readyz", timeout=5) as response:
                return bool(response.status == 200)
        except (urllib.error.URLError, OSError):
            return False

    def wait_until_green(self) -> None:
        """Return when /readyz answers 200."""
        deadline = time.monotonic() + START_SECONDS
        while not self.is_green():
            assert time.monotonic() < deadline, f"not green:\n{self.output()}"
            time.sleep(0.1)

    def stop(self, signal_number: int = signal.SIGTERM) -> int:
        """Ask it to stop; return its exit code."""
        assert self.process is not None
        self.process.send_signal(signal_number)
        return self.process.wait(STOP_SECONDS)

    def wait_for_exit(self) -> int:
        """Return its exit code once it ends by itself."""
        assert self.process is not None
        return self.process.wait(START_SECONDS)

    def output(self) -> str:
        """Return all it has printed."""
        return self.log_file.read_text(errors="replace") if self.log_file.exists() else ""

    def processes(self) -> list[psutil.Process]:
        """Return every live process of this home, whoever its parent is."""
        return [process for process in psutil.process_iter() if self._owns(process)]

    def find(self, *words: str) -> psutil.Process:
        """Return the eldest process whose command line has all ``words``, once there is one."""
        deadline = time.monotonic() + START_SECONDS
        while True:
            found = [process for process in self.processes() if _has(process, words)]
            if found:
                return min(found, key=lambda process: process.create_time())
            assert time.monotonic() < deadline, f"no process {words}:\n{self.output()}"
            time.sleep(0.05)

    def wait_for_line(self, *words: str) -> str:
        """Return the first line printed that has all ``words``, once there is one."""
        deadline = time.monotonic() + START_SECONDS
        while True:
            for line in self.output().splitlines():
                if all(word in line for word in words):
                    return line
            assert time.monotonic() < deadline, f"no line with {words}:\n{self.output()}"
            time.sleep(0.05)

    def wait_until_gone(self, seconds: float = STOP_SECONDS) -> None:
        """Return when no process of this home is left."""
        deadline = time.monotonic() + seconds
        while left := self.processes():
            assert time.monotonic() < deadline, f"left over: {[p.cmdline() for p in left]}"
            time.sleep(0.05)

    def _owns(self, process: psutil.Process) -> bool:
        try:
            if process.status() == psutil.STATUS_ZOMBIE:
                return False
            return (
                process.environ().get("MEMCONSOLE_HOME") == str(self.home)
                or any(str(self.home) in word for word in process.cmdline())
                # PostgreSQL's own children hide their command line, but work in its data.
                or process.cwd().startswith(str(self.home))
            ) and process.pid != os.getpid()
        except psutil.Error:
            return False

    def __enter__(self) -> Instance:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for process in self.processes():
            try:
                process.kill()
            except psutil.NoSuchProcess:
                continue
        if self.process is not None:
            self.process.wait()


def _has(process: psutil.Process, words: tuple[str, ...]) -> bool:
    try:
        line = " ".join(process.cmdline())
    except psutil.Error:
        return False
    # A leash that has not yet become its command has both command lines.
    return "memconsole.embedded.leash" not in line and all(word in line for word in words)
