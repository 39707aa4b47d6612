"""The review queue's state: leases and snoozes, decisions, notes."""

from pathlib import Path

import django.db.models.functions.datetime
from django.db import migrations, models

SQL = Path(__file__).resolve().parent.parent / "sql"
NOW = django.db.models.functions.datetime.Now()


class Migration(migrations.Migration):
    dependencies = [("audits", "0005_reads"), ("records", "0005_risk")]
    operations = [
        migrations.CreateModel(
            name="ReviewItem",
            fields=[
                ("record_id", models.UUIDField(primary_key=True, serialize=False)),
                ("workspace_id", models.UUIDField()),
                ("partition_id", models.UUIDField()),
                ("lease_user_id", models.UUIDField(null=True)),
                ("lease_user", models.TextField(db_default="", default="")),
                ("lease_token", models.UUIDField(null=True)),
                ("lease_expires_at", models.DateTimeField(null=True)),
                ("snoozed_until", models.DateTimeField(null=True)),
                ("snoozed_until_served", models.BooleanField(db_default=False, default=False)),
                ("snoozed_at", models.DateTimeField(null=True)),
                ("snoozed_by", models.TextField(db_default="", default="")),
            ],
            options={"db_table": "review_item"},
        ),
        migrations.CreateModel(
            name="ReviewDecision",
            fields=[
                ("id", models.UUIDField(primary_key=True, serialize=False)),
                ("workspace_id", models.UUIDField()),
                ("partition_id", models.UUIDField()),
                ("record_id", models.UUIDField()),
                ("user_id", models.UUIDField()),
                ("user", models.TextField()),
                ("verb", models.TextField()),
                ("reason", models.TextField(db_default="", default="")),
                ("note", models.TextField(db_default="", default="")),
                ("idempotency_key", models.TextField()),
                ("version", models.IntegerField()),
                ("answer", models.JSONField(default=dict)),
                ("decided_at", models.DateTimeField(db_default=NOW)),
                ("undone_at", models.DateTimeField(null=True)),
            ],
            options={"db_table": "review_decision"},
        ),
        migrations.CreateModel(
            name="ReviewNote",
            fields=[
                ("id", models.UUIDField(primary_key=True, serialize=False)),
                ("workspace_id", models.UUIDField()),
                ("partition_id", models.UUIDField()),
                ("record_id", models.UUIDField()),
                ("user", models.TextField()),
                ("text", models.TextField()),
                ("written_at", models.DateTimeField(db_default=NOW)),
            ],
            options={"db_table": "review_note"},
        ),
        migrations.RunSQL(
            (SQL / "review.sql").read_text(), (SQL / "review.reverse.sql").read_text()
        ),
    ]
