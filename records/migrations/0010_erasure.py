"""What erasures leave to maintenance, and a stricter idea of an erased record."""

from pathlib import Path

import django.db.models.functions.datetime
from django.db import migrations, models

SQL = Path(__file__).resolve().parent.parent / "sql"


class Migration(migrations.Migration):
    dependencies = [
        ("records", "0009_session_signals"),
    ]

    operations = [
        migrations.CreateModel(
            name="ErasureDue",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "workspace_id",
                        "kind",
                        "target_id",
                        blank=True,
                        editable=False,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                ("workspace_id", models.UUIDField()),
                ("kind", models.TextField()),
                ("target_id", models.UUIDField()),
                (
                    "noted_at",
                    models.DateTimeField(db_default=django.db.models.functions.datetime.Now()),
                ),
            ],
            options={"db_table": "erasure_due"},
        ),
        migrations.RunSQL(
            (SQL / "erasure.sql").read_text(), (SQL / "erasure.reverse.sql").read_text()
        ),
    ]
