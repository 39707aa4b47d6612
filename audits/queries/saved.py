"""A person's saved views of a list: filters under a name, and whether the list at hand still is one.

Owns the column that finds them. Saving and forgetting are ``views/saved.py``'s. Inside a workspace scope.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl

MOST = 100

# A column of another statement of the page: a list page has no statement to spare.
VIEWS = f"""(SELECT coalesce(jsonb_agg(to_jsonb(one) ORDER BY one.name), '[]') FROM (
    SELECT id, name, query FROM saved_view WHERE workspace_id = %(workspace)s
        AND user_id = %(me)s AND page = %(saved_page)s ORDER BY name LIMIT {MOST}) AS one)"""


@dataclass(frozen=True, slots=True)
class Saved:
    """The saved views of one list; ``current`` is the one that the URL came from."""

    page: str
    query: str
    views: Sequence[dict[str, Any]] = field(default_factory=list)
    current: dict[str, Any] | None = None
    is_modified: bool = False


def saved_of(
    page: str, views: Sequence[dict[str, Any]], *, query: str, asked_for: str | None
) -> Saved:
    """Return a person's views of a list, and which one the filters at hand are or began as."""
    now = _filters(query)
    current = next((one for one in views if one["id"] == asked_for), None)
    if current is None:
        current = next((one for one in views if _filters(one["query"]) == now), None)
    is_modified = current is not None and _filters(current["query"]) != now
    return Saved(page, query, views, current, is_modified)


def _filters(query: str) -> list[tuple[str, str]]:
    """Return what a query string asks for, whatever its order."""
    return sorted(parse_qsl(query))
