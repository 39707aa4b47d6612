"""Routes of the audit trail and exports."""

from django.urls import URLPattern, path

from audits.views import auditing, exports, integrity, trail

routes: list[URLPattern] = [
    path("trail", trail.list_events, name="trail"),
    path("trail/<int:position>", trail.go_to_number, name="trail-number"),
    path("trail/events/<int:event_id>", trail.show_event, name="trail-event"),
    path("trail/events/<int:event_id>/proof", trail.show_proof, name="trail-proof"),
    path("trail/integrity", integrity.show_integrity, name="trail-integrity"),
    path("trail/integrity/check", integrity.check_now, name="trail-check"),
    path("trail/integrity/file", integrity.check_file, name="trail-check-file"),
    path("trail/verify_export.py", integrity.download_script, name="trail-script"),
    path("trail/keys", integrity.download_keys, name="trail-keys"),
    path("trail/exports", exports.list_exports, name="trail-exports"),
    path("trail/exports/start", exports.export_events, name="trail-export"),
    path(
        "trail/exports/<uuid:export_id>/manifest", exports.download_manifest, name="trail-manifest"
    ),
    path("trail/sample", auditing.show_sample, name="trail-sample"),
    path("trail/sample/export", auditing.export_sample, name="trail-sample-export"),
    path("trail/access", auditing.review_access, name="trail-access"),
    path("trail/access/export", auditing.export_access, name="trail-access-export"),
    path("trail/controls", auditing.show_controls, name="trail-controls"),
]
