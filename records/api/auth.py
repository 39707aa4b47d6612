"""Who is calling: the bearer key of a request, and whether it has the scope asked for.

Owns the header and the answers 401 and 403; what a key is lives in
``records/keys.py``. Every endpoint names its scope here, and reads the access
from ``request.auth``.
"""

from __future__ import annotations

from typing import Any, cast

from django.http import HttpRequest
from django.utils import timezone

from records import denials, keys
from records.access import Access, Scope
from records.api.problems import Problem, not_found, request_id

UNKNOWN_KEY = "A valid API key is needed: send the header Authorization: Bearer <key>."


class ApiKeyAuth:
    """Ninja's authentication for one scope; ``None`` asks only for a live key."""

    openapi_security_schema: dict[str, Any] = {
        "type": "http",
        "scheme": "bearer",
        "description": "An API key, made with `python manage.py create_api_key`.",
    }

    def __init__(self, scope: Scope | None) -> None:
        self.scope = scope

    def __call__(self, request: HttpRequest) -> Access:
        """Return the request's access, or raise the 401 or 403 that answers it."""
        scheme, _, text = request.META.get("HTTP_AUTHORIZATION", "").partition(" ")
        text = text.strip()
        if scheme.lower() != "bearer" or not text:
            raise _unauthorized()
        key = keys.find_key(text)
        if key is None:
            denials.deny_stranger(
                "key.refused",
                address=request.META.get("REMOTE_ADDR", ""),
                request_id=request_id(request),
                details={"digest": keys.digest(text).hex()[:12], "why": "unknown"},
            )
            raise _unauthorized()
        now = timezone.now()
        access = key.access(request_id(request))
        if fault := key.fault(now):
            denials.deny("key.refused", access=access, details={"why": fault})
            raise _unauthorized()
        keys.note_use(key, now)
        if self.scope is not None and self.scope not in access.scopes:
            denials.deny("scope.refused", access=access, details={"scope": str(self.scope)})
            raise Problem(403, f"This needs a key with the scope {self.scope}.")
        return access


def access_of(request: HttpRequest) -> Access:
    """Return the access that authentication left on the request."""
    return cast(Access, request.auth)  # type: ignore[attr-defined]


def require_reach(access: Access, partition: str | None) -> None:
    """Answer 404 to a key that names a partition out of its bounds, and put it on record.

    The event names no partition: the name may be a person's.
    """
    if partition is not None and not access.reaches(partition):
        denials.deny("partition.refused", access=access)
        raise not_found()


def _unauthorized() -> Problem:
    return Problem(401, UNKNOWN_KEY, headers={"WWW-Authenticate": 'Bearer realm="memconsole"'})
