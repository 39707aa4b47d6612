"""What channels must keep to themselves: addresses and keys, encrypted in the database.

Owns the key file ``notice_key`` in the data folder. Who copies the database
alone cannot post to a team's chat. Without the file, or with another one,
secrets cannot be read any more and channels have to be made anew.
"""

from __future__ import annotations

import json
import os
import tempfile
from contextlib import suppress
from pathlib import Path

from cryptography.fernet import Fernet, InvalidToken
from django.conf import settings


class SealedError(Exception):
    """A secret that the key at hand does not open."""


def seal(values: dict[str, str]) -> bytes:
    """Return the values encrypted, to be kept in the database."""
    return _fernet().encrypt(json.dumps(values).encode())


def unseal(secret: bytes | memoryview) -> dict[str, str]:
    """Return the values; SealedError when the key is another one."""
    try:
        found: dict[str, str] = json.loads(_fernet().decrypt(bytes(secret)))
    except InvalidToken as error:
        raise SealedError("the channel's secret was encrypted with another key") from error
    return found


def _fernet() -> Fernet:
    path: Path = settings.NOTICE_KEY_FILE
    if not path.exists():
        _make(path)
    return Fernet(path.read_text("ascii").strip())


def _make(path: Path) -> None:
    """Write a key that appears whole or not at all; the first of two writers wins."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, draft = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}-")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(Fernet.generate_key() + b"\n")
            file.flush()
            os.fsync(file.fileno())
        with suppress(FileExistsError):
            os.link(draft, path)
    finally:
        Path(draft).unlink()
