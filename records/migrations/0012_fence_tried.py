"""Fences that were tried, the latest first: a receipt asks after its own each time it is read."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [
        ("records", "0011_held"),
    ]

    operations = [
        migrations.RunSQL(
            """CREATE INDEX fence_tried ON fence (workspace_id, last_attempt_at)
                   INCLUDE (partition_id, record_id) WHERE attempts > 0 AND record_id IS NOT NULL""",
            "DROP INDEX fence_tried",
        ),
    ]
