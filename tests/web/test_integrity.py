"""The integrity page: what the last check found, a check now, a check of a file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as django_settings
from django.core.files.uploadedfile import SimpleUploadedFile

from audits import anchors, checks, file_checks, jobs, seals
from audits.domain.roles import Role
from records import events
from records.events import Happening
from records.jobs import runs
from records.models import Event
from records.scope import workspace_scope
from tests.db.trail import own_keys, superuser  # noqa: F401
from tests.web.test_exports import fetch, manifest_of

from .conftest import Person, make_person, put, text, words


@pytest.fixture
def auditor() -> Person:
    person = make_person(role=Role.AUDITOR)
    put(person.access, "Acme")
    with workspace_scope(person.access.workspace_id):
        events.append(
            [Happening("note.made", "note", reason=f"n{n}") for n in range(30)],
            access=person.access,
        )
    seals.seal_now(person.access.workspace_id)
    return person


def forge(person: Person, position: int, change: str = "reason = reason || '!'") -> int:
    with superuser() as database:
        row = database.execute(
            f"""UPDATE event SET {change} WHERE id = (SELECT event_id FROM sealed_event
                WHERE workspace_id = %s AND position = %s) RETURNING id""".encode(),
            [person.access.workspace_id, position],
        ).fetchone()
    assert row is not None
    return int(row[0])


def told(person: Person, action: str) -> list[Event]:
    with workspace_scope(person.access.workspace_id):
        return list(Event.objects.filter(action=action).order_by("id"))


def test_check_now_says_whole_and_every_page_shows_it(auditor: Person) -> None:
    assert "has not been checked yet" in words(auditor.get("trail/integrity"))
    answer = auditor.post("trail/integrity/check")
    assert answer.status_code == 302
    said = words(auditor.get("trail/integrity"))
    assert "are as they were sealed" in said
    assert auditor.user.username in said
    assert "Trail ok" in words(auditor.get("records"))
    (asked,) = told(auditor, "trail.check_started")
    assert asked.actor == auditor.user.username
    assert len(told(auditor, "trail.verified")) == 1


def test_one_changed_byte_is_named_by_its_number_and_the_trail_stays_readable(
    auditor: Person,
) -> None:
    event_id = forge(auditor, 12)
    auditor.post("trail/integrity/check")
    said = words(auditor.get("trail/integrity"))
    assert f"Broken at #12 (event row {event_id})" in said
    page = auditor.get("trail")
    assert page.status_code == 200
    assert 'role="alert"' in text(page)
    assert "The trail is broken at #12." in words(page)
    assert "Trail broken at #12" in words(auditor.get("records"))
    assert "Not proven" in words(auditor.get(f"trail/events/{event_id}/proof"))
    (broken,) = told(auditor, "trail.broken")
    assert broken.outcome == "failed"
    viewer = make_person(auditor.access, Role.VIEWER)
    chip = text(viewer.get("records"))
    assert "Trail broken at #12" in chip
    assert "trail/integrity" not in chip


def test_removal_of_the_newest_ten_is_found_against_the_checkpoint(auditor: Person) -> None:
    runs.perform(jobs.ANCHORING, auditor.access.workspace_id, anchors.anchor_head)
    with superuser() as database:
        last = database.execute(
            "SELECT max(last) FROM seal WHERE workspace_id = %s", [auditor.access.workspace_id]
        ).fetchone()
        assert last is not None
        database.execute(
            """WITH gone AS (DELETE FROM sealed_event WHERE workspace_id = %s AND position > %s
                             RETURNING event_id)
               DELETE FROM event WHERE id IN (SELECT event_id FROM gone)""",
            [auditor.access.workspace_id, last[0] - 10],
        )
    auditor.post("trail/integrity/check")
    assert f"Broken at #{last[0] - 9}" in words(auditor.get("trail/integrity"))


def test_large_trail_is_checked_by_a_worker_and_its_progress_is_shown(
    auditor: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checks, "IMMEDIATE_EVENTS", 3)
    auditor.post("trail/integrity/check")
    page = auditor.get("trail/integrity")
    assert "waits for a worker" in words(page)
    assert 'hx-trigger="every 2s"' in text(page)
    assert "Check now" not in words(page)
    assert "Checking the trail" in words(auditor.get("records"))
    assert "A check is on already" in words(
        auditor.client.post(auditor.url("trail/integrity/check"), follow=True)
    )
    runs.perform(jobs.VERIFICATION, auditor.access.workspace_id, checks.check_trail, begin=False)
    piece = auditor.get("trail/integrity", htmx=True)
    assert "<html" not in text(piece)
    assert "every 2s" not in text(piece)
    assert "are as they were sealed" in words(piece)


def upload(person: Person, data: bytes, manifest: bytes | None = None) -> Any:
    files: dict[str, Any] = {"file": SimpleUploadedFile("export.jsonl", data)}
    if manifest is not None:
        files["manifest"] = SimpleUploadedFile("m.json", manifest)
    return person.post("trail/integrity/file", files)


def test_file_is_checked_by_the_code_of_the_script(auditor: Person) -> None:
    data, export_id = fetch(auditor, "jsonl")
    good = words(upload(auditor, data))
    assert "proven" in good
    assert "not proven" not in good
    assert "is that of the trail here" in good
    assert "not proven" in words(upload(auditor, data.replace(b'"n7"', b'"n8"')))
    assert "neither an export nor its manifest" in words(upload(auditor, b"{}", b"7"))
    assert "not proven" in words(upload(auditor, b""))
    checked = told(auditor, "trail.file_checked")
    assert [one.outcome for one in checked] == ["done", "failed", "failed", "failed"]
    csv_data, csv_id = fetch(auditor, "csv")
    manifest = text(auditor.get(f"trail/exports/{csv_id}/manifest")).encode()
    assert "AS SIGNED" in words(upload(auditor, csv_data, manifest))
    assert "not proven" in words(upload(auditor, csv_data + b"x", manifest))
    assert manifest_of(auditor, export_id)["kind"] == "trail"


def test_file_of_a_trail_that_was_cut_is_not_the_trail_here(auditor: Person) -> None:
    data, _ = fetch(auditor, "jsonl")
    with superuser() as database:
        database.execute(
            """DELETE FROM seal WHERE workspace_id = %(w)s AND number =
               (SELECT max(number) FROM seal WHERE workspace_id = %(w)s)""",
            {"w": auditor.access.workspace_id},
        )
    said = words(upload(auditor, data))
    assert "its end is gone" in said
    assert "not proven" in said


def test_file_too_large_or_missing_is_refused_by_field(
    auditor: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_checks, "SIZE_LIMIT", 10)
    answer = upload(auditor, b"x" * 11)
    assert answer.status_code == 422
    assert "File: it is larger than" in words(answer)
    answer = auditor.post("trail/integrity/file", {})
    assert (answer.status_code, "choose the exported file" in words(answer)) == (422, True)


def test_approver_looks_but_neither_checks_nor_exports(auditor: Person) -> None:
    approver = make_person(auditor.access, Role.APPROVER)
    page = text(approver.get("trail/integrity"))
    assert "Check now" not in page
    assert 'type="file"' not in page
    for path in ("trail/integrity/check", "trail/integrity/file", "trail/exports/start"):
        assert approver.post(path).status_code == 403


def test_foreign_check_is_not_shown(auditor: Person) -> None:
    forge(auditor, 5)
    auditor.post("trail/integrity/check")
    stranger = make_person(role=Role.AUDITOR)
    assert "Broken" not in words(stranger.get("trail/integrity"))
    assert "broken" not in words(stranger.get("trail"))


def test_last_checkpoint_is_shown_without_reading_the_whole_file(
    auditor: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "none yet; one is written" in words(auditor.get("trail/integrity"))
    runs.perform(jobs.ANCHORING, auditor.access.workspace_id, anchors.anchor_head)
    path: Path = django_settings.TRAIL_CHECKPOINTS_FILE
    line = path.read_text()
    path.write_text("x" * 5_000 + "\n" + line)
    monkeypatch.setattr(anchors, "TAIL_BYTES", len(line) + 10)
    note = anchors.newest_note(auditor.access.workspace_id)
    assert note is not None
    assert f"seal {note.number}, up to #{note.last}" in words(auditor.get("trail/integrity"))
