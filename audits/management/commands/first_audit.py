"""Audit a memory and print what is wrong with it; exit 1 when a bound is passed.

Owns the command line and the exit code, so that the audit can guard a pipeline;
the counting is ``audits/first_audit``'s.
"""

from __future__ import annotations

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from audits import first_audit
from audits.domain.first_audit import Excess, excesses, report_lines
from audits.forms.first_audit import add_bounds, read_bounds
from records.access import Access, Actor, ActorKind
from records.scope import workspace_scope
from records.workspaces import find_workspace

ACTOR = Actor(ActorKind.COMMAND, "first_audit")


class Command(BaseCommand):
    """Audit one workspace."""

    help = "Say what is wrong with a memory; with bounds, exit 1 when one of them is passed."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Take the workspace, the form of the answer, and the bounds."""
        parser.add_argument("--workspace", required=True, metavar="W")
        parser.add_argument("--json", action="store_true", help="print JSON instead of text")
        add_bounds(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        """Audit, print, and let the exit code tell."""
        name = options["workspace"]
        found = find_workspace(name)
        if found is None:
            raise CommandError(f"there is no workspace {name!r}", returncode=2)
        with workspace_scope(found):
            audit = first_audit.make_audit(Access(found, ACTOR, name), timezone.now())
        over = list(excesses(audit.numbers, read_bounds(options)))
        self._print(audit, over, is_json=options["json"])
        if over:
            raise CommandError(
                "; ".join(f"{one.words}: {one.value:g}, over {one.bound:g}" for one in over),
                returncode=1,
            )

    def _print(self, audit: Any, over: list[Excess], *, is_json: bool) -> None:
        if is_json:
            answer = {
                "audit": str(audit.id),
                "made_at": audit.made_at.isoformat(),
                "millis": audit.millis,
                "numbers": audit.numbers,
                "over": [{"name": o.name, "value": o.value, "bound": o.bound} for o in over],
            }
            self.stdout.write(json.dumps(answer, indent=2))
            return
        for line in report_lines(audit.numbers):
            self.stdout.write(line)
