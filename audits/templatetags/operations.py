"""What the pages of bulk operations draw with: numbers as people read them, links between pages."""

from __future__ import annotations

from typing import Any

from django import template
from django.urls import reverse

register = template.Library()


@register.filter
def thousands(number: int | None) -> str:
    """Say a whole number with its thousands apart."""
    return "0" if number is None else f"{int(number):,}"


@register.filter
def minus(number: int, other: int) -> int:
    """Return what is left of a number."""
    return int(number) - int(other)


@register.simple_tag(takes_context=True)
def rows_url(context: dict[str, Any], operation_id: Any, after: str = "") -> str:
    """Return the URL of an operation's facts with the filters at hand, at a place or the first."""
    query = context["request"].GET.copy()
    query.pop("after", None)
    if after:
        query["after"] = after
    text = query.urlencode()
    path = reverse("console:operation-rows", args=[context["here"].slug, operation_id])
    return f"{path}?{text}" if text else path
