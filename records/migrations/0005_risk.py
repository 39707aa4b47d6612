"""Held facts carry their risk, which orders the review queue."""

from pathlib import Path

from django.db import migrations, models

SQL = Path(__file__).resolve().parent.parent / "sql"


class Migration(migrations.Migration):
    dependencies = [("records", "0004_imports")]
    operations = [
        migrations.AddField(
            model_name="memoryrecord",
            name="risk",
            field=models.SmallIntegerField(db_default=0, default=0),
        ),
        migrations.RunSQL((SQL / "queue.sql").read_text(), (SQL / "queue.reverse.sql").read_text()),
    ]
