"""How far each import of a file got."""

from pathlib import Path

import django.db.models.deletion
import django.db.models.functions.datetime
from django.db import migrations, models

SQL = Path(__file__).resolve().parent.parent / "sql"
NOW = django.db.models.functions.datetime.Now()


class Migration(migrations.Migration):
    dependencies = [("records", "0003_jobs")]
    operations = [
        migrations.CreateModel(
            name="ImportRun",
            fields=[
                ("id", models.UUIDField(primary_key=True, serialize=False)),
                ("run_id", models.TextField()),
                ("name", models.TextField()),
                ("options", models.JSONField(default=dict)),
                ("position", models.BigIntegerField(db_default=0, default=0)),
                ("line", models.BigIntegerField(db_default=0, default=0)),
                ("digest", models.BinaryField(default=b"")),
                ("errors_path", models.TextField(db_default="", default="")),
                ("errors_size", models.BigIntegerField(db_default=0, default=0)),
                ("counts", models.JSONField(default=dict)),
                ("started_by", models.TextField(db_default="", default="")),
                ("started_at", models.DateTimeField(db_default=NOW)),
                ("moved_at", models.DateTimeField(db_default=NOW)),
                ("finished_at", models.DateTimeField(null=True)),
                (
                    "workspace",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="records.workspace",
                    ),
                ),
            ],
            options={"db_table": "import_run"},
        ),
        migrations.RunSQL(
            (SQL / "imports.sql").read_text(), (SQL / "imports.reverse.sql").read_text()
        ),
    ]
