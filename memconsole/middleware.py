"""Errors under ``/api/`` leave in the API's shape, whoever made them.

Owns the translation of what Django answers itself: an unknown path, a bad
host, a wrong method, a crash. Endpoints' own errors are shaped already. The
request id is ``memconsole.logs``'s.
"""

from __future__ import annotations

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse

from records.api.problems import Problem, respond

PREFIX = "/api/"
JSON = "application/json"
KEPT_HEADERS = ("Allow", "Retry-After", "WWW-Authenticate")
DRAINED_MOST = 64 * 1024 * 1024
CHUNK = 256 * 1024


def drain(request: HttpRequest) -> None:
    """Read what the client still sends of a refused request, and forget it.

    A client that cannot finish sending reports a broken connection and never
    sees why; past ``DRAINED_MOST`` bytes it may.
    """
    for _ in range(DRAINED_MOST // CHUNK):
        try:
            if not request.read(CHUNK):
                return
        except OSError:  # the client is gone
            return


class ApiErrors:
    """Turn every error answer under the API's path that is not JSON into one that is."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Answer the request; an error in the API's own shape."""
        response = self.get_response(request)
        if response.status_code < 400 or not request.path.startswith(PREFIX):
            return response
        drain(request)
        if response.headers.get("Content-Type", "").startswith(JSON):
            return response
        headers = {
            name: response.headers[name] for name in KEPT_HEADERS if name in response.headers
        }
        return respond(request, Problem(response.status_code, headers=headers))
