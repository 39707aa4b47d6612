"""Workspaces: making one, and finding it by name.

Owns what a workspace has from its first moment: starter policies, the source
of what agents infer from talk, a model that embeds. Making is repeatable, so
that commands may run again and race. Who may do it is the caller's to decide.
"""

from __future__ import annotations

from uuid import UUID

from django.db import IntegrityError, connection
from django.utils import timezone

from records import embeddings, events
from records.access import Access, Actor
from records.domain import canonical
from records.domain.ids import uuid7
from records.drafts import CONVERSATION
from records.items import BadRequest, FieldError
from records.models import Source, Workspace
from records.policies import install_starter_policies
from records.scope import workspace_scope

NAME_LIMIT = 100
DEFAULT_NAME = "default"


def find_workspace(name: str) -> UUID | None:
    """Return the id of the workspace of this name, before any scope is known."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT memconsole_find_workspace(%s)", [name])
        row = cursor.fetchone()
    return row[0] if row else None


def make_workspace(name: str, *, actor: Actor, request_id: str = "") -> Access:
    """Return ``actor``'s access to the workspace of this name, making what is missing of it.

    BadRequest when it cannot be a name. Two makers at once end up with one workspace.
    """
    name = clean_name("workspace", name, limit=NAME_LIMIT)
    found = find_workspace(name)
    if found is not None:
        return _complete(found, name, actor, request_id)
    try:
        return _complete(uuid7(timezone.now()), name, actor, request_id, is_new=True)
    except IntegrityError:
        found = find_workspace(name)
        if found is None:
            raise
        return _complete(found, name, actor, request_id)


def clean_name(field: str, name: str, *, limit: int) -> str:
    """Return a name as it is kept; BadRequest names the field and the limit."""
    cleaned, _ = canonical.clean(name)
    if not cleaned or "\x00" in cleaned or any("\ud800" <= char <= "\udfff" for char in cleaned):
        raise BadRequest(FieldError(field, "must not be blank or unprintable", "required"))
    if len(cleaned) > limit:
        message = f"is {len(cleaned):,} characters long; at most {limit}"
        raise BadRequest(FieldError(field, message, "too_long", limit))
    return cleaned


def _complete(
    workspace_id: UUID, name: str, actor: Actor, request_id: str, *, is_new: bool = False
) -> Access:
    access = Access(workspace_id=workspace_id, actor=actor, workspace=name, request_id=request_id)
    with workspace_scope(workspace_id):
        if is_new:
            Workspace.objects.create(id=workspace_id, name=name)
            happening = events.Happening("workspace.created", "workspace", target_id=workspace_id)
            events.append([happening], access=access)
        Source.objects.bulk_create(
            [
                Source(
                    id=canonical.source_id(workspace_id, CONVERSATION),
                    workspace_id=workspace_id,
                    name=CONVERSATION,
                )
            ],
            ignore_conflicts=True,
        )
        # The workspace's row is the lock: two completions at once make one set of policies.
        Workspace.objects.select_for_update().get(id=workspace_id)
        install_starter_policies(access)
        embeddings.register_defaults(workspace_id)
    return access
