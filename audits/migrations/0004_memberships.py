"""Memberships, invitations, saved views, how the console looks to each person."""

import uuid
from pathlib import Path

import django.db.models.deletion
import django.db.models.functions.datetime
from django.conf import settings
from django.db import migrations, models

SQL = Path(__file__).resolve().parent.parent / "sql"


class Migration(migrations.Migration):
    dependencies = [("audits", "0003_trail"), ("records", "0003_jobs")]
    operations = [
        migrations.CreateModel(
            name="Invitation",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=uuid.uuid4, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("workspace_id", models.UUIDField()),
                ("digest", models.BinaryField(unique=True)),
                ("invited", models.TextField()),
                ("role", models.TextField()),
                (
                    "created_at",
                    models.DateTimeField(db_default=django.db.models.functions.datetime.Now()),
                ),
                ("created_by", models.TextField()),
                ("expires_at", models.DateTimeField()),
                ("accepted_at", models.DateTimeField(null=True)),
                ("accepted_by", models.TextField(db_default="", default="")),
                ("revoked_at", models.DateTimeField(null=True)),
            ],
            options={
                "db_table": "invitation",
            },
        ),
        migrations.CreateModel(
            name="LoginFailure",
            fields=[
                ("key", models.TextField(primary_key=True, serialize=False)),
                ("failures", models.IntegerField(default=0)),
                ("since", models.DateTimeField()),
            ],
            options={
                "db_table": "login_failure",
            },
        ),
        migrations.AddField(
            model_name="user",
            name="density",
            field=models.TextField(db_default="compact", default="compact"),
        ),
        migrations.AddField(
            model_name="user",
            name="remap",
            field=models.JSONField(blank=True, db_default={}, default=dict),
        ),
        migrations.AddField(
            model_name="user",
            name="shortcuts_on",
            field=models.BooleanField(db_default=True, default=True),
        ),
        migrations.AddField(
            model_name="user",
            name="theme",
            field=models.TextField(db_default="system", default="system"),
        ),
        migrations.CreateModel(
            name="Membership",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=uuid.uuid4, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("workspace_id", models.UUIDField()),
                ("role", models.TextField()),
                (
                    "created_at",
                    models.DateTimeField(db_default=django.db.models.functions.datetime.Now()),
                ),
                ("created_by", models.TextField(default="")),
                ("removed_at", models.DateTimeField(null=True)),
                (
                    "user",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "db_table": "membership",
            },
        ),
        migrations.CreateModel(
            name="SavedView",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=uuid.uuid4, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("workspace_id", models.UUIDField()),
                ("page", models.TextField()),
                ("name", models.TextField()),
                ("query", models.TextField()),
                (
                    "created_at",
                    models.DateTimeField(db_default=django.db.models.functions.datetime.Now()),
                ),
                (
                    "user",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "db_table": "saved_view",
            },
        ),
        migrations.RunSQL(
            (SQL / "memberships.sql").read_text(), (SQL / "memberships.reverse.sql").read_text()
        ),
    ]
