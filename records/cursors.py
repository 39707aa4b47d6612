"""Cursors of keyset pages: opaque to the caller, signed, good for one list only.

Owns sealing and opening. A cursor names the last row of a page, never a count
of rows, so that pages neither repeat nor skip when rows arrive meanwhile.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from django.core import signing

from records.items import BadRequest, FieldError

LIMIT = 50
LIMIT_MOST = 200
SIGNER = signing.Signer(salt="memconsole.cursor")
WRONG = "is not a cursor of this list with these filters"


@dataclass(frozen=True, slots=True)
class Page:
    """Some rows of a list, and the cursor of what follows them; ``None`` at the end."""

    items: Sequence[Any]
    next_cursor: str | None


def list_key(*parts: Any) -> str:
    """Return what ties a cursor to one list: its name, its reach, its filters."""
    text = json.dumps(parts, default=str, sort_keys=True)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def make_page(
    rows: Sequence[Any], *, limit: int, key: str, place: Callable[[Any], Sequence[Any]]
) -> Page:
    """Return the page of ``rows``, of which one more than ``limit`` was asked for.

    ``place`` gives a row's sort key.
    """
    if len(rows) <= limit:
        return Page(rows, None)
    shown = rows[:limit]
    return Page(shown, SIGNER.sign_object([key, [str(part) for part in place(shown[-1])]]))


def open_cursor(cursor: str | None, *, key: str) -> list[str] | None:
    """Return the place a cursor names; BadRequest when it is not one of this list."""
    if cursor is None:
        return None
    try:
        found_key, place = SIGNER.unsign_object(cursor)
    except (signing.BadSignature, ValueError, TypeError) as error:
        raise BadRequest(FieldError("cursor", WRONG)) from error
    if found_key != key:
        raise BadRequest(FieldError("cursor", WRONG))
    return list(place)
