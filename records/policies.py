"""The predicate policies of a workspace: resolve, install, change.

Owns the way from a predicate as written to the policy that rules it, aliases
included. A change retires the live version and adds the next; rows are never
edited. Inside a scope; see ``domain.facts.Policy`` for what a policy says.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any
from uuid import UUID

from django.db import connection
from django.utils import timezone

from records import events
from records.access import Access
from records.domain import canonical
from records.domain.facts import Cardinality, Normaliser, Policy
from records.domain.ids import uuid7
from records.domain.starter import load_starter_policies
from records.models import PredicatePolicy

UNKNOWN_TTL_DAYS = 180.0  # bounds how long an unreviewed kind of fact, or a poison, is served
COLUMNS = tuple(f.name for f in dataclasses.fields(Policy) if f.name != "known")


class PolicyBook:
    """The live policies of one workspace at one moment, by canonical name and alias."""

    def __init__(self, policies: Iterable[Policy]) -> None:
        self._by_key: dict[str, Policy] = {}
        found = tuple(policies)
        for policy in found:
            self._by_key[policy.predicate] = policy
            for alias in policy.aliases:
                self._by_key.setdefault(canonical.predicate_key(alias), policy)
        # Slots go by canonical names; people name a dependent as they please, by an alias, too.
        plain = {
            policy.predicate: dataclasses.replace(policy, dependents=self._canonical(policy))
            for policy in found
            if policy.dependents
        }
        for key, policy in self._by_key.items():
            self._by_key[key] = plain.get(policy.predicate, policy)

    def _canonical(self, policy: Policy) -> tuple[str, ...]:
        """Return a policy's dependents by their canonical names."""
        return tuple(dict.fromkeys(self.resolve(one).predicate for one in policy.dependents))

    def resolve(self, predicate: str) -> Policy:
        """Return the policy of a predicate as written; an unknown one loses nothing."""
        key = canonical.predicate_key(predicate)
        return self._by_key.get(key) or _unknown(key)

    def __iter__(self) -> Any:
        return iter({p.predicate: p for p in self._by_key.values()}.values())


@lru_cache(maxsize=4096)
def _unknown(key: str) -> Policy:
    return Policy(predicate=key, version=0, ttl_days=UNKNOWN_TTL_DAYS, known=False, keyed=True)


_books: dict[UUID, tuple[int, PolicyBook]] = {}


def book(workspace_id: UUID) -> PolicyBook:
    """Return the workspace's policies as of now; read again only when their stamp moved.

    Costs one look at the workspace's row. Call inside a scope of the workspace.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT coalesce((settings->>'policy_stamp')::bigint, 0) FROM workspace WHERE id = %s",
            [workspace_id],
        )
        row = cursor.fetchone()
    stamp = int(row[0]) if row else -1
    cached = _books.get(workspace_id)
    if cached is not None and cached[0] == stamp:
        return cached[1]
    rows = PredicatePolicy.objects.filter(workspace_id=workspace_id, retired_at=None)
    found = PolicyBook(to_policy(row) for row in rows.order_by("predicate"))
    _books[workspace_id] = (stamp, found)
    return found


def to_policy(row: PredicatePolicy) -> Policy:
    """Return the value object of a stored version."""
    values = {name: getattr(row, name) for name in COLUMNS}
    for name in ("aliases", "validators", "dependents"):
        values[name] = tuple(values[name])
    values["cardinality"] = Cardinality(values["cardinality"])
    values["normaliser"] = Normaliser(values["normaliser"])
    return Policy(**values)


def install_starter_policies(access: Access) -> int:
    """Give a new workspace the starter policies; those it has already are left alone."""
    have = set(
        PredicatePolicy.objects.filter(workspace_id=access.workspace_id).values_list(
            "predicate", flat=True
        )
    )
    new = [p for p in load_starter_policies() if p.predicate not in have]
    PredicatePolicy.objects.bulk_create(_to_row(p, access, "starter policy") for p in new)
    if new:
        _bump(access.workspace_id)
        happening = events.Happening("policies.installed", "policy", count=len(new))
        events.append([happening], access=access)
    return len(new)


def change(policy: Policy, *, reason: str, access: Access) -> PredicatePolicy:
    """Make ``policy`` the live version of its predicate and say so in an event.

    The caller holds a workspace scope. Records keep the cardinality of their
    time; ``recast`` brings them over. Two changes at once:
    the second fails on the unique live version and its caller tries again.
    """
    live = (
        PredicatePolicy.objects.select_for_update()
        .filter(workspace_id=access.workspace_id, predicate=policy.predicate, retired_at=None)
        .first()
    )
    version = 1
    if live is not None:
        version = live.version + 1
        live.retired_at = timezone.now()
        live.save(update_fields=["retired_at"])
    row = _to_row(dataclasses.replace(policy, version=version), access, reason)
    row.save(force_insert=True)
    _bump(access.workspace_id)
    before = to_policy(live) if live is not None else None
    changed = [
        name
        for name in COLUMNS
        if name != "version" and (before is None or getattr(before, name) != getattr(policy, name))
    ]
    happening = events.Happening(
        "policy.changed",
        "policy",
        target_id=row.id,
        reason=reason,
        details={"predicate": policy.predicate, "version": version, "fields": changed},
    )
    events.append([happening], access=access)
    return row


def _to_row(policy: Policy, access: Access, reason: str) -> PredicatePolicy:
    values: dict[str, Any] = {name: getattr(policy, name) for name in COLUMNS}
    for name in ("aliases", "validators", "dependents"):
        values[name] = list(values[name])
    for name in ("cardinality", "normaliser"):
        values[name] = str(values[name])
    return PredicatePolicy(
        id=uuid7(datetime.now(UTC)),
        workspace_id=access.workspace_id,
        created_by=str(access.actor),
        reason=reason,
        **values,
    )


def _bump(workspace_id: UUID) -> None:
    """Move the stamp that tells every process to read the policies again.

    A time, not a count: a count from a rolled back change could come again.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            """UPDATE workspace SET settings = jsonb_set(settings, '{policy_stamp}',
                   to_jsonb((date_part('epoch', clock_timestamp()) * 1e6)::bigint)) WHERE id = %s""",
            [workspace_id],
        )
