"""Records that a person has said are one fact: the alias, and what an undo needs."""

from pathlib import Path

import django.contrib.postgres.fields
import django.db.models.functions.datetime
from django.db import migrations, models

SQL = Path(__file__).resolve().parent.parent / "sql"


class Migration(migrations.Migration):
    dependencies = [
        ("records", "0014_scans"),
    ]

    operations = [
        migrations.AddField(
            model_name="memoryrecord",
            name="merged_into",
            field=models.UUIDField(null=True),
        ),
        migrations.AddField(
            model_name="claim",
            name="merge_id",
            field=models.UUIDField(null=True),
        ),
        migrations.CreateModel(
            name="RecordMerge",
            fields=[
                ("id", models.UUIDField(primary_key=True, serialize=False)),
                ("workspace_id", models.UUIDField()),
                ("partition_id", models.UUIDField()),
                ("gone_id", models.UUIDField()),
                ("kept_id", models.UUIDField()),
                (
                    "at",
                    models.DateTimeField(db_default=django.db.models.functions.datetime.Now()),
                ),
                ("by", models.TextField()),
                ("before", models.JSONField(default=dict)),
                ("after", models.JSONField(default=dict)),
                (
                    "address_ids",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.UUIDField(), default=list, size=None
                    ),
                ),
                ("parted_at", models.DateTimeField(null=True)),
                ("parted_by", models.TextField(db_default="", default="")),
                ("ended", models.TextField(db_default="", default="")),
            ],
            options={
                "db_table": "record_merge",
            },
        ),
        migrations.CreateModel(
            name="MergedClaim",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "merge_id",
                        "session_id",
                        "source_id",
                        blank=True,
                        editable=False,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                ("merge_id", models.UUIDField()),
                ("session_id", models.UUIDField()),
                ("source_id", models.UUIDField()),
                ("workspace_id", models.UUIDField()),
                ("partition_id", models.UUIDField()),
                ("count", models.IntegerField()),
                ("echoes", models.IntegerField()),
                ("first_at", models.DateTimeField()),
                ("last_at", models.DateTimeField()),
                ("is_new", models.BooleanField()),
                ("is_counted", models.BooleanField()),
                ("kept_state", models.TextField(db_default="", default="")),
                ("kept_first_at", models.DateTimeField(null=True)),
                ("kept_last_at", models.DateTimeField(null=True)),
            ],
            options={
                "db_table": "merged_claim",
            },
        ),
        migrations.RunSQL(
            (SQL / "merges.sql").read_text(), (SQL / "merges.reverse.sql").read_text()
        ),
    ]
