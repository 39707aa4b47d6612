"""What a seal says, the bytes that are signed, and how both are checked.

Owns the canonical text of seals and checkpoints. Pure: the signature itself is
made in ``audits/keys.py``. The leaf of an event is the text that the database
writes of its row (``audits/leaves.py``), so that nothing is lost between the
row, the tree and an export. ``audits/verify_export.py`` repeats these rules on
its own; a test compares the two. Read ``merkle.py`` for the tree.
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from uuid import UUID

from audits.domain.merkle import HASH_LENGTH

TOOL = "MemConsole 0.1.0"  # what manifests name; a test compares it with the package
FORMAT = "memconsole-seal/1"
CHECKPOINT_FORMAT = "memconsole-checkpoint/1"
GENESIS = bytes(HASH_LENGTH)  # what the first seal of a chain follows
INSTALLATION = UUID(int=0)  # the chain of events that belong to no workspace


@dataclass(frozen=True, slots=True)
class SealBody:
    """What is signed: a tree over the events at ``first`` to ``last``, after ``previous``."""

    workspace_id: UUID
    number: int
    first: int
    last: int
    sealed_at: str  # ISO 8601, UTC
    previous: bytes
    root: bytes
    key_id: str

    @property
    def size(self) -> int:
        """How many events are sealed."""
        return self.last - self.first + 1

    def text(self) -> bytes:
        """Return the bytes that are signed; every field on a line of its own."""
        return (
            f"{FORMAT}\nworkspace {self.workspace_id}\nnumber {self.number}\n"
            f"first {self.first}\nlast {self.last}\nsealed_at {self.sealed_at}\n"
            f"previous {self.previous.hex()}\nroot {self.root.hex()}\nkey {self.key_id}\n"
        ).encode()

    def digest(self) -> bytes:
        """Return the hash by which the next seal and a checkpoint name this one."""
        return sha256(self.text()).digest()


@dataclass(frozen=True, slots=True)
class Head:
    """Where a chain stands: the newest seal's number, its last position, its digest."""

    number: int = 0
    last: int = 0
    digest: bytes = GENESIS


def broken_link(body: SealBody, after: Head) -> str | None:
    """Say why a seal does not follow the chain's head, ``None`` when it does."""
    if body.number != after.number + 1:
        return f"seal {after.number + 1} is missing: the next one is number {body.number}"
    if body.first != after.last + 1 or body.last < body.first:
        return f"seal {body.number} covers {body.first}-{body.last}, after {after.last}"
    if body.previous != after.digest:
        return f"seal {body.number} does not follow the seal before it"
    return None


def follow(body: SealBody) -> Head:
    """Return the head of a chain that ends in this seal."""
    return Head(body.number, body.last, body.digest())


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A note of where a chain stood, to be kept where the database's owner cannot reach."""

    workspace_id: UUID
    number: int
    last: int
    digest: bytes
    at: str
    key_id: str

    def text(self) -> bytes:
        """Return the bytes that are signed."""
        return (
            f"{CHECKPOINT_FORMAT}\nworkspace {self.workspace_id}\nseal {self.number}\n"
            f"last {self.last}\ndigest {self.digest.hex()}\nat {self.at}\nkey {self.key_id}\n"
        ).encode()
