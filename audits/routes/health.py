"""Routes of the passes that look for what is wrong: the first audit and what follows from it."""

from django.urls import URLPattern, path

from audits.views import first_audit

routes: list[URLPattern] = [
    path("first-audit", first_audit.show_audit, name="first-audit"),
    path("first-audit/start", first_audit.start_audit, name="first-audit-start"),
    path(
        "first-audit/contradictions",
        first_audit.list_contradictions,
        name="first-audit-contradictions",
    ),
    path("first-audit/predicates", first_audit.list_predicates, name="first-audit-predicates"),
]
