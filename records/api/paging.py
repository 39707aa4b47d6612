"""``limit`` and ``cursor``: the parameters that every list shares.

Owns reading and declaring them; what a cursor holds is ``records/cursors.py``'s.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.http import HttpResponse

from records.api.answers import answer
from records.api.problems import invalid
from records.cursors import LIMIT, LIMIT_MOST, Page
from records.items import FieldError

NAMES = ("limit", "cursor")


def parameter(name: str, description: str = "", **schema: Any) -> dict[str, Any]:
    """Return the declaration of one query parameter."""
    return {
        "in": "query",
        "name": name,
        "required": False,
        "description": description,
        "schema": {"type": "string", **schema},
    }


PAGING = [
    parameter("limit", type="integer", minimum=1, maximum=LIMIT_MOST, default=LIMIT),
    parameter("cursor", "`next_cursor` of the page before, with the same filters"),
]


def read_limit(found: Mapping[str, str]) -> int:
    """Return how many rows a page shall have; the 422 names the limits."""
    text = found.get("limit")
    if text is None:
        return LIMIT
    if text.isascii() and text.isdigit() and len(text) < 10 and 1 <= int(text) <= LIMIT_MOST:
        return int(text)
    raise invalid(
        FieldError("limit", f"must be a whole number from 1 to {LIMIT_MOST}", "range", LIMIT_MOST)
    )


def answer_page(page: Page) -> HttpResponse:
    """Return a page as JSON."""
    return answer({"items": page.items, "next_cursor": page.next_cursor})
