"""Routes of what goes stale, and of how a record's weight went."""

from django.urls import URLPattern, path

from audits.views import freshness, record

routes: list[URLPattern] = [
    path("freshness", freshness.list_facts, name="freshness"),
    path("records/<uuid:record_id>/factors", record.show_factors, name="record-factors"),
    path("freshness/act", freshness.act_on_facts, name="freshness-act"),
]
