"""Routes of incidents."""

from django.urls import URLPattern

routes: list[URLPattern] = []
