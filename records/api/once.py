"""``Idempotency-Key`` on endpoints that change something.

Owns the header and its answers; what is kept, and how, is
``records/idempotency.py``.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from django.http import HttpRequest, HttpResponse
from pydantic_core import to_json

from records import idempotency
from records.access import Access
from records.api.answers import answer
from records.api.problems import Problem, invalid
from records.items import Conflict, FieldError

HEADER = "Idempotency-Key"
REPLAYED = "Idempotency-Replayed"
_PRINTABLE = re.compile(r"[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?")


def once(request: HttpRequest, access: Access, run: Callable[[], Any]) -> HttpResponse:
    """Answer with what ``run`` returns; with the header, run it once for a day."""
    key = request.headers.get(HEADER)
    if key is None:
        return answer(run())
    if len(key) > idempotency.KEY_LIMIT or not _PRINTABLE.fullmatch(key):
        message = f"must be 1 to {idempotency.KEY_LIMIT} printable ASCII characters"
        raise invalid(FieldError(HEADER, message, "invalid", idempotency.KEY_LIMIT))
    parts = [(request.method or "").encode(), request.path.encode(), request.body]
    try:
        kept = idempotency.run_once(
            key,
            parts=parts,
            access=access,
            run=lambda: idempotency.Kept(200, to_json(run()).decode()),
        )
    except Conflict as error:
        raise Problem(
            409,
            f"This {HEADER} was used for another request; choose a new one.",
            code="idempotency_conflict",
        ) from error
    except idempotency.StillRunning as error:
        raise Problem(
            409,
            f"The first request with this {HEADER} is still running; ask again shortly.",
            code="in_progress",
            headers={"Retry-After": "2"},
        ) from error
    response = HttpResponse(kept.body, status=kept.status, content_type="application/json")
    if kept.is_replayed:
        response.headers[REPLAYED] = "true"
    return response
