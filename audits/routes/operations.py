"""Routes of operations and approvals."""

from django.urls import URLPattern, path

from audits.views import approvals, operation_acts, operations, thresholds

routes: list[URLPattern] = [
    path("operations", operations.list_operations, name="operations"),
    path("operations/new", operations.new_operation, name="operation-new"),
    path("operations/<uuid:operation_id>", operations.show_operation, name="operation"),
    path(
        "operations/<uuid:operation_id>/progress",
        operations.show_progress,
        name="operation-progress",
    ),
    path("operations/<uuid:operation_id>/rows", operations.show_rows, name="operation-rows"),
    path("operations/<uuid:operation_id>/drift", operations.show_drift, name="operation-drift"),
    path(
        "operations/<uuid:operation_id>/exposure",
        operations.show_exposure,
        name="operation-exposure",
    ),
    path(
        "operations/<uuid:operation_id>/receipt",
        operation_acts.download_receipt,
        name="operation-receipt",
    ),
    path("operations/<uuid:operation_id>/tick", operation_acts.tick, name="operation-tick"),
    path(
        "operations/<uuid:operation_id>/again",
        operation_acts.preview_again,
        name="operation-again",
    ),
    path("operations/<uuid:operation_id>/submit", operation_acts.submit, name="operation-submit"),
    path("operations/<uuid:operation_id>/cancel", operation_acts.cancel, name="operation-cancel"),
    path("operations/<uuid:operation_id>/retry", operation_acts.retry, name="operation-retry"),
    path("operations/<uuid:operation_id>/undo", operation_acts.undo, name="operation-undo"),
    path("operations/<uuid:operation_id>/seen", operation_acts.dismiss, name="operation-seen"),
    path("approvals", approvals.list_approvals, name="approvals"),
    path("approvals/<uuid:approval_id>", approvals.show_approval, name="approval"),
    path("approvals/<uuid:approval_id>/decide", approvals.decide, name="approval-decide"),
    path("approvals/<uuid:approval_id>/withdraw", approvals.withdraw, name="approval-withdraw"),
    path("four-eyes", thresholds.show_thresholds, name="four-eyes"),
    path("four-eyes/change", thresholds.change_thresholds, name="four-eyes-change"),
]
