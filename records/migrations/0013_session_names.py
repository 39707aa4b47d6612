"""Sessions by their names, in whatever partition."""

from pathlib import Path

from django.db import migrations

SQL = Path(__file__).resolve().parent.parent / "sql"


class Migration(migrations.Migration):
    dependencies = [("records", "0012_fence_tried")]
    operations = [
        migrations.RunSQL(
            (SQL / "session_names.sql").read_text(), (SQL / "session_names.reverse.sql").read_text()
        )
    ]
