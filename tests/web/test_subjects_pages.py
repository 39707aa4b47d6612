"""Requests of data subjects in the console: found, answered with a copy, erased, certified."""

from __future__ import annotations

import io
import json
import re
import zipfile
from hashlib import sha256
from typing import Any
from uuid import UUID

import pytest

from audits import keys
from audits.domain.roles import Role
from audits.models import Export, SubjectRequest
from audits.subjects.certificate import is_genuine
from records.models import Event
from records.retrieve import RecallRequest, recall
from records.scope import workspace_scope
from tests.db.test_erasure_everywhere import NOW
from tests.db.test_subjects import Team

from .conftest import Person, make_person, put, text, words


def made_by(response: Any) -> str:
    assert response.status_code == 302, text(response)[:2_000]
    return str(response.headers["Location"]).rsplit("/", 1)[1]


def ask_about(person: Person, kind: str, partition: str = "ada") -> str:
    partition_id = person.access.partition_id(partition)
    return made_by(person.post("subjects/new", {"kind": kind, "partition_id": str(partition_id)}))


def bundle(person: Person, request: str) -> zipfile.ZipFile:
    answer = person.post(f"subjects/{request}/bundle")
    assert answer.status_code == 200
    return zipfile.ZipFile(io.BytesIO(b"".join(answer.streaming_content)))


def lines(archive: zipfile.ZipFile, name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in archive.read(name).decode().splitlines()]


def test_copy_holds_everything_of_one_partition_and_nothing_of_another(admin: Person) -> None:
    mine = put(admin.access, "Acme", evidence="I work at Acme")
    put(admin.access, "Helio")
    put(admin.access, "Northwind", partition="bob", subject="Bob", session="bob-1")
    asked = recall(RecallRequest("ada", "employer of Ada"), access=admin.access, now=NOW)
    recall(RecallRequest("bob", "employer of Bob"), access=admin.access, now=NOW)
    request = ask_about(admin, "access")
    assert "3 questions" not in words(admin.get(f"subjects/{request}"))
    archive = bundle(admin, request)
    names = set(archive.namelist())
    assert {"index.html", "records.html", "manifest.json", "records.jsonl"} <= names
    assert {row["value"] for row in lines(archive, "records.jsonl")} == {"Acme", "Helio"}
    assert any(row["evidence"] == "I work at Acme" for row in lines(archive, "claims.jsonl"))
    assert [row["id"] for row in lines(archive, "recalls.jsonl")] == [str(asked.recall_id)]
    assert str(mine.id) in {row["target_id"] for row in lines(archive, "events.jsonl")}
    assert {row["session"] for row in lines(archive, "sessions.jsonl")} == {"s1"}
    assert {row["predicate"] for row in lines(archive, "policies.jsonl")} <= {"employer"}
    for name in names:
        body = archive.read(name)
        assert b"Northwind" not in body, name
        assert b"Bob" not in body, name
    manifest = json.loads(archive.read("manifest.json"))
    for file in manifest["files"]:
        assert sha256(archive.read(file["name"])).hexdigest() == file["sha256"], file
    assert is_genuine(manifest)
    with workspace_scope(admin.access.workspace_id):
        export = Export.objects.get(workspace_id=admin.access.workspace_id, kind="subject_access")
        assert (export.state, export.exported_by) == ("finished", admin.user.username)
        assert SubjectRequest.objects.get(id=request).state == "done"
        actions = list(
            Event.objects.filter(target_id=export.id)
            .order_by("id")
            .values_list("action", flat=True)
        )
        told = Event.objects.filter(workspace_id=admin.access.workspace_id, actor_kind="user")
        assert not any("ada" in json.dumps(one.details).lower() for one in told)
    assert actions == ["export.started", "export.finished"]


def test_copy_about_a_subject_holds_the_chosen_records_alone(admin: Person) -> None:
    own = put(admin.access, "Acme", subject="Grace", partition="team")
    put(admin.access, "Helio", subject="Charles", partition="team")
    mention = put(admin.access, "Grace", subject="Dora", predicate="manager", partition="team")
    recall(RecallRequest("team", "a question of Charles"), access=admin.access, now=NOW)
    page = text(admin.get("subjects/find", by="subject", name="grace"))
    assert str(mention.id) in page
    given = {"kind": "access", "subject": "grace", "own": "1", "record": [str(mention.id), "no"]}
    archive = bundle(admin, made_by(admin.post("subjects/new", given)))
    found = {row["id"] for row in lines(archive, "records.jsonl")}
    assert found == {str(own.id), str(mention.id)}
    assert "recalls.jsonl" not in archive.namelist()
    assert all(b"Charles" not in archive.read(name) for name in archive.namelist())


