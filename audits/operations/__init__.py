"""Bulk operations: scope, frozen preview, second person, batches, receipt, undo.

``scoping`` turns a scope into SQL, ``previewing`` freezes what would change,
``submitting`` queues it (or asks a second person), ``running`` is the job that
does it batch by batch through ``acting``, ``probing`` looks for what is left,
``receipts`` tells, ``reading`` is what pages show. What runs is exactly what
was previewed, or nothing does. See docs/response.md.
"""

from audits.domain.operations import (
    BULK_THRESHOLD,
    GROUPS,
    GROUPS_OF,
    OUTCOMES,
    Kind,
    State,
    needs_count,
    needs_second,
)
from audits.operations.previewing import list_displaced, preview, preview_undo, tick
from audits.operations.reading import (
    Drift,
    OperationFilter,
    acted_of,
    asked,
    drift,
    group_words,
    list_operations,
    list_targets,
    load,
    progress,
    reasons,
    recent_bulk_acts,
)
from audits.operations.receipts import derived_of, describe_receipt, fences_of
from audits.operations.refusing import Refused
from audits.operations.submitting import cancel, retry, settings_of, submit

__all__ = [
    "BULK_THRESHOLD",
    "GROUPS",
    "GROUPS_OF",
    "OUTCOMES",
    "Drift",
    "Kind",
    "OperationFilter",
    "Refused",
    "State",
    "acted_of",
    "asked",
    "cancel",
    "derived_of",
    "describe_receipt",
    "drift",
    "fences_of",
    "group_words",
    "list_displaced",
    "list_operations",
    "list_targets",
    "load",
    "needs_count",
    "needs_second",
    "preview",
    "preview_undo",
    "progress",
    "reasons",
    "recent_bulk_acts",
    "retry",
    "settings_of",
    "submit",
    "tick",
]
