"""Routes of facts that may say the same: the list, a group, a merge and its undo."""

from django.urls import URLPattern, path

from audits.views import duplicates

routes: list[URLPattern] = [
    path("duplicates", duplicates.list_duplicates, name="duplicates"),
    path("duplicates/<uuid:cluster_id>", duplicates.show_cluster, name="duplicate"),
    path("duplicates/<uuid:cluster_id>/merge", duplicates.merge, name="duplicate-merge"),
    path("duplicates/<uuid:cluster_id>/apart", duplicates.keep_apart, name="duplicate-apart"),
    path("duplicates/<uuid:cluster_id>/again", duplicates.suggest_again, name="duplicate-again"),
    path("duplicates/merges/<uuid:merge_id>", duplicates.show_merged, name="duplicate-merged"),
    path("duplicates/merges/<uuid:merge_id>/undo", duplicates.undo, name="duplicate-undo"),
]
