"""Exports from the page: the file holds what the filter shows, and its manifest says so."""

from __future__ import annotations

import base64
import csv
import io
import json
import re
import tomllib
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl
from uuid import UUID, uuid4

import pytest
from django.conf import settings as django_settings

from audits import exports, seals, verify_export
from audits.domain.roles import Role
from audits.domain.seals import TOOL
from audits.models import Export
from records import events
from records.events import Happening
from records.models import Event
from records.scope import workspace_scope
from tests.db.trail import own_keys, superuser  # noqa: F401
from tests.web.test_trail import all_ids

from .conftest import Person, make_person, put, text, words

EVIL = "=cmd|' /C calc'!A0"


@pytest.fixture
def auditor(monkeypatch: pytest.MonkeyPatch) -> Person:
    """An auditor of a workspace with some hundred events, in pieces of a few."""
    monkeypatch.setattr(exports, "CHUNK", 1_000)
    monkeypatch.setattr("audits.export.PIECE_EVENTS", 20)
    monkeypatch.setattr("audits.export_rows.PIECE", 20)
    monkeypatch.setattr(seals, "SEAL_LIMIT", 16)
    person = make_person(role=Role.AUDITOR)
    put(person.access, "Acme")
    happen(person, *[Happening("note.made", "note", reason=f"é {n}") for n in range(90)])
    happen(person, Happening("note.made", "note", reason=EVIL, details={"from": "@x", "to": "b"}))
    seals.seal_now(person.access.workspace_id)
    happen(person, Happening("note.made", "note", reason="é, not sealed"))
    return person


def happen(person: Person, *happenings: Happening) -> None:
    with workspace_scope(person.access.workspace_id):
        events.append(happenings, access=person.access)


def fetch(person: Person, file_format: str, query: str = "") -> tuple[bytes, UUID]:
    """Export and return the file and the export's id."""
    answer = person.post("trail/exports/start", {"format": file_format, "query": query})
    assert answer.status_code == 200, words(answer)
    data = b"".join(answer.streaming_content)
    answer.close()
    return data, UUID(answer.headers["MemConsole-Export"])


def ids_in(data: bytes, file_format: str) -> list[int]:
    whole = data.decode()
    if file_format == "csv":
        return [int(one["row"]) for one in csv.DictReader(io.StringIO(whole, newline=""))]
    said = [json.loads(line) for line in whole.splitlines()]
    if file_format == "ocsf":
        return [int(one["metadata"]["uid"].split("/")[1]) for one in said]
    return [one["event"]["id"] for one in said if one["type"] in ("event", "unsealed")]


def manifest_of(person: Person, export_id: UUID) -> dict[str, Any]:
    answer = person.get(f"trail/exports/{export_id}/manifest")
    assert answer.status_code == 200
    return dict(json.loads(text(answer)))


FILTERS = [
    "",
    "action=note.made",
    "text=%C3%A9+1",
    "not_action=note.made",
    "first=11&last=40",
    "first=95",
    "only=mine",
    "since=2020-01-01&reason=%C3%A9+7",
]


@pytest.mark.parametrize("file_format", ["jsonl", "csv", "ocsf"])
@pytest.mark.parametrize("query", FILTERS)
def test_file_holds_exactly_what_paging_the_filter_shows(
    auditor: Person, file_format: str, query: str
) -> None:
    data, export_id = fetch(auditor, file_format, query)
    shown = all_ids(auditor, **dict(parse_qsl(query)))
    found = ids_in(data, file_format)
    with workspace_scope(auditor.access.workspace_id):
        own = set(Event.objects.filter(target_id=export_id).values_list("id", flat=True))
    assert set(found) - own == set(shown) - own
    assert len(found) == len(set(found))
    manifest = manifest_of(auditor, export_id)
    (file,) = manifest["files"]
    assert (file["rows"], file["bytes"]) == (len(found), len(data))
    assert manifest["filter"] == (f"?{query}" if query else "")


