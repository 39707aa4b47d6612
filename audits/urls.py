"""Where the console's requests go. One line a page; who may open it stands on the view."""

from django.urls import include, path

from audits.domain.acts import ACTS
from audits.views import (
    components,
    door,
    jobs,
    keys,
    overview,
    people,
    policies,
    profile,
    record,
    record_acts,
    records,
    session_acts,
    sessions,
    workspaces,
)

workspace = [
    path("", overview.show_overview, name="overview"),
    path("day", overview.show_day, name="overview-day"),
    path("search", records.search, name="search"),
    path("records", records.list_records, name="records"),
    path("records/count", records.count_records, name="records-count"),
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
    path("views", workspaces.save_view, name="view-save"),
    path("views/<uuid:view_id>/delete", workspaces.delete_view, name="view-delete"),
    path("sessions", sessions.list_sessions, name="sessions"),
    path("sessions/sample", sessions.sample_sessions, name="sessions-sample"),
    path("sessions/<uuid:session_id>", sessions.show_session, name="session"),
    path("sessions/<uuid:session_id>/timeline", sessions.show_timeline, name="session-timeline"),
    path("sessions/<uuid:session_id>/exposure", sessions.show_exposure, name="session-exposure"),
    path(
        "sessions/<uuid:session_id>/suspend",
        session_acts.contain("suspend"),
        name="session-suspend",
    ),
    path(
        "sessions/<uuid:session_id>/release",
        session_acts.contain("release"),
        name="session-release",
    ),
    path("sessions/<uuid:session_id>/evict", session_acts.evict, name="session-evict"),
    path("sessions/<uuid:session_id>/restore", session_acts.restore, name="session-restore"),
    path("policies", policies.list_policies, name="policies"),
    path("policies/of/<path:predicate>", policies.show_policy, name="policy"),
    path("policies/edit/<path:predicate>", policies.edit_policy, name="policy-edit"),
    path("jobs", jobs.list_jobs, name="jobs"),
    path("jobs/<slug:name>/start", jobs.start_job, name="job-start"),
    path("keys", keys.list_keys, name="keys"),
    path("keys/new", keys.make_key, name="key-new"),
    path("keys/<uuid:key_id>/revoke", keys.revoke_key, name="key-revoke"),
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
