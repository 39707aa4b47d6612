"""What the first audits of a memory found."""

from pathlib import Path

import django.contrib.postgres.fields
import django.db.models.functions.datetime
from django.db import migrations, models

SQL = Path(__file__).resolve().parent.parent / "sql"


class Migration(migrations.Migration):
    dependencies = [("audits", "0011_measures")]
    operations = [
        migrations.CreateModel(
            name="FirstAudit",
            fields=[
                ("id", models.UUIDField(primary_key=True, serialize=False)),
                ("workspace_id", models.UUIDField()),
                (
                    "made_at",
                    models.DateTimeField(db_default=django.db.models.functions.datetime.Now()),
                ),
                ("made_by", models.TextField()),
                ("millis", models.IntegerField()),
                ("numbers", models.JSONField(default=dict)),
                (
                    "slots",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.UUIDField(), default=list, size=None
                    ),
                ),
            ],
            options={"db_table": "first_audit"},
        ),
        migrations.RunSQL(
            (SQL / "first_audit.sql").read_text(), (SQL / "first_audit.reverse.sql").read_text()
        ),
    ]
