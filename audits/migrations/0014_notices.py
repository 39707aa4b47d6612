"""Who is told of what, by which way, and what became of each notice."""

from pathlib import Path

import django.db.models.functions.datetime
from django.db import migrations, models

SQL = Path(__file__).resolve().parent.parent / "sql"


class Migration(migrations.Migration):
    dependencies = [
        ("audits", "0013_erasure_words"),
    ]

    operations = [
        migrations.CreateModel(
            name="Notice",
            fields=[
                ("id", models.UUIDField(primary_key=True, serialize=False)),
                ("workspace_id", models.UUIDField()),
                ("channel_id", models.UUIDField()),
                ("rule_id", models.UUIDField(null=True)),
                ("kind", models.TextField()),
                ("target_kind", models.TextField(db_default="", default="")),
                ("target", models.TextField(db_default="", default="")),
                ("numbers", models.JSONField(default=dict)),
                ("more", models.IntegerField(db_default=0, default=0)),
                ("is_test", models.BooleanField(db_default=False, default=False)),
                (
                    "created_at",
                    models.DateTimeField(db_default=django.db.models.functions.datetime.Now()),
                ),
                ("state", models.TextField(db_default="waiting", default="waiting")),
                ("attempts", models.IntegerField(db_default=0, default=0)),
                (
                    "next_at",
                    models.DateTimeField(db_default=django.db.models.functions.datetime.Now()),
                ),
                ("claimed_at", models.DateTimeField(null=True)),
                ("sent_at", models.DateTimeField(null=True)),
                ("fault", models.TextField(db_default="", default="")),
            ],
            options={
                "db_table": "notice",
            },
        ),
        migrations.CreateModel(
            name="NoticeAttempt",
            fields=[
                ("id", models.UUIDField(primary_key=True, serialize=False)),
                ("workspace_id", models.UUIDField()),
                ("notice_id", models.UUIDField()),
                ("at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ("millis", models.IntegerField()),
                ("fault", models.TextField(db_default="", default="")),
            ],
            options={
                "db_table": "notice_attempt",
            },
        ),
        migrations.CreateModel(
            name="NoticeChannel",
            fields=[
                ("id", models.UUIDField(primary_key=True, serialize=False)),
                ("workspace_id", models.UUIDField()),
                ("name", models.TextField()),
                ("kind", models.TextField()),
                ("place", models.TextField()),
                ("secret", models.BinaryField()),
                ("is_active", models.BooleanField(db_default=True, default=True)),
                ("created_by", models.TextField()),
                (
                    "created_at",
                    models.DateTimeField(db_default=django.db.models.functions.datetime.Now()),
                ),
                ("removed_at", models.DateTimeField(null=True)),
            ],
            options={
                "db_table": "notice_channel",
            },
        ),
        migrations.CreateModel(
            name="NoticeQuiet",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "rule_id",
                        "target",
                        blank=True,
                        editable=False,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                ("rule_id", models.UUIDField()),
                ("target", models.TextField()),
                ("workspace_id", models.UUIDField()),
                ("until", models.DateTimeField(null=True)),
                ("kept", models.IntegerField(db_default=0, default=0)),
            ],
            options={
                "db_table": "notice_quiet",
            },
        ),
        migrations.CreateModel(
            name="NoticeRule",
            fields=[
                ("id", models.UUIDField(primary_key=True, serialize=False)),
                ("workspace_id", models.UUIDField()),
                ("channel_id", models.UUIDField()),
                ("kind", models.TextField()),
                ("threshold", models.FloatField(null=True)),
                ("quiet_minutes", models.IntegerField()),
                ("is_active", models.BooleanField(db_default=True, default=True)),
                ("created_by", models.TextField()),
                (
                    "created_at",
                    models.DateTimeField(db_default=django.db.models.functions.datetime.Now()),
                ),
                ("removed_at", models.DateTimeField(null=True)),
            ],
            options={
                "db_table": "notice_rule",
            },
        ),
        migrations.RunSQL(
            (SQL / "notices.sql").read_text(), (SQL / "notices.reverse.sql").read_text()
        ),
    ]
