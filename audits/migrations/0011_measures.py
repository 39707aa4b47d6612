"""How each workspace's memory stood when it was last measured."""

from pathlib import Path

import django.db.models.functions.datetime
from django.db import migrations, models

SQL = Path(__file__).resolve().parent.parent / "sql"


class Migration(migrations.Migration):
    dependencies = [
        ("records", "0011_held"),
        ("audits", "0010_four_eyes"),
    ]
    operations = [
        migrations.CreateModel(
            name="Measure",
            fields=[
                ("workspace_id", models.UUIDField(primary_key=True, serialize=False)),
                (
                    "at",
                    models.DateTimeField(db_default=django.db.models.functions.datetime.Now()),
                ),
                ("numbers", models.JSONField(default=dict)),
            ],
            options={"db_table": "measure"},
        ),
        migrations.RunSQL(
            (SQL / "measures.sql").read_text(), (SQL / "measures.reverse.sql").read_text()
        ),
    ]
