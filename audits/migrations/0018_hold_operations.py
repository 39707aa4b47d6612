"""A bulk hold is a kind of operation: what a scan found, sent to the queue."""

from pathlib import Path

from django.db import migrations

SQL = Path(__file__).resolve().parent.parent / "sql"


class Migration(migrations.Migration):
    dependencies = [("audits", "0017_rollups")]
    operations = [
        migrations.RunSQL(
            (SQL / "hold_operations.sql").read_text(),
            (SQL / "hold_operations.reverse.sql").read_text(),
        )
    ]
