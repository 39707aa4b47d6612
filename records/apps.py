"""The application that holds what agents remember. Read ``write.py`` next."""

from django.apps import AppConfig


class RecordsConfig(AppConfig):
    """Name the application; its models live in ``models``."""

    name = "records"
    default_auto_field = "django.db.models.BigAutoField"
