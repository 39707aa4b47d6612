"""Routes of operations and approvals."""

from django.urls import URLPattern

routes: list[URLPattern] = []
