"""Logs, composite keys, checks, indexes, row-level security, guards and doors, as SQL files.

They are part of the first schema: no version of it exists without them.
"""

from pathlib import Path

from django.db import migrations

SQL = Path(__file__).resolve().parent.parent / "sql"


def sql_file(name):
    return migrations.RunSQL(
        (SQL / f"{name}.sql").read_text(), (SQL / f"{name}.reverse.sql").read_text()
    )


class Migration(migrations.Migration):
    dependencies = [("records", "0001_tables")]
    operations = [
        sql_file("logs"),
        sql_file("keys"),
        sql_file("checks"),
        sql_file("indexes"),
        sql_file("isolation"),
        sql_file("guards"),
        sql_file("doors"),
    ]
