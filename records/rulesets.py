"""Which ruleset the gate judges by in a workspace.

Owns finding a workspace's active own rules and keeping the merged set, once
per process and version. The shipped rules are data in ``domain/gate/rules``;
``gate_rules.py`` merges, ``gate_editing.py`` changes.
"""

from __future__ import annotations

import logging
import secrets
from uuid import UUID

from django.db import connection

from records import queries
from records.domain.gate import Ruleset, default_ruleset
from records.gate_rules import Broken, MergedRuleset, merge
from records.models import GateRuleset

log = logging.getLogger(__name__)

CACHED = 500  # merged sets kept in a process; one costs little, for the shipped rules are shared

STAMP = "SELECT settings->>'gate_stamp' FROM workspace WHERE id = %s"

_merged: dict[UUID, tuple[str, Ruleset]] = {}


def ruleset(workspace_id: UUID) -> Ruleset:
    """Return the active ruleset of a workspace; read again only when its stamp moved.

    Costs one look at the workspace's row. Call inside a scope of the workspace.
    """
    row = queries.cursor().execute(STAMP, [workspace_id], prepare=True).fetchone()
    stamp = row[0] if row else None
    if stamp is None:
        return default_ruleset()
    kept = _merged.get(workspace_id)
    if kept is not None and kept[0] == stamp:
        return kept[1]
    active = GateRuleset.objects.filter(workspace_id=workspace_id, state="active").first()
    found = merged(active)
    for one in broken_rules(found):
        log.error("rule %s of workspace %s is not usable and is left out", one.id, workspace_id)
    if len(_merged) >= CACHED:
        _merged.clear()
    _merged[workspace_id] = (stamp, found)
    return found


def merged(row: GateRuleset | None) -> Ruleset:
    """Return the shipped rules with what a stored set adds and softens."""
    if row is None or not (row.rules or row.softened):
        return default_ruleset()
    return merge(default_ruleset(), row.rules, row.softened, number=row.number)


def broken_rules(rules: Ruleset) -> tuple[Broken, ...]:
    """Return the own rules of a set that are left out because they cannot be used."""
    return rules.broken if isinstance(rules, MergedRuleset) else ()


def bump(workspace_id: UUID) -> None:
    """Move the stamp that tells every process to read the rules again; commits with the change.

    Random, not a count: a count from a rolled back change could come again.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            """UPDATE workspace SET settings = jsonb_set(settings, '{gate_stamp}', to_jsonb(%s::text))
               WHERE id = %s""",
            [secrets.token_hex(8), workspace_id],
        )
