"""Make the first workspace, once; part of every start.

Owns nothing but the name; what a workspace has is ``records/workspaces.py``'s.
"""

from __future__ import annotations

import os
import shlex
import sys
from pathlib import Path
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
                f" {_command()} create_api_key --workspace {DEFAULT_NAME}"
            )


def _command() -> str:
    """Return how to run manage.py beside this process, so that the line can be pasted."""
    python = Path(sys.executable)
    if python.is_relative_to(Path.cwd()):
        python = python.relative_to(Path.cwd())
    home = os.environ.get("MEMCONSOLE_HOME", "").strip()
    setting = f"MEMCONSOLE_HOME={shlex.quote(home)} " if home else ""
    return f"{setting}{shlex.quote(str(python))} manage.py"
