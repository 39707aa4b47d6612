"""Indexes and the one search function of the console's lists."""

from pathlib import Path

from django.db import migrations

SQL = Path(__file__).resolve().parent.parent / "sql"


class Migration(migrations.Migration):
    dependencies = [("audits", "0004_memberships")]
    operations = [
        migrations.RunSQL((SQL / "reads.sql").read_text(), (SQL / "reads.reverse.sql").read_text())
    ]
