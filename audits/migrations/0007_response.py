"""Incidents, operations and approvals; requests of data subjects; exports."""

from pathlib import Path

import django.db.models.functions.datetime
from django.db import migrations, models

SQL = Path(__file__).resolve().parent.parent / "sql"


class Migration(migrations.Migration):
    dependencies = [
        ("audits", "0006_review"),
        ("records", "0007_legal_holds"),
    ]

    operations = [
        migrations.CreateModel(
            name="Approval",
            fields=[
                ("id", models.UUIDField(primary_key=True, serialize=False)),
                ("workspace_id", models.UUIDField()),
                ("kind", models.TextField()),
                ("target_kind", models.TextField(db_default="", default="")),
                ("target_id", models.UUIDField(null=True)),
                ("summary", models.TextField()),
                ("payload", models.JSONField(default=dict)),
                ("reason", models.TextField(db_default="", default="")),
                ("state", models.TextField(db_default="waiting", default="waiting")),
                ("requested_by", models.TextField()),
                ("requested_by_id", models.UUIDField()),
                (
                    "requested_at",
                    models.DateTimeField(db_default=django.db.models.functions.datetime.Now()),
                ),
                ("expires_at", models.DateTimeField()),
                ("decided_by", models.TextField(db_default="", default="")),
                ("decided_by_id", models.UUIDField(null=True)),
                ("decided_at", models.DateTimeField(null=True)),
                ("decided_reason", models.TextField(db_default="", default="")),
                ("is_alone", models.BooleanField(db_default=False, default=False)),
            ],
            options={
                "db_table": "approval",
            },
        ),
        migrations.CreateModel(
            name="Export",
            fields=[
                ("id", models.UUIDField(primary_key=True, serialize=False)),
                ("workspace_id", models.UUIDField()),
                ("kind", models.TextField()),
                ("file_format", models.TextField()),
                ("query", models.TextField(db_default="", default="")),
                ("state", models.TextField(db_default="started", default="started")),
                ("rows", models.BigIntegerField(db_default=0, default=0)),
                ("size", models.BigIntegerField(db_default=0, default=0)),
                ("first", models.BigIntegerField(null=True)),
                ("last", models.BigIntegerField(null=True)),
                ("sha256", models.TextField(db_default="", default="")),
                ("manifest", models.JSONField(default=dict)),
                ("exported_by", models.TextField()),
                ("exported_by_id", models.UUIDField(null=True)),
                (
                    "started_at",
                    models.DateTimeField(db_default=django.db.models.functions.datetime.Now()),
                ),
                ("finished_at", models.DateTimeField(null=True)),
            ],
            options={
                "db_table": "export",
            },
        ),
        migrations.CreateModel(
            name="Incident",
            fields=[
                ("id", models.UUIDField(primary_key=True, serialize=False)),
                ("workspace_id", models.UUIDField()),
                ("number", models.IntegerField()),
                ("title", models.TextField()),
                ("severity", models.TextField(db_default="medium", default="medium")),
                ("state", models.TextField(db_default="open", default="open")),
                ("summary", models.TextField(db_default="", default="")),
                ("cause", models.TextField(db_default="", default="")),
                ("lessons", models.TextField(db_default="", default="")),
                ("owner_id", models.UUIDField(null=True)),
                ("owner", models.TextField(db_default="", default="")),
                ("opened_by", models.TextField()),
                (
                    "opened_at",
                    models.DateTimeField(db_default=django.db.models.functions.datetime.Now()),
                ),
                ("origin_kind", models.TextField(db_default="", default="")),
                ("origin_id", models.UUIDField(null=True)),
                ("acknowledged_at", models.DateTimeField(null=True)),
                ("acknowledged_by", models.TextField(db_default="", default="")),
                ("contained_at", models.DateTimeField(null=True)),
                ("evicted_at", models.DateTimeField(null=True)),
                ("closed_at", models.DateTimeField(null=True)),
                ("closed_by", models.TextField(db_default="", default="")),
                ("waived_reason", models.TextField(db_default="", default="")),
                ("merged_into", models.UUIDField(null=True)),
            ],
            options={
                "db_table": "incident",
            },
        ),
        migrations.CreateModel(
            name="IncidentNote",
            fields=[
                ("id", models.UUIDField(primary_key=True, serialize=False)),
                ("workspace_id", models.UUIDField()),
                ("incident_id", models.UUIDField()),
                ("user", models.TextField()),
                ("text", models.TextField()),
                ("is_pinned", models.BooleanField(db_default=False, default=False)),
                (
                    "written_at",
                    models.DateTimeField(db_default=django.db.models.functions.datetime.Now()),
                ),
            ],
            options={
                "db_table": "incident_note",
            },
        ),
        migrations.CreateModel(
            name="IncidentScope",
            fields=[
                ("id", models.UUIDField(primary_key=True, serialize=False)),
                ("workspace_id", models.UUIDField()),
                ("incident_id", models.UUIDField()),
                ("kind", models.TextField()),
                ("target_id", models.UUIDField(null=True)),
                ("text", models.TextField(db_default="", default="")),
                ("added_by", models.TextField()),
                (
                    "added_at",
                    models.DateTimeField(db_default=django.db.models.functions.datetime.Now()),
                ),
                ("removed_at", models.DateTimeField(null=True)),
            ],
            options={
                "db_table": "incident_scope",
            },
        ),
        migrations.CreateModel(
            name="IncidentTask",
            fields=[
                ("id", models.UUIDField(primary_key=True, serialize=False)),
                ("workspace_id", models.UUIDField()),
                ("incident_id", models.UUIDField()),
                ("title", models.TextField()),
                ("owner", models.TextField(db_default="", default="")),
                ("created_by", models.TextField()),
                (
                    "created_at",
                    models.DateTimeField(db_default=django.db.models.functions.datetime.Now()),
                ),
                ("done_at", models.DateTimeField(null=True)),
                ("done_by", models.TextField(db_default="", default="")),
            ],
            options={
                "db_table": "incident_task",
            },
        ),
        migrations.CreateModel(
            name="Operation",
            fields=[
                ("id", models.UUIDField(primary_key=True, serialize=False)),
                ("workspace_id", models.UUIDField()),
                ("kind", models.TextField()),
                ("state", models.TextField(db_default="preview", default="preview")),
                ("title", models.TextField(db_default="", default="")),
                ("scope", models.JSONField(default=dict)),
                ("options", models.JSONField(default=dict)),
                ("digest", models.TextField(db_default="", default="")),
                ("groups", models.JSONField(default=dict)),
                ("total", models.IntegerField(db_default=0, default=0)),
                ("incident_id", models.UUIDField(null=True)),
                ("approval_id", models.UUIDField(null=True)),
                ("undoes", models.UUIDField(null=True)),
                ("reason", models.TextField(db_default="", default="")),
                ("note", models.TextField(db_default="", default="")),
                ("requested_by", models.TextField()),
                ("requested_by_id", models.UUIDField(null=True)),
                (
                    "created_at",
                    models.DateTimeField(db_default=django.db.models.functions.datetime.Now()),
                ),
                ("requested_at", models.DateTimeField(null=True)),
                ("started_at", models.DateTimeField(null=True)),
                ("finished_at", models.DateTimeField(null=True)),
                ("cancelled_by", models.TextField(db_default="", default="")),
                ("cancel_asked_at", models.DateTimeField(null=True)),
                ("changed", models.IntegerField(db_default=0, default=0)),
                ("restored", models.IntegerField(db_default=0, default=0)),
                ("dropped_claims", models.IntegerField(db_default=0, default=0)),
                ("restored_claims", models.IntegerField(db_default=0, default=0)),
                ("skipped", models.IntegerField(db_default=0, default=0)),
                ("failed", models.IntegerField(db_default=0, default=0)),
                ("receipt", models.JSONField(default=dict)),
                ("error", models.TextField(db_default="", default="")),
                ("first_event", models.BigIntegerField(null=True)),
                ("last_event", models.BigIntegerField(null=True)),
                ("undo_until", models.DateTimeField(null=True)),
            ],
            options={
                "db_table": "operation",
            },
        ),
        migrations.CreateModel(
            name="OperationTarget",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "operation_id",
                        "record_id",
                        blank=True,
                        editable=False,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                ("operation_id", models.UUIDField()),
                ("record_id", models.UUIDField()),
                ("workspace_id", models.UUIDField()),
                ("partition_id", models.UUIDField()),
                ("version", models.IntegerField()),
                ("group", models.TextField(db_column="grp")),
                ("is_ticked", models.BooleanField(db_default=True, default=True)),
                ("outcome", models.TextField(db_default="", default="")),
                ("why", models.TextField(db_default="", default="")),
            ],
            options={
                "db_table": "operation_target",
            },
        ),
        migrations.CreateModel(
            name="SessionNote",
            fields=[
                ("id", models.UUIDField(primary_key=True, serialize=False)),
                ("workspace_id", models.UUIDField()),
                ("partition_id", models.UUIDField()),
                ("session_id", models.UUIDField()),
                ("user", models.TextField()),
                ("text", models.TextField()),
                (
                    "written_at",
                    models.DateTimeField(db_default=django.db.models.functions.datetime.Now()),
                ),
            ],
            options={
                "db_table": "session_note",
            },
        ),
        migrations.CreateModel(
            name="SubjectRequest",
            fields=[
                ("id", models.UUIDField(primary_key=True, serialize=False)),
                ("workspace_id", models.UUIDField()),
                ("kind", models.TextField()),
                ("state", models.TextField(db_default="preview", default="preview")),
                ("partition_id", models.UUIDField(null=True)),
                ("partition_name", models.TextField(db_default="", default="")),
                ("subject", models.TextField(db_default="", default="")),
                ("subject_digest", models.TextField(db_default="", default="")),
                ("reason", models.TextField(db_default="", default="")),
                ("operation_id", models.UUIDField(null=True)),
                ("approval_id", models.UUIDField(null=True)),
                ("counts", models.JSONField(default=dict)),
                ("certificate", models.JSONField(default=dict)),
                ("requested_by", models.TextField()),
                ("requested_by_id", models.UUIDField()),
                (
                    "created_at",
                    models.DateTimeField(db_default=django.db.models.functions.datetime.Now()),
                ),
                ("finished_at", models.DateTimeField(null=True)),
            ],
            options={
                "db_table": "subject_request",
            },
        ),
        migrations.RunSQL(
            (SQL / "response.sql").read_text(), (SQL / "response.reverse.sql").read_text()
        ),
    ]
