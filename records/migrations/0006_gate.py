"""A workspace's own gate rules, their replays, and how often each rule hit."""

from pathlib import Path

import django.db.models.deletion
import django.db.models.functions.datetime
from django.db import migrations, models

SQL = Path(__file__).resolve().parent.parent / "sql"
NOW = django.db.models.functions.datetime.Now()


def workspace() -> "models.ForeignKey[object, object]":
    return models.ForeignKey(
        db_index=False,
        on_delete=django.db.models.deletion.PROTECT,
        related_name="+",
        to="records.workspace",
    )


class Migration(migrations.Migration):
    dependencies = [("records", "0005_risk")]
    operations = [
        migrations.CreateModel(
            name="GateRuleset",
            fields=[
                ("id", models.UUIDField(primary_key=True, serialize=False)),
                ("number", models.IntegerField()),
                ("state", models.TextField(db_default="draft", default="draft")),
                ("revision", models.IntegerField(db_default=1, default=1)),
                ("rules", models.JSONField(default=list)),
                ("softened", models.JSONField(default=dict)),
                ("reason", models.TextField(db_default="", default="")),
                ("created_at", models.DateTimeField(db_default=NOW)),
                ("created_by", models.TextField()),
                ("changed_at", models.DateTimeField(db_default=NOW)),
                ("changed_by", models.TextField()),
                ("activated_at", models.DateTimeField(null=True)),
                ("activated_by", models.TextField(db_default="", default="")),
                ("retired_at", models.DateTimeField(null=True)),
                ("workspace", workspace()),
            ],
            options={"db_table": "gate_ruleset"},
        ),
        migrations.CreateModel(
            name="GateReplay",
            fields=[
                ("id", models.UUIDField(primary_key=True, serialize=False)),
                ("ruleset_id", models.UUIDField()),
                ("digest", models.TextField()),
                ("population", models.TextField()),
                ("state", models.TextField(db_default="waiting", default="waiting")),
                ("result", models.JSONField(default=dict)),
                ("started_at", models.DateTimeField(db_default=NOW)),
                ("started_by", models.TextField()),
                ("finished_at", models.DateTimeField(null=True)),
                ("workspace", workspace()),
            ],
            options={"db_table": "gate_replay"},
        ),
        migrations.RunSQL((SQL / "gate.sql").read_text(), (SQL / "gate.reverse.sql").read_text()),
    ]
