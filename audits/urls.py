"""Where the console's requests go. One line a page; who may open it stands on the view.

Areas with many pages have a module of their own in ``audits/routes``.
"""

from django.urls import include, path

from audits.domain.acts import ACTS
from audits.routes import duplicates as duplicate_routes
from audits.routes import figures as figure_routes
from audits.routes import freshness as freshness_routes
from audits.routes import health as health_routes
from audits.routes import incidents as incident_routes
from audits.routes import notifications as notification_routes
from audits.routes import operations as operation_routes
from audits.routes import privacy as privacy_routes
from audits.routes import radius as radius_routes
from audits.routes import scans as scan_routes
from audits.routes import sessions as session_routes
from audits.routes import trail as trail_routes
from audits.views import (
    components,
    door,
    gate,
    gate_draft,
    jobs,
    keys,
    overview,
    people,
    policies,
    profile,
    queue,
    queue_acts,
    queue_bulk,
    queue_item,
    record,
    record_acts,
    records,
    saved,
    workspaces,
)

workspace = [
    path("", overview.show_overview, name="overview"),
    path("day", overview.show_day, name="overview-day"),
    path("search", records.search, name="search"),
    path("records", records.list_records, name="records"),
    path("records/count", records.count_records, name="records-count"),
    path("records/sessions", records.show_sessions, name="records-sessions"),
    path("records/<uuid:record_id>", record.show_record, name="record"),
    path("records/<uuid:record_id>/history", record.show_history, name="record-history"),
    path("records/<uuid:record_id>/serves", record.show_serves, name="record-serves"),
    *(
        path(
            f"records/<uuid:record_id>/{act.verb}",
            record_acts.view_of(act),
            name=f"record-{act.verb}",
        )
        for act in ACTS
    ),
    path("queue", queue.list_queue, name="queue"),
    path("queue/states", queue.show_states, name="queue-states"),
    path("queue/ageing", queue.show_ageing, name="queue-ageing"),
    path("queue/next", queue.take_next, name="queue-next"),
    path("queue/recent", queue_item.show_recent, name="queue-recent"),
    path("queue/bulk", queue_bulk.decide_many, name="queue-bulk"),
    path("queue/bulk/<uuid:operation>", queue_bulk.show_receipt, name="queue-bulk-receipt"),
    path("queue/bulk/<uuid:operation>/undo", queue_bulk.undo_many, name="queue-bulk-undo"),
    path("queue/undo", queue_acts.undo, name="queue-undo"),
    path("queue/<uuid:record_id>", queue_item.show_item, name="queue-item"),
    path("queue/<uuid:record_id>/decide", queue_acts.decide, name="queue-decide"),
    path("queue/<uuid:record_id>/lease", queue_item.keep_lease, name="queue-lease"),
    path("views", saved.save_view, name="view-save"),
    path("views/<uuid:view_id>/delete", saved.delete_view, name="view-delete"),
    *session_routes.routes,
    *radius_routes.routes,
    *operation_routes.routes,
    *incident_routes.routes,
    *health_routes.routes,
    *duplicate_routes.routes,
    *figure_routes.routes,
    *freshness_routes.routes,
    *scan_routes.routes,
    *trail_routes.routes,
    *privacy_routes.routes,
    path("policies", policies.list_policies, name="policies"),
    path("policies/of/<path:predicate>", policies.show_policy, name="policy"),
    path("policies/edit/<path:predicate>", policies.edit_policy, name="policy-edit"),
    path("gate", gate.show_gate, name="gate"),
    path("gate/figures", gate.show_figures, name="gate-figures"),
    path("gate/try", gate.try_text, name="gate-try"),
    path("gate/rules", gate.list_rules, name="gate-rules"),
    path("gate/rules/<str:rule_id>", gate.show_rule, name="gate-rule"),
    path("gate/draft", gate_draft.show_draft, name="gate-draft"),
    path("gate/draft/start", gate_draft.start, name="gate-start"),
    path("gate/draft/rule", gate_draft.edit_rule, name="gate-rule-new"),
    path("gate/draft/rule/<str:rule_id>", gate_draft.edit_rule, name="gate-rule-edit"),
    path("gate/draft/rule/<str:rule_id>/remove", gate_draft.remove_rule, name="gate-rule-remove"),
    path("gate/draft/soften", gate_draft.soften, name="gate-soften"),
    path("gate/draft/soften/<str:rule_id>/undo", gate_draft.harden, name="gate-harden"),
    path("gate/draft/replay", gate_draft.replay, name="gate-replay"),
    path("gate/draft/activate", gate_draft.activate, name="gate-activate"),
    path("gate/draft/discard", gate_draft.discard, name="gate-discard"),
    path("jobs", jobs.list_jobs, name="jobs"),
    path("jobs/<slug:name>/start", jobs.start_job, name="job-start"),
    path("keys", keys.list_keys, name="keys"),
    path("keys/new", keys.make_key, name="key-new"),
    path("keys/<uuid:key_id>/revoke", keys.revoke_key, name="key-revoke"),
    *notification_routes.routes,
    path("people", people.list_people, name="people"),
    path("people/invite", people.invite, name="people-invite"),
    path("people/<uuid:user_id>/role", people.change_role, name="people-role"),
    path("people/<uuid:user_id>/remove", people.remove_member, name="people-remove"),
    path(
        "invitations/<uuid:invitation_id>/revoke",
        people.revoke_invitation,
        name="invitation-revoke",
    ),
]

urlpatterns = [
    path("", door.start, name="start"),
    path("login", door.log_in, name="log-in"),
    path("logout", door.log_out, name="log-out"),
    path("join/<str:token>", door.join, name="join"),
    path("profile", profile.show_profile, name="profile"),
    path("profile/look", profile.set_look, name="profile-look"),
    path("profile/keys", profile.set_keys, name="profile-keys"),
    path("profile/password", profile.set_password, name="profile-password"),
    path("components", components.show_components, name="components"),
    path("workspaces/new", workspaces.new_workspace, name="workspace-new"),
    path("w/<str:workspace>/", include((workspace, "console"))),
]
