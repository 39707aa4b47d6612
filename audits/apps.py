"""The application of the people who look after memories. Read ``models.py`` next."""

from django.apps import AppConfig


class AuditsConfig(AppConfig):
    """Name the application."""

    name = "audits"
    default_auto_field = "django.db.models.BigAutoField"
