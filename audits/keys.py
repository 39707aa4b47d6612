"""The key that signs seals, and the public keys that are believed.

Owns two files: ``trail_key``, private, made once; ``trail_keys``, one public
key per line, which is what verification trusts and what an auditor is given.
The database holds neither: who can rewrite it all still cannot sign. Rotate by
moving ``trail_key`` away: the next seal makes a new one and adds its public
half. Read docs/trail.md.
"""

from __future__ import annotations

import base64
import fcntl
import os
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from django.conf import settings


class KeyFileError(Exception):
    """A key file that cannot be used, in one sentence that says what to do."""


@dataclass(frozen=True, slots=True)
class Signer:
    """The private key in use."""

    key: Ed25519PrivateKey

    @property
    def public(self) -> bytes:
        """The public half, 32 bytes."""
        return self.key.public_key().public_bytes_raw()

    @property
    def key_id(self) -> str:
        """The name by which seals refer to this key."""
        return key_id(self.public)

    def sign(self, text: bytes) -> bytes:
        """Return the Ed25519 signature of ``text``."""
        return self.key.sign(text)


def key_id(public: bytes) -> str:
    """Return the short name of a public key."""
    return sha256(public).hexdigest()[:16]


def signer() -> Signer:
    """Return the signing key, made on the first call of all; its public half is listed."""
    path: Path = settings.TRAIL_KEY_FILE
    if not path.exists():
        _publish(path, base64.b64encode(os.urandom(32)).decode() + "\n")
    found = Signer(Ed25519PrivateKey.from_private_bytes(_decode(path, path.read_text("ascii"))))
    if found.key_id not in public_keys():
        _list(found)
    return found


def public_keys() -> Mapping[str, bytes]:
    """Return the public keys that verification believes, by their id."""
    path: Path = settings.TRAIL_PUBLIC_KEYS_FILE
    keys = {}
    if path.exists():
        for line in path.read_text("ascii").splitlines():
            words = line.split()
            if words and not words[0].startswith("#"):
                public = _decode(path, words[-1])
                keys[key_id(public)] = public
    return keys


def is_signed(text: bytes, signature: bytes, public: bytes) -> bool:
    """Say whether ``signature`` is that of ``text`` under this public key."""
    try:
        Ed25519PublicKey.from_public_bytes(public).verify(signature, text)
    except InvalidSignature:
        return False
    return True


def _list(found: Signer) -> None:
    path: Path = settings.TRAIL_PUBLIC_KEYS_FILE
    with path.open("a+", encoding="ascii") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        if found.key_id not in public_keys():
            file.write(f"{found.key_id} {base64.b64encode(found.public).decode()}\n")


def _decode(path: Path, text: str) -> bytes:
    try:
        raw = base64.b64decode(text.strip(), validate=True)
    except ValueError:
        raw = b""
    if len(raw) != 32:
        raise KeyFileError(f"{path} does not hold a key: 32 bytes in base64 are expected.")
    return raw


def _publish(path: Path, text: str) -> None:
    """Write a private file that appears whole or not at all; the first writer wins."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, draft = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}-")
    try:
        with os.fdopen(handle, "w", encoding="ascii") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        with suppress(FileExistsError):
            os.link(draft, path)
    finally:
        Path(draft).unlink()
