"""Indexes over what is held: by reason, and by how long."""

from pathlib import Path

from django.db import migrations

SQL = Path(__file__).resolve().parent.parent / "sql"


class Migration(migrations.Migration):
    dependencies = [("records", "0010_erasure")]
    operations = [
        migrations.RunSQL((SQL / "held.sql").read_text(), (SQL / "held.reverse.sql").read_text()),
    ]
