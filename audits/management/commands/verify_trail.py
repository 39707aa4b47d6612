"""Verify the trail of one workspace, of all, or of the installation itself."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any
from uuid import UUID

from django.core.management.base import BaseCommand, CommandError
from django.db import connections

from audits.seals import seal_now
from audits.verify import Report, verify_trail


class Command(BaseCommand):
    """Walk every chain and fail when one is broken."""

    help = (
        "Prove that every sealed event is as it was sealed. Exit code 1 when a trail is broken;"
        " the first event that is not proven is named."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare what to verify and how to tell."""
        parser.add_argument("--workspace", help="the workspace's name; all of them by default")
        parser.add_argument(
            "--seal", action="store_true", help="seal what is finished before verifying"
        )
        parser.add_argument(
            "--checkpoints",
            type=Path,
            help="a file of checkpoints kept elsewhere (one JSON line each) to compare with",
        )
        parser.add_argument("--json", action="store_true", help="one JSON object per chain")

    def handle(self, *args: Any, **options: Any) -> None:
        """Verify and report chain by chain."""
        broken = 0
        for name, workspace_id in self._chains(options["workspace"]):
            # The events of no workspace are readable to maintenance alone.
            using = "default" if workspace_id else "maintenance"
            if options["seal"]:
                seal_now(workspace_id, using=using)
            try:
                report = verify_trail(workspace_id, using=using, checkpoints=options["checkpoints"])
            except OSError as error:
                raise CommandError(f"The checkpoints cannot be read: {error}") from error
            broken += not report.is_whole
            self._tell(name, report, as_json=options["json"])
        if broken:
            raise CommandError(f"{broken} of the trails is broken.")

    def _tell(self, name: str, report: Report, *, as_json: bool) -> None:
        if as_json:
            self.stdout.write(json.dumps({"chain": name, **report.as_json()}))
            return
        style = self.style.SUCCESS if report.is_whole else self.style.ERROR
        self.stdout.write(f"{name}: {style(report.sentence)}")

    def _chains(self, wanted: str | None) -> list[tuple[str, UUID | None]]:
        with connections["default"].cursor() as cursor:
            cursor.execute("SELECT name, id FROM memconsole_workspaces()")
            found: list[tuple[str, UUID | None]] = list(cursor.fetchall())
        if wanted is None:
            return [*found, ("(installation)", None)]
        chosen = [one for one in found if one[0] == wanted]
        if not chosen:
            raise CommandError(f"There is no workspace called {wanted!r}.")
        return chosen
