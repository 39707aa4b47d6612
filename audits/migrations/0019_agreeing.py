"""Who may be the second person, and that what was asked for runs as it was asked."""

from pathlib import Path

from django.db import migrations, models

SQL = Path(__file__).resolve().parent.parent / "sql"


class Migration(migrations.Migration):
    dependencies = [
        ("audits", "0018_hold_operations"),
    ]

    operations = [
        migrations.RunSQL(
            (SQL / "agreeing.sql").read_text(),
            (SQL / "agreeing.reverse.sql").read_text(),
            state_operations=[
                migrations.AddField(
                    "membership", "changed_by", models.TextField(default="", db_default="")
                ),
                migrations.AddField("membership", "agrees_since", models.DateTimeField(null=True)),
                migrations.AddField(
                    "membership", "agrees_by", models.TextField(default="", db_default="")
                ),
                migrations.AddField("membership", "agreed_until", models.DateTimeField(null=True)),
                migrations.AddField(
                    "membership", "agreed_ended_by", models.TextField(default="", db_default="")
                ),
            ],
        ),
    ]
