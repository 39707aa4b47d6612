"""How odd each session looks."""

from pathlib import Path

import django.contrib.postgres.fields
from django.db import migrations, models

SQL = Path(__file__).resolve().parent.parent / "sql"


def _numbers() -> django.contrib.postgres.fields.ArrayField:
    return django.contrib.postgres.fields.ArrayField(
        base_field=models.IntegerField(), default=list, size=None
    )


class Migration(migrations.Migration):
    dependencies = [
        ("records", "0009_session_signals"),
        ("audits", "0008_trail_reads"),
    ]
    operations = [
        migrations.CreateModel(
            name="SessionSuspicion",
            fields=[
                ("session_id", models.UUIDField(primary_key=True, serialize=False)),
                ("workspace_id", models.UUIDField()),
                ("partition_id", models.UUIDField()),
                ("score", models.SmallIntegerField(db_default=0, default=0)),
                ("reasons", models.JSONField(default=list)),
                ("looks", models.JSONField(default=dict)),
                ("vocabulary", _numbers()),
                ("sentences", _numbers()),
                ("stated", _numbers()),
                ("looked_at", models.DateTimeField()),
                ("computed_at", models.DateTimeField()),
            ],
            options={"db_table": "session_suspicion"},
        ),
        migrations.RunSQL(
            (SQL / "suspicion.sql").read_text(), (SQL / "suspicion.reverse.sql").read_text()
        ),
    ]
