"""How often facts are seen again, and which have been silent for longer than usual."""

from pathlib import Path

from django.db import migrations, models

SQL = Path(__file__).resolve().parent.parent / "sql"


class Migration(migrations.Migration):
    dependencies = [
        ("audits", "0015_sampling"),
    ]

    operations = [
        migrations.CreateModel(
            name="PredicateHabit",
            fields=[
                ("id", models.UUIDField(primary_key=True, serialize=False)),
                ("workspace_id", models.UUIDField()),
                ("predicate", models.TextField()),
                ("facts", models.IntegerField()),
                ("usual_days", models.FloatField()),
                ("late_days", models.FloatField()),
            ],
            options={
                "db_table": "predicate_habit",
            },
        ),
        migrations.CreateModel(
            name="UnseenFact",
            fields=[
                ("record_id", models.UUIDField(primary_key=True, serialize=False)),
                ("workspace_id", models.UUIDField()),
                ("partition_id", models.UUIDField()),
                ("predicate", models.TextField()),
                ("last_seen", models.DateTimeField()),
            ],
            options={
                "db_table": "unseen_fact",
            },
        ),
        migrations.RunSQL(
            (SQL / "freshness.sql").read_text(), (SQL / "freshness.reverse.sql").read_text()
        ),
    ]
