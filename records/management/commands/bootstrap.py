"""Make the first workspace, once; part of every start.

Owns nothing but the name; what a workspace has is ``records/workspaces.py``'s.
"""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand

from records.access import Actor, ActorKind
from records.workspaces import DEFAULT_NAME, find_workspace, make_workspace


class Command(BaseCommand):
    """Make the workspace ``default`` unless it is there; complete it when it is."""

    help = f"Make the workspace {DEFAULT_NAME!r} with starter policies, unless it is there."

    def handle(self, *args: Any, **options: Any) -> None:
        """Say so when it is made; a later start is silent."""
        is_new = find_workspace(DEFAULT_NAME) is None
        make_workspace(DEFAULT_NAME, actor=Actor(ActorKind.COMMAND, "bootstrap"))
        if is_new:
            self.stdout.write(
                f"Workspace: {DEFAULT_NAME}   An API key for it:"
                f" python manage.py create_api_key --workspace {DEFAULT_NAME}"
            )
