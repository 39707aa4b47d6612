"""What the write path notes of each session; the answer begins with the writes after it."""

from pathlib import Path

import django.contrib.postgres.fields
import django.db.models.deletion
from django.db import migrations, models

SQL = Path(__file__).resolve().parent.parent / "sql"


def _count() -> models.IntegerField:
    return models.IntegerField(db_default=0, default=0)


def _sample() -> django.contrib.postgres.fields.ArrayField:
    return django.contrib.postgres.fields.ArrayField(
        base_field=models.IntegerField(), default=list, size=None
    )


class Migration(migrations.Migration):
    dependencies = [("records", "0008_dropped_by")]
    operations = [
        migrations.CreateModel(
            name="SessionSignals",
            fields=[
                ("session_id", models.UUIDField(primary_key=True, serialize=False)),
                ("made", _count()),
                ("derived", _count()),
                ("stopped", _count()),
                ("near", _count()),
                ("fresh", _count()),
                ("unknown", _count()),
                ("subjects", _sample()),
                ("predicates", _sample()),
                ("stated", _sample()),
                ("changed_at", models.DateTimeField()),
                (
                    "partition",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="records.partition",
                    ),
                ),
                (
                    "workspace",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="records.workspace",
                    ),
                ),
            ],
            options={"db_table": "session_signals"},
        ),
        migrations.RunSQL(
            (SQL / "signals.sql").read_text(), (SQL / "signals.reverse.sql").read_text()
        ),
    ]
