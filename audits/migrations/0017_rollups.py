"""Counts for charts, by quarter of an hour, and how far the counting has come."""

from pathlib import Path

import django.contrib.postgres.fields
import django.db.models.functions.datetime
from django.db import migrations, models

import records.models.fields

SQL = Path(__file__).resolve().parent.parent / "sql"


class Migration(migrations.Migration):
    dependencies = [
        ("audits", "0016_freshness"),
    ]

    operations = [
        migrations.CreateModel(
            name="Rollup",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "workspace_id",
                        "kind",
                        "at",
                        "label",
                        blank=True,
                        editable=False,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                ("workspace_id", models.UUIDField()),
                ("kind", models.TextField()),
                ("at", models.DateTimeField()),
                ("label", models.TextField()),
                ("number", models.BigIntegerField()),
            ],
            options={
                "db_table": "rollup",
            },
        ),
        migrations.CreateModel(
            name="RollupProgress",
            fields=[
                ("workspace_id", models.UUIDField(primary_key=True, serialize=False)),
                ("seal", models.BigIntegerField(db_default=0, default=0)),
                ("log_through", models.DateTimeField(null=True)),
                ("pending_at", models.DateTimeField(null=True)),
                ("pending_xmax", records.models.fields.TransactionId(null=True)),
                (
                    "rules",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.TextField(), default=list, size=None
                    ),
                ),
                (
                    "at",
                    models.DateTimeField(db_default=django.db.models.functions.datetime.Now()),
                ),
            ],
            options={
                "db_table": "rollup_progress",
            },
        ),
        migrations.RunSQL(
            (SQL / "rollups.sql").read_text(), (SQL / "rollups.reverse.sql").read_text()
        ),
    ]
