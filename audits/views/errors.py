"""The pages that refuse: not allowed, not found, too slow, broken. In the shell where there is one.

Owns the handlers that the project's urls name. A partial's request gets the
same message as a small panel, so that it can stand where the piece would.
"""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from audits.access import RefusedError
from audits.domain.roles import MEANINGS, roles_with
from audits.views.pages import TooSlowError, frame, is_partial


def forbidden(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    """Say which role would be needed."""
    if isinstance(exception, TooSlowError):
        return too_slow(request)
    context: dict[str, Any] = {
        "title": "You may not do this here",
        "text": "Your role in this workspace does not allow it.",
    }
    if isinstance(exception, RefusedError):
        roles = ", ".join(roles_with(exception.permission))
        context["text"] = (
            f"This needs the right to \u201c{MEANINGS[exception.permission].lower()}\u201d,"
            f" which these roles have: {roles}."
        )
        context["hint"] = "An administrator of the workspace can give you one of them."
    return _refuse(request, context, 403)


def not_found(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    """Say the same of what is unknown, what is another's and what is gone."""
    return _refuse(
        request,
        {
            "title": "Not found",
            "text": "There is no such page or record here: it is not in this workspace, or it"
            " never existed.",
        },
        404,
    )


def too_slow(request: HttpRequest) -> HttpResponse:
    """Say that the search was given up, and how to make it quicker."""
    return _refuse(
        request,
        {
            "title": "This took too long",
            "text": "The search was stopped so that it holds nobody else up.",
            "hint": "Name a partition, a session or a status, or fewer words.",
        },
        503,
    )


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    """Say that the form is from another time, and what to do."""
    return _refuse(
        request,
        {
            "title": "This form is out of date",
            "text": "It was sent without the mark of your session. Nothing was changed.",
            "hint": "Go back, load the page again and repeat.",
        },
        403,
    )


def broken(request: HttpRequest) -> HttpResponse:
    """Say that the fault is ours, with the request id to quote; uses no database."""
    context = {
        "title": "Something broke",
        "text": "The fault is ours, and nothing of what you sent was half done.",
        "request_id": getattr(request, "request_id", ""),
        "status": 500,
    }
    return render(request, "errors/broken.html", context, status=500)


def _refuse(request: HttpRequest, context: dict[str, Any], status: int) -> HttpResponse:
    context |= {"status": status, "request_id": getattr(request, "request_id", "")}
    if is_partial(request):
        return render(request, "errors/_refusal.html", context, status=status)
    return render(request, "errors/refusal.html", {**frame(request), **context}, status=status)
