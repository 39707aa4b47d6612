"""What a key is told about itself."""

from __future__ import annotations

from records.access import Scope
from records.schemas.base import Given


class KeyAnswer(Given):
    """The key's own reach."""

    workspace: str
    partition: str | None
    scopes: list[Scope]
    key: str
