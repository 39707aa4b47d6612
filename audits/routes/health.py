"""Routes of the passes that look for what is wrong: the first audit and what follows from it."""

from django.urls import URLPattern, path

from audits.views import first_audit, verification

routes: list[URLPattern] = [
    path("first-audit", first_audit.show_audit, name="first-audit"),
    path("first-audit/start", first_audit.start_audit, name="first-audit-start"),
    path(
        "first-audit/contradictions",
        first_audit.list_contradictions,
        name="first-audit-contradictions",
    ),
    path("first-audit/predicates", first_audit.list_predicates, name="first-audit-predicates"),
    path("verification", verification.list_batches, name="verification"),
    path("verification/new", verification.new_batch, name="verification-new"),
    path("verification/undo", verification.undo, name="verification-undo"),
    path("verification/<uuid:batch_id>", verification.show_batch, name="verification-batch"),
    path("verification/<uuid:batch_id>/next", verification.take_next, name="verification-next"),
    path("verification/<uuid:batch_id>/close", verification.close, name="verification-close"),
    path("verification/facts/<uuid:item_id>", verification.show_item, name="verification-item"),
    path(
        "verification/facts/<uuid:item_id>/answer",
        verification.give_verdict,
        name="verification-answer",
    ),
    path(
        "verification/facts/<uuid:item_id>/settle", verification.settle, name="verification-settle"
    ),
]
