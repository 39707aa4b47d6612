"""Pairs of facts that may say the same, and how far the search for them has come."""

from pathlib import Path

import django.db.models.functions.datetime
from django.db import migrations, models

SQL = Path(__file__).resolve().parent.parent / "sql"


class Migration(migrations.Migration):
    dependencies = [
        ("audits", "0019_agreeing"),
    ]

    operations = [
        migrations.CreateModel(
            name="DuplicatePair",
            fields=[
                ("id", models.UUIDField(primary_key=True, serialize=False)),
                ("workspace_id", models.UUIDField()),
                ("partition_id", models.UUIDField()),
                ("one_id", models.UUIDField()),
                ("other_id", models.UUIDField()),
                ("kind", models.TextField()),
                ("predicate", models.TextField()),
                ("likeness", models.FloatField()),
                ("state", models.TextField(db_default="suggested", default="suggested")),
                ("cluster_id", models.UUIDField()),
                (
                    "found_at",
                    models.DateTimeField(db_default=django.db.models.functions.datetime.Now()),
                ),
                ("by", models.TextField(db_default="", default="")),
                ("at", models.DateTimeField(null=True)),
            ],
            options={
                "db_table": "duplicate_pair",
            },
        ),
        migrations.CreateModel(
            name="DuplicateSearch",
            fields=[
                ("workspace_id", models.UUIDField(primary_key=True, serialize=False)),
                ("after_id", models.UUIDField(null=True)),
                ("position", models.BigIntegerField(db_default=0, default=0)),
                ("pass_id", models.UUIDField(null=True)),
                ("checked", models.BigIntegerField(db_default=0, default=0)),
                ("last_checked", models.BigIntegerField(db_default=0, default=0)),
                ("passed_at", models.DateTimeField(null=True)),
                ("narrowed", models.IntegerField(db_default=0, default=0)),
                ("at", models.DateTimeField(null=True)),
            ],
            options={
                "db_table": "duplicate_search",
            },
        ),
        migrations.RunSQL(
            (SQL / "duplicates.sql").read_text(), (SQL / "duplicates.reverse.sql").read_text()
        ),
    ]
