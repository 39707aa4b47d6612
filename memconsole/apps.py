"""The project as an application: it makes the Celery application the current one."""

from django.apps import AppConfig


class MemConsoleConfig(AppConfig):
    """Bind ``shared_task`` of every application to our Celery application."""

    name = "memconsole"

    def ready(self) -> None:
        """Import the Celery application in whatever process runs Django; trace where asked to."""
        from memconsole import celery, watching  # noqa: F401

        watching.switch_on()
