"""Every request, measured by its route's template and traced where tracing is on.

Owns which words become labels: the template (``w/<str:workspace>/records``),
never the path, so that a thousand workspaces are one series and no name of a
person or predicate gets out.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponse

from memconsole import tracing
from records.telemetry import counts, traces

STATIC = "static"
UNKNOWN = "unknown"


class Measured:
    """Count and time what is inside, and say what it was once it is known."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Answer the request, and measure it."""
        started = time.perf_counter()
        if not traces.is_on():
            response = self.get_response(request)
        else:
            with tracing.serving(request) as span:
                response = self.get_response(request)
                tracing.name_request(span, request.method or "", route_of(request))
                span.note(status=response.status_code)
        counts.count_request(
            request.method or "",
            route_of(request),
            response.status_code,
            time.perf_counter() - started,
        )
        return response


def route_of(request: HttpRequest) -> str:
    """Return the template of the route that answered."""
    match = request.resolver_match
    if match is not None:
        return match.route or "/"
    return STATIC if request.path.startswith(settings.STATIC_URL) else UNKNOWN
