"""Routes of requests of data subjects, legal holds, and memory as of a moment."""

from django.urls import URLPattern

routes: list[URLPattern] = []
