"""Routes of the audit trail and exports."""

from django.urls import URLPattern

routes: list[URLPattern] = []
