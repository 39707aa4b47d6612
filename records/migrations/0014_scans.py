"""Scans of stored facts by the gate's rules: their ranges and their hits."""

from pathlib import Path

import django.contrib.postgres.fields
import django.db.models.functions.datetime
from django.db import migrations, models

SQL = Path(__file__).resolve().parent.parent / "sql"


class Migration(migrations.Migration):
    dependencies = [
        ("records", "0013_session_names"),
    ]

    operations = [
        migrations.CreateModel(
            name="Scan",
            fields=[
                ("id", models.UUIDField(primary_key=True, serialize=False)),
                ("workspace_id", models.UUIDField()),
                ("number", models.IntegerField()),
                ("mode", models.TextField(db_default="dry", default="dry")),
                ("rules_kind", models.TextField()),
                ("ruleset", models.TextField()),
                ("ruleset_number", models.IntegerField(db_default=0, default=0)),
                ("rules", models.JSONField(default=list)),
                ("softened", models.JSONField(default=dict)),
                ("scope", models.JSONField(default=dict)),
                ("scope_key", models.TextField(db_default="", default="")),
                ("scope_title", models.TextField(db_default="", default="")),
                ("previous_id", models.UUIDField(null=True)),
                ("state", models.TextField(db_default="running", default="running")),
                ("total", models.IntegerField(db_default=0, default=0)),
                ("checked", models.IntegerField(db_default=0, default=0)),
                ("new", models.IntegerField(db_default=0, default=0)),
                ("known", models.IntegerField(db_default=0, default=0)),
                ("cleared", models.IntegerField(db_default=0, default=0)),
                ("approved", models.IntegerField(db_default=0, default=0)),
                ("held", models.IntegerField(db_default=0, default=0)),
                ("skipped", models.IntegerField(db_default=0, default=0)),
                ("gone", models.IntegerField(db_default=0, default=0)),
                ("failed", models.IntegerField(db_default=0, default=0)),
                ("busy_ms", models.BigIntegerField(db_default=0, default=0)),
                ("result", models.JSONField(default=dict)),
                ("started_by", models.TextField()),
                (
                    "started_at",
                    models.DateTimeField(db_default=django.db.models.functions.datetime.Now()),
                ),
                ("paused_at", models.DateTimeField(null=True)),
                ("paused_ms", models.BigIntegerField(db_default=0, default=0)),
                ("finished_at", models.DateTimeField(null=True)),
                ("error", models.TextField(db_default="", default="")),
            ],
            options={
                "db_table": "scan",
            },
        ),
        migrations.CreateModel(
            name="ScanHit",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "scan_id",
                        "record_id",
                        blank=True,
                        editable=False,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                ("scan_id", models.UUIDField()),
                ("record_id", models.UUIDField()),
                ("workspace_id", models.UUIDField()),
                ("partition_id", models.UUIDField()),
                ("version", models.IntegerField()),
                ("kind", models.TextField()),
                ("stood", models.TextField()),
                ("outcome", models.TextField()),
                ("severity", models.TextField(db_default="", default="")),
                (
                    "rules",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.TextField(), size=None
                    ),
                ),
                ("is_approved", models.BooleanField(db_default=False, default=False)),
                ("is_held", models.BooleanField(db_default=False, default=False)),
            ],
            options={
                "db_table": "scan_hit",
            },
        ),
        migrations.CreateModel(
            name="ScanRange",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "scan_id",
                        "place",
                        blank=True,
                        editable=False,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                ("scan_id", models.UUIDField()),
                ("place", models.IntegerField()),
                ("workspace_id", models.UUIDField()),
                (
                    "ids",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.UUIDField(), size=None
                    ),
                ),
                ("facts", models.IntegerField()),
                ("checked", models.IntegerField(db_default=0, default=0)),
                ("new", models.IntegerField(db_default=0, default=0)),
                ("known", models.IntegerField(db_default=0, default=0)),
                ("cleared", models.IntegerField(db_default=0, default=0)),
                ("approved", models.IntegerField(db_default=0, default=0)),
                ("held", models.IntegerField(db_default=0, default=0)),
                ("skipped", models.IntegerField(db_default=0, default=0)),
                ("gone", models.IntegerField(db_default=0, default=0)),
                ("failed", models.IntegerField(db_default=0, default=0)),
                ("ms", models.IntegerField(db_default=0, default=0)),
                ("worker", models.TextField(db_default="", default="")),
                ("attempts", models.IntegerField(db_default=0, default=0)),
                ("done_at", models.DateTimeField(null=True)),
            ],
            options={
                "db_table": "scan_range",
            },
        ),
        migrations.RunSQL((SQL / "scans.sql").read_text(), (SQL / "scans.reverse.sql").read_text()),
    ]
