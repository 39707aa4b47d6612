"""The data folder: where things lie in it, who may read it, and who holds it.

Owns every path below ``MEMCONSOLE_HOME`` and the lock that keeps a second
instance out. Must not start anything. Read ``postgres.py`` next.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import secrets
import stat
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

SOCKET_PATH_LIMIT = 103  # bytes that sun_path holds on macOS; Linux holds 107
LONGEST_SOCKET_NAME = "pg/.s.PGSQL.5432.lock"
DEFAULT_HOME = Path(__file__).resolve().parent.parent.parent / ".data"


class StartError(Exception):
    """Why something cannot start, in one sentence that says what to do."""


@dataclass(frozen=True, slots=True)
class DataHome:
    """The folder that holds everything MemConsole keeps on this machine."""

    root: Path

    @classmethod
    def from_environ(cls, environ: Mapping[str, str]) -> DataHome:
        """Return the home that ``MEMCONSOLE_HOME`` names, ``.data`` beside the code by default."""
        named = environ.get("MEMCONSOLE_HOME", "").strip()
        return cls(Path(named).expanduser().resolve() if named else DEFAULT_HOME)

    @property
    def postgres_data(self) -> Path:
        """PostgreSQL's own data directory."""
        return self.root / "postgres"

    @property
    def static(self) -> Path:
        """Where static files are collected with hashed names."""
        return self.root / "static"

    @property
    def logs(self) -> Path:
        """Where the servers and supervision write their logs."""
        return self.root / "logs"

    @property
    def run(self) -> Path:
        """State of the running instance: nothing in it is worth keeping."""
        return self.root / "run"

    @property
    def secret_key_file(self) -> Path:
        """The key that signs sessions, when the environment names none."""
        return self.root / "secret_key"

    @property
    def sockets(self) -> Path:
        """Where the servers' sockets are, always the same folder for the same home.

        A Unix socket's path has a hard limit, so a deep home falls back to a
        short private folder under the system's temporary one.
        """
        inside = self.root / "sockets"
        if len(os.fsencode(inside / LONGEST_SOCKET_NAME)) <= SOCKET_PATH_LIMIT:
            return inside
        digest = hashlib.sha256(os.fsencode(self.root)).hexdigest()[:12]
        return Path(tempfile.gettempdir()) / f"memconsole-{os.getuid()}-{digest}"

    @property
    def postgres_sockets(self) -> Path:
        """The folder of PostgreSQL's socket: whoever may enter it may be any database role."""
        return self.sockets / "pg"

    def prepare(self) -> None:
        """Create the folders that everything else expects, readable by nobody else.

        Raises StartError when the place cannot be written, or is somebody else's: its
        rights would be taken from them.
        """
        # As root, PostgreSQL runs under another account that must pass through.
        mode = 0o711 if os.geteuid() == 0 else 0o700
        try:
            if self._is_foreign():
                raise StartError(
                    f"The folder {self.root} holds other files:"
                    " set MEMCONSOLE_HOME to an empty or a new folder."
                )
            for folder in (self.root, self.logs, self.run):
                folder.mkdir(parents=True, exist_ok=True)
            self.root.chmod(mode)
            for folder in (self.logs, self.run):
                folder.chmod(0o700)
            if not os.access(self.root, os.W_OK | os.X_OK):
                raise PermissionError
        except (OSError, PermissionError) as error:
            raise StartError(
                f"The data folder {self.root} cannot be written"
                f" ({error.strerror or 'permission denied'}):"
                " give this user write permission, or set MEMCONSOLE_HOME to another folder."
            ) from error
        make_private(self.sockets, mode=mode)

    def _is_foreign(self) -> bool:
        """Say whether the folder is full, and of nothing that a start leaves behind."""
        if not self.root.is_dir():
            return False
        found = {path.name for path in self.root.iterdir() if not path.name.startswith(".")}
        found.discard("lost+found")  # a volume of its own begins with this
        ours = {self.run.name, self.secret_key_file.name, self.postgres_data.name}
        return bool(found) and not found & ours

    def secret_key(self) -> str:
        """Return the key kept in this home, made on the first call.

        Two processes that make it at once agree on one key.
        """
        path = self.secret_key_file
        try:
            if not path.exists():
                self.prepare()
                self._publish(path, secrets.token_urlsafe(50))
            return path.read_text(encoding="ascii").strip()
        except OSError as error:
            raise StartError(
                f"The key file {path} cannot be used ({error.strerror}):"
                " set MEMCONSOLE_SECRET_KEY, or give this user access to the file."
            ) from error

    @staticmethod
    def _publish(path: Path, text: str) -> None:
        """Write a private file that appears whole or not at all; the first writer wins."""
        handle, draft = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}-")
        try:
            with os.fdopen(handle, "w", encoding="ascii") as file:
                file.write(text)
            os.link(draft, path)
        except FileExistsError:
            pass
        finally:
            Path(draft).unlink()

    @contextmanager
    def held(self) -> Iterator[None]:
        """Hold this home for one instance; StartError when another one has it.

        The lock dies with its process, so kill -9 leaves nothing to clean up.
        """
        path = self.run / "instance.lock"
        with path.open("a+", encoding="ascii") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                file.seek(0)
                holder = file.read().strip() or "unknown"
                raise StartError(
                    f"Another MemConsole (process {holder}) is running on {self.root}:"
                    " stop it first, or set MEMCONSOLE_HOME to another folder."
                ) from None
            file.truncate(0)
            file.write(str(os.getpid()))
            file.flush()
            yield


def make_private(folder: Path, *, uid: int | None = None, mode: int = 0o700) -> None:
    """Create ``folder`` for one account only; StartError when somebody else made it first.

    The fallback for sockets lies in a folder that everybody may write, where
    another account could have planted a folder of that name.
    """
    owner = os.geteuid() if uid is None else uid
    try:
        folder.mkdir(mode=mode, parents=True, exist_ok=True)
        found = folder.lstat()
        planted = found.st_uid not in (0, owner) and folder.parent.stat().st_mode & stat.S_IWOTH
        if os.geteuid() == 0 and stat.S_ISDIR(found.st_mode) and not planted:
            os.chown(folder, owner, -1)
            found = folder.lstat()
        if not stat.S_ISDIR(found.st_mode) or found.st_uid != owner:
            raise StartError(
                f"The folder {folder} belongs to another account:"
                " remove it, or set MEMCONSOLE_HOME to another folder."
            )
        folder.chmod(mode)
    except OSError as error:
        raise StartError(
            f"The folder {folder} cannot be made ({error.strerror}):"
            " give this user write permission, or set MEMCONSOLE_HOME to another folder."
        ) from error
