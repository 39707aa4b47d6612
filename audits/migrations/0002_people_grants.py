"""What the application's role may do with accounts."""

from pathlib import Path

from django.db import migrations

SQL = Path(__file__).resolve().parent.parent / "sql"


class Migration(migrations.Migration):
    dependencies = [("audits", "0001_people")]
    operations = [
        migrations.RunSQL(
            (SQL / "people.sql").read_text(), (SQL / "people.reverse.sql").read_text()
        )
    ]
