"""Workspaces for database tests: two in every test, never shared between tests."""

from __future__ import annotations

from uuid import uuid4

import pytest

from records.access import Access, Actor, ActorKind
from records.embeddings import register_defaults
from records.models import Workspace
from records.policies import install_starter_policies
from records.scope import workspace_scope


def make_access(
    name: str = "key-1", *, workspace_id: object = None, partition: str | None = None
) -> Access:
    """Return an access to a new workspace with starter policies."""
    identity = uuid4()
    access = Access(
        workspace_id=identity,
        actor=Actor(ActorKind.KEY, name),
        workspace=f"w-{identity.hex[:8]}",
        partition=partition,
    )
    with workspace_scope(identity):
        Workspace.objects.create(id=identity, name=access.workspace)
        install_starter_policies(access)
        register_defaults(identity)
    return access


@pytest.fixture
def access() -> Access:
    """A fresh workspace."""
    return make_access()


@pytest.fixture
def stranger() -> Access:
    """Another fresh workspace."""
    return make_access()
