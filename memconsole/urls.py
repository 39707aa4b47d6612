"""Where requests go. Each application adds its own urls; nothing is decided here."""

from django.urls import include, path

from memconsole import health
from memconsole.api import api
from memconsole.metrics.page import show_metrics

urlpatterns = [
    path("healthz", health.alive, name="healthz"),
    path("readyz", health.ready, name="readyz"),
    path("metrics", show_metrics, name="metrics"),
    path("api/v1/", api.urls),
    path("", include("audits.urls")),
]

handler403 = "audits.views.errors.forbidden"
handler404 = "audits.views.errors.not_found"
handler500 = "audits.views.errors.broken"
