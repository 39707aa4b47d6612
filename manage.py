#!/usr/bin/env python
"""Run Django's commands with MemConsole's settings."""

import os
import sys


def main() -> None:
    """Run the command named on the command line; say plainly when the database is away."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memconsole.settings")
    from django.core.management import execute_from_command_line
    from django.db import OperationalError

    from memconsole.database import unreachable

    try:
        execute_from_command_line(sys.argv)
    except OperationalError as error:
        reason = unreachable(error, os.environ)
        if not reason or "--traceback" in sys.argv:
            raise
        sys.exit(f"memconsole: {reason}")


if __name__ == "__main__":
    main()
