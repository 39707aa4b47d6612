"""Routes of the blast radius: exposure of sessions and records, and single recalls."""

from django.urls import URLPattern, path

from audits.views import radius, recalls

SUBJECTS = (("session", radius.SESSION), ("record", radius.RECORD))

routes: list[URLPattern] = [
    path("recalls/<uuid:recall_id>", recalls.show_recall, name="recall"),
    path(
        "sessions/<uuid:session_id>/exposure",
        radius.show_session_exposure,
        name="session-exposure",
    ),
    path("records/<uuid:record_id>/exposure", radius.show_record_exposure, name="record-exposure"),
    path(
        "sessions/<uuid:session_id>/exposed/chart",
        radius.show_session_chart,
        name="session-exposed-chart",
    ),
    *(
        path(f"{name}s/<uuid:{name}_id>/{place}", view(subject), name=f"{name}-{page}")
        for name, subject in SUBJECTS
        for place, page, view in (
            ("exposed", "exposed", radius.exposed),
            ("exposed/export", "exposed-export", radius.export),
            ("derived", "derived", radius.derived),
        )
    ),
]
