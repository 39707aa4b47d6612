"""Indexes and the one look-up function of the audit trail's page."""

from pathlib import Path

from django.db import migrations

SQL = Path(__file__).resolve().parent.parent / "sql"


class Migration(migrations.Migration):
    dependencies = [("audits", "0007_response")]
    operations = [
        migrations.RunSQL(
            (SQL / "trail_reads.sql").read_text(), (SQL / "trail_reads.reverse.sql").read_text()
        )
    ]
