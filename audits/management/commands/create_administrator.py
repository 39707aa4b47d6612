"""Make the first administrator of the console, once.

Owns the first account only; people after that are invited in the console. The
password is shown here and nowhere else, and is kept hashed. Safe to repeat:
a later start changes no password, and gives back no membership that was taken.
"""

from __future__ import annotations

import os
import secrets
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand
from django.db import IntegrityError, transaction

from audits import people
from audits.access import actor_of
from audits.domain.roles import Role
from audits.models import User
from records.access import Access
from records.workspaces import DEFAULT_NAME, find_workspace

PASSWORD_VARIABLE = "MEMCONSOLE_ADMIN_PASSWORD"  # noqa: S105 (the variable's name)


class Command(BaseCommand):
    """Make an administrator unless there is one."""

    help = f"Make the first administrator, with {PASSWORD_VARIABLE} or a generated password."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Let the name be chosen."""
        parser.add_argument("--username", default="admin")

    def handle(self, *args: Any, **options: Any) -> None:
        """Print the log-in when it is made; on a later run, what still has to be known."""
        given = os.environ.get(PASSWORD_VARIABLE, "")
        found = User.objects.filter(is_superuser=True, is_active=True).first()
        if found is None:
            self._create(options["username"], given)
        elif given and not found.check_password(given):
            self.stdout.write(
                f"The password of {found.username} is not {PASSWORD_VARIABLE}, which counts only at"
                f" the first start. To change it: python manage.py changepassword {found.username}"
            )

    def _create(self, username: str, given: str) -> None:
        password = given or secrets.token_urlsafe(12)
        try:
            with transaction.atomic():
                user = User.objects.create_superuser(username, "", password)
                join_first_workspace(user)
        except IntegrityError:
            return  # another process was first, and has shown its password
        shown = f"the one in {PASSWORD_VARIABLE}" if given else f"{password}  (shown only now)"
        self.stdout.write(f"Administrator: {username}   Password: {shown}")


def join_first_workspace(user: User) -> None:
    """Make the person a member of the first workspace, where there is one already."""
    workspace_id = find_workspace(DEFAULT_NAME)
    if workspace_id is None:
        return
    access = Access(workspace_id, actor_of(user), workspace=DEFAULT_NAME)
    people.add_member(user, Role.ADMINISTRATOR, access=access)
