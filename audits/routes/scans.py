"""Routes of scans."""

from django.urls import URLPattern, path

from audits.views import scan_acts, scans

routes: list[URLPattern] = [
    path("scans", scans.list_scans, name="scans"),
    path("scans/new", scans.new_scan, name="scan-new"),
    path("scans/<uuid:scan_id>", scans.show_scan, name="scan"),
    path("scans/<uuid:scan_id>/progress", scans.show_progress, name="scan-progress"),
    path("scans/<uuid:scan_id>/hits", scans.show_hits, name="scan-hits"),
    path("scans/<uuid:scan_id>/agreement", scans.show_agreement, name="scan-agreement"),
    path("scans/<uuid:scan_id>/pause", scan_acts.pause, name="scan-pause"),
    path("scans/<uuid:scan_id>/resume", scan_acts.resume, name="scan-resume"),
    path("scans/<uuid:scan_id>/cancel", scan_acts.cancel, name="scan-cancel"),
    path("scans/<uuid:scan_id>/send", scan_acts.send, name="scan-send"),
]
