"""Routes of incidents."""

from django.urls import URLPattern, path

from audits.views import incident_acts as acts
from audits.views import incident_ending as ending
from audits.views import incident_exposure as exposure
from audits.views import incident_opening as opening
from audits.views import incident_report as report
from audits.views import incidents

ONE = "incidents/<uuid:incident_id>"

routes: list[URLPattern] = [
    path("incidents", incidents.list_incidents, name="incidents"),
    path("incidents/new", opening.new_incident, name="incident-new"),
    path("incidents/merge", ending.merge, name="incident-merge"),
    path(ONE, incidents.show_incident, name="incident"),
    path(f"{ONE}/exposure", incidents.show_exposure, name="incident-exposure"),
    path(f"{ONE}/exposed", exposure.show_exposed, name="incident-exposed"),
    path(f"{ONE}/exposed/export", exposure.export, name="incident-exposed-export"),
    path(f"{ONE}/derived", exposure.show_derived, name="incident-derived"),
    path(f"{ONE}/timeline", incidents.show_timeline, name="incident-timeline"),
    path(f"{ONE}/similar", incidents.show_similar, name="incident-similar"),
    path(f"{ONE}/acknowledge", acts.acknowledge, name="incident-acknowledge"),
    path(f"{ONE}/take", acts.take, name="incident-take"),
    path(f"{ONE}/assign", acts.assign, name="incident-assign"),
    path(f"{ONE}/edit", acts.edit, name="incident-edit"),
    path(f"{ONE}/contain", acts.contain("contain"), name="incident-contain"),
    path(f"{ONE}/release", acts.contain("release"), name="incident-release"),
    path(f"{ONE}/scope", acts.add_scope, name="incident-scope"),
    path(f"{ONE}/scope/<uuid:part_id>/remove", acts.remove_scope, name="incident-scope-remove"),
    path(f"{ONE}/tasks", acts.add_task, name="incident-tasks"),
    path(f"{ONE}/tasks/<uuid:task_id>", acts.tick_task, name="incident-task"),
    path(f"{ONE}/notes", acts.add_note, name="incident-notes"),
    path(f"{ONE}/notes/<uuid:note_id>", acts.pin_note, name="incident-note"),
    path(f"{ONE}/report", report.show_report, name="incident-report"),
    path(f"{ONE}/report.md", report.download_report, name="incident-report-file"),
    path(f"{ONE}/close", ending.close, name="incident-close"),
    path(f"{ONE}/reopen", ending.reopen, name="incident-reopen"),
]
