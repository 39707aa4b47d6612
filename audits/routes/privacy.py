"""Routes of requests of data subjects, legal holds, and memory as of a moment."""

from django.urls import URLPattern, path

from audits.views import as_of, holds, subjects

routes: list[URLPattern] = [
    path("as-of", as_of.show_moment, name="as-of"),
    path("as-of/export", as_of.export_moment, name="as-of-export"),
    path("holds", holds.list_holds, name="legal-holds"),
    path("holds/new", holds.place_hold, name="legal-hold-new"),
    path("holds/<uuid:hold_id>/release", holds.release_hold, name="legal-hold-release"),
    path("subjects", subjects.list_requests, name="subjects"),
    path("subjects/find", subjects.find, name="subject-find"),
    path("subjects/new", subjects.make_request, name="subject-new"),
    path("subjects/<uuid:request_id>", subjects.show_request, name="subject"),
    path("subjects/<uuid:request_id>/preview", subjects.preview_again, name="subject-preview"),
    path("subjects/<uuid:request_id>/bundle", subjects.send_bundle, name="subject-bundle"),
    path(
        "subjects/<uuid:request_id>/certificate.<str:form>",
        subjects.send_certificate,
        name="subject-certificate",
    ),
]
