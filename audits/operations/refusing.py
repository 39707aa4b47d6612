"""Why an operation is not taken up: what is missing from the request."""

from __future__ import annotations

from records.items import BadRequest, FieldError


class Refused(BadRequest):
    """Something that the act needs is missing or wrong; names the field and what it must be."""


def refuse(field: str, message: str, code: str = "missing", limit: float | None = None) -> Refused:
    """Return a refusal about one field."""
    return Refused(FieldError(field, message, code, limit))
