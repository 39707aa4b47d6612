"""Who is acting, in which workspace, and how far they reach.

Owns ``Actor`` and ``Access``, which every door makes once and passes on
explicitly. Holds no query; ``scope.py`` turns an access into the database's
settings.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from uuid import UUID

from records.domain import canonical


class ActorKind(StrEnum):
    """What kind of hand did something."""

    KEY = "key"
    USER = "user"
    JOB = "job"
    COMMAND = "command"
    SYSTEM = "system"
    ANONYMOUS = "anonymous"


class Scope(StrEnum):
    """What an API key may do."""

    WRITE = "write"
    RECALL = "recall"
    READ = "read"
    RESPOND = "respond"


@dataclass(frozen=True, slots=True)
class Actor:
    """Somebody who acts: named by text, so that history outlives accounts."""

    kind: ActorKind
    name: str
    role: str = ""

    def __str__(self) -> str:
        return f"{self.kind}:{self.name}"


@dataclass(frozen=True, slots=True)
class Access:
    """One request's reach: a workspace, perhaps one partition of it, and the actor."""

    workspace_id: UUID
    actor: Actor
    workspace: str = ""
    partition: str | None = None
    scopes: frozenset[str] = field(default_factory=frozenset)
    request_id: str = ""

    def reaches(self, partition: str) -> bool:
        """Say whether a partition's name is inside this access's reach."""
        return self.partition is None or self.partition == partition

    def partition_id(self, name: str) -> UUID:
        """Return the id that a partition of this name has in this workspace."""
        return canonical.partition_id(self.workspace_id, name)
