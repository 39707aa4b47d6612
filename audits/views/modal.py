"""Forms that stand in the modal dialog, or on a page of their own where no script runs.

Owns the convention: ``<folder>/_<name>_form.html`` is the form, shown inside
``shell/form_page.html`` as its full-page twin. A form that worked sends the
browser on; one that did not comes back with its status and what was typed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.contrib import messages
from django.http import HttpResponse, HttpResponseRedirect

from audits.access import ConsoleRequest
from audits.views.pages import is_partial, show


def show_form(
    request: ConsoleRequest, name: str, context: Mapping[str, Any], *, status: int = 200
) -> HttpResponse:
    """Show the form ``folder/name``: in the dialog, or as a page."""
    folder, _, form = name.partition("/")
    template = f"{folder}/_{form}_form.html"
    if is_partial(request):
        return show(request, template, context, status=status)
    page = {**context, "form_template": template}
    return show(request, "shell/form_page.html", page, status=status)


def finish(request: ConsoleRequest, message: str, target: str) -> HttpResponse:
    """Say that it worked, and go where the result is seen."""
    messages.success(request, message)
    if is_partial(request):
        return HttpResponse(status=204, headers={"HX-Redirect": target})
    return HttpResponseRedirect(target)
