"""``/metrics``: what Prometheus reads. Who may is ``access.py``'s."""

from __future__ import annotations

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest

from memconsole.metrics import processes, standing
from memconsole.metrics.access import may_scrape

CLOSED = (
    "Metrics are read from this machine, through no proxy, or with the scrape key"
    " of MEMCONSOLE_METRICS_KEY as a bearer token.\n"
)


@never_cache
@require_safe
def show_metrics(request: HttpRequest) -> HttpResponse:
    """Answer in the text format of Prometheus, or 403 (401 where a key is set)."""
    if not may_scrape(request):
        is_keyed = bool(settings.METRICS_KEY)
        response = HttpResponse(
            CLOSED, status=401 if is_keyed else 403, content_type="text/plain; charset=utf-8"
        )
        if is_keyed:
            response.headers["WWW-Authenticate"] = 'Bearer realm="metrics"'
        return response
    with processes.everywhere() as counted:
        body = generate_latest(counted)
    return HttpResponse(
        body + generate_latest(standing.registry()), content_type=CONTENT_TYPE_LATEST
    )
