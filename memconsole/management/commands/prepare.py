"""Everything between an empty server and a working one; what `make run` runs at each start.

Owns the order only: each command does its own part and may run again at any
time. In production the same command is a deployment's release step.
"""

from __future__ import annotations

import io
from typing import Any

from django.core.management import call_command
from django.core.management.base import BaseCommand


class Command(BaseCommand):
    """Bring schema, static files, the first workspace and the administrator up to date."""

    help = "Set up the database, collect static files, and make the first workspace and person."
    requires_system_checks: list[str] = []

    def handle(self, *args: Any, **options: Any) -> None:
        """Run each step; only what a person must know is printed."""
        call_command("setup_database", verbosity=0)
        call_command("collectstatic", interactive=False, verbosity=0, stdout=io.StringIO())
        call_command("bootstrap", stdout=self.stdout)
        call_command("create_administrator", stdout=self.stdout)
