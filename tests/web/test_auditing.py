"""Tools of auditors: the sample that can be drawn again, who has access, what is covered."""

from __future__ import annotations

import csv
import io
import re
from hashlib import sha256

import pytest
from django.urls import reverse

from audits import seals
from audits.domain.controls import CONTROLS
from audits.domain.roles import Role
from audits.models import Membership
from records import events, keys
from records.events import Happening
from records.scope import workspace_scope
from tests.db.trail import own_keys  # noqa: F401

from .conftest import Person, make_person, text, words


@pytest.fixture
def auditor() -> Person:
    person = make_person(role=Role.AUDITOR)
    with workspace_scope(person.access.workspace_id):
        events.append(
            [
                Happening("note.made" if n % 3 else "note.lost", "note", reason=f"n{n}")
                for n in range(120)
            ],
            access=person.access,
        )
    seals.seal_now(person.access.workspace_id)
    return person


def numbers(page: str) -> list[int]:
    return [int(one) for one in re.findall(r"data-row-link href=\"[^\"]*\">#(\d+)<", page)]


def test_same_seed_and_range_draw_the_same_sample_and_anybody_can_draw_it(
    auditor: Person,
) -> None:
    asked = {"seed": "2026-03 ann", "size": "10", "first": "5", "last": "100"}
    found = numbers(text(auditor.get("trail/sample", **asked)))
    by_hand = sorted(range(5, 101), key=lambda n: sha256(f"{asked['seed']} {n}".encode()).digest())
    assert found == by_hand[:10]
    said = words(auditor.get("trail/sample", **asked))
    assert "10 of 96 events" in said
    with workspace_scope(auditor.access.workspace_id):
        events.append([Happening("note.made", "note")], access=auditor.access)
    seals.seal_now(auditor.access.workspace_id)
    assert numbers(text(auditor.get("trail/sample", **asked))) == found
    other = numbers(text(auditor.get("trail/sample", **{**asked, "seed": "another"})))
    assert other != found


def test_sample_of_a_filter_states_its_own_population(auditor: Person) -> None:
    asked = {"seed": "s", "size": "500", "action": "note.lost"}
    assert "40 of 40 events" in words(auditor.get("trail/sample", **asked))
    assert "Nothing to draw from" in words(
        auditor.get("trail/sample", **{**asked, "action": "none.such"})
    )
    stranger = make_person(role=Role.AUDITOR)
    assert "40 of 40" not in words(stranger.get("trail/sample", **asked))


def test_sample_names_what_is_wrong_with_the_question(
    auditor: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    for asked, said in (
        ({"seed": "s", "size": "0"}, "Size: a whole number from 1 to 500."),
        ({"seed": "s", "size": "x"}, "Size: a whole number"),
        ({"seed": "x" * 101}, "Seed: at most 100"),
    ):
        answer = auditor.get("trail/sample", **asked)
        assert answer.status_code == 422
        assert said in words(answer)
    assert "“colour”" in words(auditor.get("trail/sample", seed="s", colour="red"))
    monkeypatch.setattr("audits.queries.auditing.RANGE_LIMIT", 50)
    answer = auditor.get("trail/sample", seed="s")
    assert answer.status_code == 422
    assert "at most 50 numbers" in words(answer)


def test_sample_leaves_as_a_file_that_is_on_record(auditor: Person) -> None:
    answer = auditor.post("trail/sample/export", {"query": "seed=s&size=7&last=50"})
    assert answer.status_code == 200
    rows = list(csv.DictReader(io.StringIO(b"".join(answer.streaming_content).decode())))
    shown = numbers(text(auditor.get("trail/sample", seed="s", size="7", last="50")))
    assert [int(one["number"]) for one in rows] == shown
    said = words(auditor.get("trail/exports"))
    assert "sample, csv" in said
    assert "seed=s" in said
    assert auditor.post("trail/sample/export", {"query": ""}).status_code == 422


def test_access_review_tells_who_may_what_since_when_and_who_left(auditor: Person) -> None:
    admin = make_person(auditor.access, Role.ADMINISTRATOR)
    gone = make_person(auditor.access, Role.REVIEWER)
    admin.post(f"people/{gone.user.id}/remove", {"reason": "left"})
    idle = make_person(auditor.access, Role.VIEWER)
    with workspace_scope(auditor.access.workspace_id):
        assert Membership.objects.get(user_id=gone.user.id).removed_at is not None
        long_ago = Membership.objects.get(user_id=idle.user.id).created_at.replace(year=2020)
        Membership.objects.filter(user_id=idle.user.id).update(created_at=long_ago)
    type(idle.user).objects.filter(id=idle.user.id).update(last_login=None)
    keys.make_key(name="the importer", access=admin.access)
    page = text(auditor.get("trail/access"))

    def row(name: str) -> str:
        return next(one for one in page.split("<tr")[1:] if name in one).split("</tr>")[0]

    assert "left" in row(gone.user.username)
    assert "idle for 90 days" in row(idle.user.username)
    assert "ago" in row(admin.user.username)
    assert "idle" not in row(admin.user.username)
    assert "the importer" in page
    answer = auditor.post("trail/access/export")
    rows = list(csv.DictReader(io.StringIO(b"".join(answer.streaming_content).decode())))
    by_name = {one["name"]: one for one in rows}
    assert by_name[gone.user.username]["ended_utc"]
    assert "idle for 90 days" in by_name[idle.user.username]["remarks"]
    assert any(one["what"] == "key" for one in rows)
    stranger = make_person(role=Role.AUDITOR)
    assert gone.user.username not in text(stranger.get("trail/access"))


def test_controls_link_to_pages_that_exist_and_say_what_is_not_covered(auditor: Person) -> None:
    page = text(auditor.get("trail/controls"))
    for control in CONTROLS:
        assert control.not_covered
        for evidence in control.evidence:
            path = reverse(f"console:{evidence.route}", args=[auditor.access.workspace])
            query = f"?{evidence.query}" if evidence.query else ""
            assert f'href="{path}{query}"' in page
            answer = auditor.client.get(f"{path}{query}")
            assert answer.status_code == 200, evidence
            assert "was ignored" not in words(answer)
