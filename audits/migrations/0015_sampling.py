"""Samples that people verify, and their verdicts."""

from pathlib import Path

import django.db.models.functions.datetime
from django.db import migrations, models

SQL = Path(__file__).resolve().parent.parent / "sql"


class Migration(migrations.Migration):
    dependencies = [
        ("audits", "0014_notices"),
    ]

    operations = [
        migrations.CreateModel(
            name="SampleBatch",
            fields=[
                ("id", models.UUIDField(primary_key=True, serialize=False)),
                ("workspace_id", models.UUIDField()),
                ("number", models.IntegerField()),
                ("weighting", models.TextField()),
                ("seed", models.BigIntegerField()),
                ("size", models.IntegerField()),
                ("population", models.BigIntegerField()),
                ("population_served", models.BigIntegerField(default=0)),
                ("scope", models.JSONField(default=dict)),
                ("recheck_share", models.FloatField(default=0.0)),
                ("made_by", models.TextField()),
                (
                    "made_at",
                    models.DateTimeField(db_default=django.db.models.functions.datetime.Now()),
                ),
                ("closed_at", models.DateTimeField(null=True)),
                ("closed_by", models.TextField(db_default="", default="")),
            ],
            options={
                "db_table": "sample_batch",
            },
        ),
        migrations.CreateModel(
            name="SampleItem",
            fields=[
                ("id", models.UUIDField(primary_key=True, serialize=False)),
                ("workspace_id", models.UUIDField()),
                ("batch_id", models.UUIDField()),
                ("partition_id", models.UUIDField()),
                ("record_id", models.UUIDField()),
                ("place", models.IntegerField()),
                ("predicate", models.TextField()),
                ("chance", models.FloatField()),
                ("served", models.BigIntegerField(default=0)),
                ("is_recheck", models.BooleanField(default=False)),
                ("lease_user_id", models.UUIDField(null=True)),
                ("lease_expires_at", models.DateTimeField(null=True)),
                ("verdict", models.TextField(db_default="", default="")),
                ("value", models.TextField(db_default="", default="")),
                ("answered_by", models.TextField(db_default="", default="")),
                ("answered_by_id", models.UUIDField(null=True)),
                ("answered_at", models.DateTimeField(null=True)),
                ("second_verdict", models.TextField(db_default="", default="")),
                ("second_by", models.TextField(db_default="", default="")),
                ("second_by_id", models.UUIDField(null=True)),
                ("second_at", models.DateTimeField(null=True)),
                ("settled", models.TextField(db_default="", default="")),
                ("settled_by", models.TextField(db_default="", default="")),
                ("applied_at", models.DateTimeField(null=True)),
                ("outcome", models.TextField(db_default="", default="")),
            ],
            options={
                "db_table": "sample_item",
            },
        ),
        migrations.RunSQL(
            (SQL / "sampling.sql").read_text(), (SQL / "sampling.reverse.sql").read_text()
        ),
    ]
