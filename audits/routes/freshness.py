"""Routes of what goes stale."""

from django.urls import URLPattern, path

from audits.views import freshness

routes: list[URLPattern] = [
    path("freshness", freshness.list_facts, name="freshness"),
    path("freshness/act", freshness.act_on_facts, name="freshness-act"),
]
