"""The door that does nothing but say who is at it."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from ninja import Router

from records.api.answers import answer, endpoint
from records.api.auth import access_of
from records.schemas.whoami import KeyAnswer

router = Router(tags=["key"])


@router.get("/whoami", **endpoint(KeyAnswer, scope=None, summary="What this key reaches"))
def whoami(request: HttpRequest) -> HttpResponse:
    """Say which workspace and partition the key reaches, and what it may do."""
    access = access_of(request)
    return answer(
        {
            "workspace": access.workspace,
            "partition": access.partition,
            "scopes": sorted(access.scopes),
            "key": access.actor.name,
        }
    )
