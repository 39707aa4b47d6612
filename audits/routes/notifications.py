"""Routes of notifications."""

from django.urls import URLPattern, path

from audits.views import notifications as views

routes: list[URLPattern] = [
    path("notifications", views.list_notifications, name="notifications"),
    path("notifications/sent", views.list_deliveries, name="notification-deliveries"),
    path("notifications/sent/<uuid:notice_id>", views.show_delivery, name="notification-delivery"),
    path(
        "notifications/sent/<uuid:notice_id>/retry",
        views.retry_delivery,
        name="notification-retry",
    ),
    path("notifications/channels/new", views.make_channel, name="notification-channel-new"),
    path(
        "notifications/channels/<uuid:channel_id>",
        views.edit_channel,
        name="notification-channel",
    ),
    path(
        "notifications/channels/<uuid:channel_id>/test",
        views.send_test,
        name="notification-channel-test",
    ),
    path(
        "notifications/channels/<uuid:channel_id>/remove",
        views.remove_channel,
        name="notification-channel-remove",
    ),
    path("notifications/rules/new", views.make_rule, name="notification-rule-new"),
    path("notifications/rules/<uuid:rule_id>", views.edit_rule, name="notification-rule"),
    path(
        "notifications/rules/<uuid:rule_id>/remove",
        views.remove_rule,
        name="notification-rule-remove",
    ),
]
