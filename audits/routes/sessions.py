"""Routes of sessions and sources: which looks wrong, what it wrote, how far it went."""

from django.urls import URLPattern, path

from audits.views import session_acts, sessions

routes: list[URLPattern] = [
    path("sessions", sessions.list_sessions, name="sessions"),
    path("sessions/sample", sessions.sample_sessions, name="sessions-sample"),
    path("sessions/<uuid:session_id>", sessions.show_session, name="session"),
    path("sessions/<uuid:session_id>/timeline", sessions.show_timeline, name="session-timeline"),
    path(
        "sessions/<uuid:session_id>/suspend",
        session_acts.contain("suspend"),
        name="session-suspend",
    ),
    path(
        "sessions/<uuid:session_id>/release",
        session_acts.contain("release"),
        name="session-release",
    ),
    path("sessions/<uuid:session_id>/evict", session_acts.evict, name="session-evict"),
    path("sessions/<uuid:session_id>/restore", session_acts.restore, name="session-restore"),
]
