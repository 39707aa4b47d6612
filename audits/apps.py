"""The application of the people who look after memories. Read ``models.py`` next."""

from django.apps import AppConfig


class AuditsConfig(AppConfig):
    """Name the application, and let erasures reach what people wrote."""

    name = "audits"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Register what has to happen when a fact is erased, or a second person agrees."""
        from audits import (  # noqa: F401 - they register themselves with the approvals
            hold_release,
            operations,
        )
        from audits.notices.raising import on_events
        from audits.quotes import destroy_quotes
        from records.erasing import on_erasing
        from records.events import listen

        on_erasing(destroy_quotes)
        listen(on_events)
