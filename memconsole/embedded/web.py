"""How the web server is started: granian, synchronous, a few processes of a few threads.

Owns its command line and the checks of its port. The numbers are a start for
two cores, not a measurement; ``MEMCONSOLE_WEB_PROCESSES`` and
``MEMCONSOLE_WEB_THREADS`` change them.
"""

from __future__ import annotations

import errno
import os
import socket
import sys

from memconsole.embedded import leash
from memconsole.embedded.home import StartError

WORKERS = 2
THREADS = 4


def web_command(*, host: str, port: int) -> list[str]:
    """Return the command line that runs the web server in the foreground, on a leash."""
    words = [sys.executable, "-m", "granian", "--interface", "wsgi"]
    words += ["--host", host, "--port", str(port)]
    words += ["--workers", os.environ.get("MEMCONSOLE_WEB_PROCESSES", str(WORKERS))]
    words += ["--blocking-threads", os.environ.get("MEMCONSOLE_WEB_THREADS", str(THREADS))]
    words += ["--http", "1", "--no-ws", "--respawn-failed-workers"]
    words += ["--workers-kill-timeout", "5", "--log-level", "warning"]
    return leash.command([*words, "memconsole.wsgi:application"])


def require_free_port(host: str, port: int) -> None:
    """Raise StartError when the web server could not listen on this address."""
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        with socket.socket(family, socket.SOCK_STREAM) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind((host, port))
    except socket.gaierror as error:
        raise StartError(
            f"The address {host} is unknown: set MEMCONSOLE_HOST to one of this machine."
        ) from error
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise StartError(
                f"Port {port} is already in use: stop whatever listens there,"
                f" or choose another one with PORT={port + 1} make run."
            ) from error
        raise StartError(f"Port {port} of {host} cannot be used: {error.strerror}.") from error