@pytest.mark.parametrize("file_format", ["jsonl", "csv", "ocsf"])
def test_script_accepts_a_file_with_its_manifest_and_no_changed_one(
    auditor: Person, file_format: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data, export_id = fetch(auditor, file_format)
    manifest = manifest_of(auditor, export_id)
    file, beside = tmp_path / manifest["files"][0]["name"], tmp_path / "manifest.json"
    file.write_bytes(data)
    beside.write_text(json.dumps(manifest, indent=2, ensure_ascii=False), encoding="utf-8")
    keys = str(django_settings.TRAIL_PUBLIC_KEYS_FILE)

    def verdict() -> int:
        return verify_export.main([str(file), "--keys", keys, "--manifest", str(beside)])

    assert verdict() == 0, capsys.readouterr()
    assert "AS SIGNED" in capsys.readouterr().out
    at = data.index("é 5".encode())
    file.write_bytes(data[:at] + "é 6".encode() + data[at + 4 :])
    assert verdict() == 1
    file.write_bytes(data[:-1])
    assert verdict() == 1
    file.write_bytes(data)
    for name, value in (
        ("filter", "?x"),
        ("exported_by", "user:x"),
        ("tool", "MemConsole 9"),
        ("files", [{**manifest["files"][0], "rows": 1}]),
        ("head", {**manifest["head"], "seal": 1}),
    ):
        beside.write_text(json.dumps({**manifest, name: value}), encoding="utf-8")
        assert verdict() == 1, name
    other = base64.b64encode(b"\0" * 64).decode()
    beside.write_text(json.dumps({**manifest, "signature": other}), encoding="utf-8")
    assert verdict() == 1
    beside.write_text("[]", encoding="utf-8")
    assert verdict() == 2


def test_csv_holds_no_formula_and_times_in_utc(auditor: Person) -> None:
    data, _ = fetch(auditor, "csv")
    rows = list(csv.DictReader(io.StringIO(data.decode(), newline="")))
    (evil,) = [one for one in rows if EVIL in one["reason"]]
    assert evil["reason"] == f"'{EVIL}"
    for row in rows:
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z", row["time_utc"])
        for name, value in row.items():
            assert not value.startswith(("=", "+", "@", "\t")), name
    assert [int(one["number"]) for one in rows if one["number"]] == list(
        range(1, len([one for one in rows if one["number"]]) + 1)
    )


def test_export_is_on_record_with_what_it_held(auditor: Person) -> None:
    data, export_id = fetch(auditor, "csv", "action=note.made")
    with workspace_scope(auditor.access.workspace_id):
        begun, done = Event.objects.filter(target_id=export_id).order_by("id")
        row = Export.objects.get(id=export_id)
    assert (begun.action, done.action) == ("export.started", "export.finished")
    assert begun.actor == auditor.user.username
    assert done.details["rows"] == row.rows == len(ids_in(data, "csv"))
    assert done.details["sha256"] == row.sha256
    assert done.details["filter"] == "action=note.made"
    assert begun.request_id
    said = words(auditor.get("trail/exports"))
    assert "finished" in said
    assert row.sha256[:12] in said
    assert auditor.user.username in said


def test_export_broken_off_is_kept_as_such(auditor: Person) -> None:
    answer = auditor.post("trail/exports/start", {"format": "csv"})
    next(iter(answer.streaming_content))
    answer.close()
    with workspace_scope(auditor.access.workspace_id):
        row = Export.objects.get()
        told = Event.objects.filter(target_id=row.id).order_by("-id")[0]
    assert row.state == "failed"
    assert (told.action, told.outcome) == ("export.failed", "failed")
    assert auditor.get(f"trail/exports/{row.id}/manifest").status_code == 404
    assert "broken off" in words(auditor.get("trail/exports"))


def test_filter_that_is_not_understood_exports_nothing(auditor: Person) -> None:
    for data in ({"format": "csv", "query": "colour=red"}, {"format": "exe"}, {}):
        answer = auditor.post("trail/exports/start", data)
        assert answer.status_code == 422
    with workspace_scope(auditor.access.workspace_id):
        assert not Export.objects.exists()


def test_nobody_else_exports_or_sees_the_manifest(auditor: Person) -> None:
    _, export_id = fetch(auditor, "csv")
    stranger = make_person(role=Role.AUDITOR)
    assert stranger.get(f"trail/exports/{export_id}/manifest").status_code == 404
    assert str(export_id)[-12:] not in text(stranger.get("trail/exports"))
    for role in (Role.VIEWER, Role.APPROVER, Role.RESPONDER):
        person = make_person(auditor.access, role)
        assert person.post("trail/exports/start", {"format": "csv"}).status_code == 403
        assert person.get(f"trail/exports/{export_id}/manifest").status_code == 403
    assert auditor.get(f"trail/exports/{uuid4()}/manifest").status_code == 404


def test_export_page_offers_the_filter_of_the_list(auditor: Person) -> None:
    page = auditor.get("trail", action="note.made")
    assert f'href="{auditor.url("trail/exports")}?action=note.made"' in text(page)
    asked = auditor.get("trail/exports", action="note.made")
    assert 'name="query" value="action=note.made"' in text(asked)


def test_list_of_exports_is_paged(auditor: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exports, "LIMIT", 2)
    made = [fetch(auditor, "csv", "action=none.such")[1] for _ in range(5)]
    seen: list[str] = []
    page = auditor.get("trail/exports")
    while True:
        seen += re.findall(r"exports/([0-9a-f-]{36})/manifest", text(page))
        more = re.search(r'rel="next" href="([^"]*)"', text(page))
        if more is None:
            break
        page = auditor.client.get(
            auditor.url("trail/exports") + more.group(1).replace("&amp;", "&")
        )
    assert seen == [str(one) for one in reversed(made)]


def test_script_and_keys_can_be_downloaded(auditor: Person) -> None:
    script = auditor.get("trail/verify_export.py")
    assert text(script) == Path(verify_export.__file__).read_text("utf-8")
    assert "attachment" in script.headers["Content-Disposition"]
    keys = auditor.get("trail/keys")
    assert text(keys) == django_settings.TRAIL_PUBLIC_KEYS_FILE.read_text("ascii")


def test_manifest_names_the_version_of_the_package() -> None:
    package = tomllib.loads(Path("pyproject.toml").read_text("utf-8"))["project"]
    assert f"MemConsole {package['version']}" == TOOL
