"""An erasure may take words out of approvals, and nothing else."""

from pathlib import Path

from django.db import migrations

SQL = Path(__file__).resolve().parent.parent / "sql"


class Migration(migrations.Migration):
    dependencies = [
        ("audits", "0012_first_audit"),
    ]

    operations = [
        migrations.RunSQL(
            (SQL / "erasure.sql").read_text(), (SQL / "erasure.reverse.sql").read_text()
        ),
    ]
