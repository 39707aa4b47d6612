"""Seals over the events: who may add them, and that nobody changes them."""

from pathlib import Path

import django.db.models.functions.datetime
from django.db import migrations, models

import records.models.fields

SQL = Path(__file__).resolve().parent.parent / "sql"


class Migration(migrations.Migration):
    dependencies = [("audits", "0002_people_grants"), ("records", "0003_jobs")]
    operations = [
        migrations.CreateModel(
            "Seal",
            [
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "workspace_id",
                        "number",
                        blank=True,
                        editable=False,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                ("workspace_id", models.UUIDField()),
                ("number", models.BigIntegerField()),
                ("first", models.BigIntegerField()),
                ("last", models.BigIntegerField()),
                (
                    "sealed_at",
                    models.DateTimeField(db_default=django.db.models.functions.datetime.Now()),
                ),
                ("previous", models.BinaryField()),
                ("root", models.BinaryField()),
                ("key_id", models.TextField()),
                ("signature", models.BinaryField()),
                ("horizon", records.models.fields.TransactionId()),
                ("resume_id", models.BigIntegerField()),
                ("cluster", models.BigIntegerField()),
            ],
            options={"db_table": "seal"},
        ),
        migrations.CreateModel(
            "SealedEvent",
            [
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "workspace_id",
                        "position",
                        blank=True,
                        editable=False,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                ("workspace_id", models.UUIDField()),
                ("position", models.BigIntegerField()),
                ("event_id", models.BigIntegerField(unique=True)),
                ("leaf", models.BinaryField()),
            ],
            options={"db_table": "sealed_event"},
        ),
        migrations.RunSQL((SQL / "trail.sql").read_text(), (SQL / "trail.reverse.sql").read_text()),
    ]
