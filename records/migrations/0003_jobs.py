"""What the jobs need to be incremental and safe to run twice."""

from pathlib import Path

from django.db import migrations, models

SQL = Path(__file__).resolve().parent.parent / "sql"


class Migration(migrations.Migration):
    dependencies = [("records", "0002_guarantees")]
    operations = [
        migrations.AddField("standing", "validity_next_at", models.DateTimeField(null=True)),
        migrations.AddField("standing", "age_next_at", models.DateTimeField(null=True)),
        migrations.AddField("source", "overdue_since", models.DateTimeField(null=True)),
        migrations.AddField("jobrun", "attempt", models.IntegerField(db_default=1, default=1)),
        migrations.AddField("jobrun", "requested_by", models.TextField(db_default="", default="")),
        migrations.RunSQL((SQL / "jobs.sql").read_text(), (SQL / "jobs.reverse.sql").read_text()),
    ]
