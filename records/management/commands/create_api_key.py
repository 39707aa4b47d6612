"""Make an API key and print it, and nothing else, so that a script can keep it.

Owns the command line only; keys are ``records/keys.py``'s.
"""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from records import keys
from records.access import Actor, ActorKind, Scope
from records.items import NAME_LIMIT, BadRequest
from records.workspaces import clean_name, make_workspace

ACTOR = Actor(ActorKind.COMMAND, "create_api_key")


class Command(BaseCommand):
    """Make a key for a workspace, which is made too when it is missing."""

    help = "Make an API key for a workspace (made when missing) and print the key, nothing else."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Take the workspace, and how far the key reaches."""
        parser.add_argument("--workspace", required=True, metavar="NAME")
        parser.add_argument(
            "--partition", metavar="NAME", help="bind the key to one partition of the workspace"
        )
        parser.add_argument(
            "--scopes",
            nargs="+",
            default=[",".join(keys.DEFAULT_SCOPES)],
            metavar="SCOPE",
            help=f"of {', '.join(Scope)}; default {', '.join(keys.DEFAULT_SCOPES)}",
        )
        parser.add_argument("--name", default="", help="what the key is for, shown in the console")

    def handle(self, *args: Any, **options: Any) -> None:
        """Print the key."""
        scopes = _scopes(options["scopes"])
        try:
            partition = options["partition"]
            if partition is not None:
                partition = clean_name("partition", partition, limit=NAME_LIMIT)
            access = make_workspace(options["workspace"], actor=ACTOR)
            name = options["name"][:NAME_LIMIT]
            key = keys.make_key(access=access, scopes=scopes, partition=partition, name=name)
        except BadRequest as error:
            raise CommandError(str(error)) from error
        self.stdout.write(key)


def _scopes(given: list[str]) -> list[Scope]:
    """Return the scopes, given with spaces or commas between them."""
    words = [word for part in given for word in part.replace(",", " ").split()]
    unknown = sorted(set(words) - set(Scope))
    if unknown or not words:
        said = f"unknown scope {', '.join(unknown)}" if unknown else "no scope given"
        raise CommandError(f"{said}; there are {', '.join(Scope)}")
    return [Scope(word) for word in words]
