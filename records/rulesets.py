"""Which ruleset the gate judges by in a workspace.

Owns merging a workspace's own rules into the shipped ones. The rules
themselves are data in ``domain/gate/rules``.
"""

from __future__ import annotations

from uuid import UUID

from records.domain.gate import Ruleset, default_ruleset


def ruleset(workspace_id: UUID) -> Ruleset:
    """Return the active ruleset of a workspace."""
    return default_ruleset()
