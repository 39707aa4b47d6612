"""Groups of facts that suggestions join, and which of a group to keep. Pure."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import TypeVar
from uuid import UUID

Node = TypeVar("Node", bound=Hashable)

TRUST = ("untrusted", "standard", "trusted")


@dataclass(frozen=True, slots=True)
class Standing:
    """What speaks for keeping one record of a group."""

    id: UUID
    corroboration: int
    trust: int
    last_seen: datetime
    is_one_valued: bool = False


def components(pairs: Iterable[tuple[Node, Node]]) -> dict[Node, Node]:
    """Return the smallest member of each node's group: the groups that pairs join."""
    root: dict[Node, Node] = {}

    def find(one: Node) -> Node:
        root.setdefault(one, one)
        while root[one] != one:
            root[one] = root[root[one]]
            one = root[one]
        return one

    for one, other in pairs:
        low, high = sorted((find(one), find(other)))  # type: ignore[type-var]
        root[high] = low
    return {one: find(one) for one in list(root)}


def suggest_keep(members: Iterable[Standing]) -> tuple[UUID, str]:
    """Return which record to keep, and why: what most say, then the trusted, then the newest.

    One that holds its slot's only value goes first: it cannot be merged into another slot.
    """
    ranked = sorted(
        members,
        key=lambda m: (m.is_one_valued, m.corroboration, m.trust, m.last_seen, m.id),
        reverse=True,
    )
    best, *rest = ranked
    second = rest[0] if rest else best
    if best.is_one_valued != second.is_one_valued:
        return best.id, "it holds the one value of its predicate"
    if best.corroboration != second.corroboration:
        return best.id, f"most say it: {best.corroboration} independent sessions and sources"
    if best.trust != second.trust:
        return best.id, f"it comes from a {TRUST[best.trust]} source"
    return best.id, "it was seen last"