def test_erasure_asks_for_the_count_waits_and_ends_in_a_certificate() -> None:
    team = Team()
    person = Person(team.ann, team.access)
    person.client.force_login(team.ann)
    put(team.access, "Acme")
    put(team.access, "peanuts", predicate="allergy")
    request = ask_about(person, "erasure")
    page = words(person.get(f"subjects/{request}"))
    assert "Ask to erase 2 records" in page
    wrong = person.post(f"subjects/{request}", {"reason": "letter", "count": "3"})
    assert wrong.status_code == 422
    assert person.post(f"subjects/{request}", {"reason": "", "count": "2"}).status_code == 422
    asked = person.post(f"subjects/{request}", {"reason": "letter", "count": "2"})
    assert asked.status_code == 302
    assert "second person" in words(person.get(f"subjects/{request}"))
    assert person.post(f"subjects/{request}", {"reason": "x", "count": "2"}).status_code == 409
    team.answer()
    team.finish()
    page = words(person.get(f"subjects/{request}"))
    assert "signature holds" in page
    assert "ada" not in page.lower().replace("metadata", "").split("certificate")[1]
    said = json.loads(text(person.get(f"subjects/{request}/certificate.json")))
    assert is_genuine(said)
    assert keys.public_keys()
    readable = person.get(f"subjects/{request}/certificate.html")
    assert "attachment" in readable.headers["Content-Disposition"]
    assert said["signature"] in text(readable)
    listed = words(person.get("subjects"))
    assert "somebody erased" in listed


def test_what_is_erased_is_nowhere_in_the_console() -> None:
    team = Team()
    person = Person(team.ann, team.access)
    person.client.force_login(team.ann)
    made = put(team.access, "Quetzalcoatlus Ltd", subject="Ada")
    request = ask_about(person, "erasure")
    person.post(f"subjects/{request}", {"reason": "letter", "count": "1"})
    team.answer()
    team.finish()
    for path in (
        "records", f"records/{made.id}", f"records/{made.id}/history", "sessions", "subjects",
        f"subjects/{request}", "records?text=quetzalcoatlus", "operations", "approvals", "trail",
    ):  # fmt: skip
        answer = person.client.get(person.url(path))
        if answer.status_code == 404:
            continue
        page = re.sub(r'value="[^"]*"', "", text(answer))  # what the visitor typed
        assert "quetzalcoatlus ltd" not in page.lower(), path


def test_request_is_the_workspace_s_own_and_of_those_who_may(
    admin: Person, stranger: Person
) -> None:
    put(admin.access, "Acme")
    request = ask_about(admin, "access")
    for path in ("", "/certificate.json"):
        assert stranger.get(f"subjects/{request}{path}").status_code == 404
    assert stranger.post(f"subjects/{request}/bundle").status_code == 404
    foreign = {"kind": "access", "partition_id": str(admin.access.partition_id("ada"))}
    assert stranger.post("subjects/new", foreign).headers["Location"].endswith("/subjects")
    viewer = make_person(admin.access, Role.VIEWER)
    assert viewer.get("subjects").status_code == 403
    assert viewer.post(f"subjects/{request}/bundle").status_code == 403


def test_finding_warns_of_unknown_filters_and_needs_a_name(admin: Person) -> None:
    assert admin.get("subjects/find").status_code == 422
    put(admin.access, "Acme")
    page = words(admin.get("subjects/find", by="partition", name="ad", colour="red"))
    assert "\u201ccolour\u201d" in page
    assert "ada" in page
    assert "no such partition" in words(admin.get("subjects/find", by="partition", name="zoe"))
    assert "Nothing is kept" in words(admin.get("subjects/find", by="subject", name="zoe"))
    empty = admin.post("subjects/new", {"kind": "access", "subject": "zoe"})
    assert empty.status_code == 422


@pytest.mark.parametrize("path", ["subjects", "holds"])
def test_list_costs_the_same_whatever_its_length(admin: Person, path: str) -> None:
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    def cost() -> int:
        with CaptureQueriesContext(connection) as captured:
            assert admin.get(path).status_code == 200
        return len(captured)

    before = cost()
    for n in range(3):
        made = put(admin.access, f"Acme {n}", partition=f"p{n}")
        admin.post("holds/new", {"kind": "record", "target": str(made.id), "reason": "x"})
        bundle(admin, ask_about(admin, "access", f"p{n}"))
    assert cost() == before
    assert isinstance(made.id, UUID)
