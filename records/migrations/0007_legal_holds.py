"""Legal holds, and the database that refuses to erase what they cover."""

from pathlib import Path

import django.db.models.functions.datetime
from django.db import migrations, models

SQL = Path(__file__).resolve().parent.parent / "sql"


class Migration(migrations.Migration):
    dependencies = [
        ("records", "0006_gate"),
    ]

    operations = [
        migrations.CreateModel(
            name="LegalHold",
            fields=[
                ("id", models.UUIDField(primary_key=True, serialize=False)),
                ("workspace_id", models.UUIDField()),
                ("kind", models.TextField()),
                ("target_id", models.UUIDField()),
                ("reason", models.TextField()),
                ("placed_by", models.TextField()),
                (
                    "placed_at",
                    models.DateTimeField(db_default=django.db.models.functions.datetime.Now()),
                ),
                ("released_at", models.DateTimeField(null=True)),
                ("released_by", models.TextField(db_default="", default="")),
                ("release_reason", models.TextField(db_default="", default="")),
            ],
            options={
                "db_table": "legal_hold",
            },
        ),
        migrations.RunSQL((SQL / "holds.sql").read_text(), (SQL / "holds.reverse.sql").read_text()),
    ]
