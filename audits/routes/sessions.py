"""Routes of sessions and sources: which looks wrong, what it wrote, how far it went."""

from django.urls import URLPattern, path

from audits.views import session_acts, session_parts, sessions, source_runs, sources

routes: list[URLPattern] = [
    path("sessions", sessions.list_sessions, name="sessions"),
    path("sessions/sample", sessions.sample_sessions, name="sessions-sample"),
    path("sessions/<uuid:session_id>", sessions.show_session, name="session"),
    path("sessions/<uuid:session_id>/timeline", sessions.show_timeline, name="session-timeline"),
    path("sessions/<uuid:session_id>/verdict", sessions.show_verdict, name="session-verdict"),
    path(
        "sessions/<uuid:session_id>/neighbours",
        session_parts.show_neighbours,
        name="session-neighbours",
    ),
    path("sessions/<uuid:session_id>/notes", session_parts.show_notes, name="session-notes"),
    path("sessions/<uuid:session_id>/notes/new", session_parts.add_note, name="session-note"),
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
    path("sessions/<uuid:session_id>/undo", session_acts.undo, name="session-undo"),
    path("sources", sources.list_sources, name="sources"),
    path("sources/<uuid:source_id>", sources.show_source, name="source"),
    path("sources/runs/<uuid:run_id>", source_runs.show_run, name="source-run"),
    path(
        "sources/<uuid:source_id>/suspend",
        sources.contain(sources.SUSPEND),
        name="source-suspend",
    ),
    path(
        "sources/<uuid:source_id>/release",
        sources.contain(sources.RELEASE),
        name="source-release",
    ),
]
