"""The second person's word, kept by the database."""

from pathlib import Path

from django.db import migrations

SQL = Path(__file__).resolve().parent.parent / "sql"


class Migration(migrations.Migration):
    dependencies = [
        ("audits", "0009_session_suspicion"),
    ]

    operations = [
        migrations.RunSQL(
            (SQL / "approvals.sql").read_text(), (SQL / "approvals.reverse.sql").read_text()
        ),
    ]
