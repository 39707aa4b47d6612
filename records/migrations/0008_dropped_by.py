"""Which operation dropped a claim, so that undoing it revives that one's claims and no other's."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("records", "0007_legal_holds"),
    ]

    operations = [
        migrations.AddField(
            model_name="claim",
            name="dropped_by",
            field=models.UUIDField(null=True),
        ),
    ]
