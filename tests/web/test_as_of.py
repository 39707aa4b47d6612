"""Memory as of a moment: what was believed then, what became of it, and a file of it."""

from __future__ import annotations

import csv
import io
import json
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Any
from uuid import UUID

import pytest

from audits.domain.roles import Role
from audits.models import Export
from records import curate
from records.models import Event, Recall
from records.scope import workspace_scope
from tests.factories import make_many, make_partition, make_session, make_source

from .conftest import Person, make_person, put, text, words


def instant(at: datetime) -> str:
    return at.astimezone(UTC).isoformat().replace("+00:00", "Z")


def now() -> datetime:
    return datetime.now(UTC)


def id_of(written: Any) -> UUID:
    assert written.id is not None
    return UUID(str(written.id))


def shown(person: Person, moment: datetime | None = None, **query: Any) -> str:
    if moment is not None:
        query["at"] = instant(moment)
    answer = person.get("as-of", partition="ada", **query)
    assert answer.status_code == 200
    return words(answer)


def test_what_was_believed_then_is_shown_with_what_became_of_it(admin: Person) -> None:
    before = now()
    old = put(admin.access, "Acme")
    first = now()
    put(admin.access, "Helio")
    poison = put(admin.access, "lunch with Eve", predicate="plan", session="s2")
    second = now()
    curate.evict([id_of(poison)], "planted by a page", access=admin.access)
    assert "Nothing was believed at that moment" in shown(admin, before)
    page = shown(admin, first)
    assert "Acme" in page
    assert "Helio" not in page
    assert "record.superseded" in page
    assert "What replaced it" in page
    page = shown(admin, second)
    assert "Helio" in page
    assert "lunch with Eve" in page
    assert "withheld now" in page
    assert "planted by a page" in page
    assert "Acme" not in page
    assert "lunch with Eve" not in shown(admin)
    assert old.id != poison.id


def test_an_agent_that_asks_about_the_moment_gets_it_without_what_is_withheld(
    admin: Person,
) -> None:
    put(admin.access, "Acme")
    poison = put(admin.access, "works for Eve", predicate="plan", session="s2")
    then = now()
    curate.evict([id_of(poison)], "planted", access=admin.access)
    page = text(admin.get("as-of", partition="ada", at=instant(then), asked="Ada works for"))
    answer = page.split('id="answer-title"')[1].split("</section>")[0]
    assert str(poison.id) not in answer
    assert "Acme" in answer
    with workspace_scope(admin.access.workspace_id):
        assert not Recall.objects.filter(workspace_id=admin.access.workspace_id).exists()


def test_valid_at_asks_about_the_world_at_another_time(admin: Person) -> None:
    year = now() - timedelta(days=365)
    put(admin.access, "Acme", valid_from=year, valid_until=year + timedelta(days=30))
    put(admin.access, "Helio", valid_from=year + timedelta(days=30))
    at_the_time = shown(admin, now(), valid_at=instant(year + timedelta(days=10)))
    assert "Acme" in at_the_time
    assert "Helio" not in at_the_time


def test_words_narrow_and_pages_follow_one_another_without_repeats(admin: Person) -> None:
    access = admin.access
    partition = make_partition(access, "ada")
    make_many(access, 120, "plum", partition, make_source(access), make_session(access, "ada"))
    put(access, "quince")
    seen: list[str] = []
    url = admin.url("as-of") + "?partition=ada"
    while url:
        page = text(admin.client.get(url))
        seen += [part.split('"')[0] for part in page.split('data-row-link href="')[1:]]
        link = page.split('rel="next" href="')
        url = link[1].split('"')[0].replace("&amp;", "&") if len(link) > 1 else ""
    assert len(seen) == len(set(seen)) == 121
    assert "quince" in shown(admin, text="quince")
    assert "plum" not in shown(admin, text="quince")


def test_file_holds_what_the_filter_shows_and_is_on_record(admin: Person) -> None:
    put(admin.access, "=1+1")
    made = put(admin.access, "blue", predicate="favourite_colour")
    put(admin.access, "Northwind", partition="bob", subject="Bob")
    then = now()
    curate.evict([id_of(made)], "wrong", access=admin.access)
    given = {"partition": "ada", "at": instant(then), "format": "jsonl"}
    answer = admin.post("as-of/export", given)
    body = b"".join(answer.streaming_content)
    rows = [json.loads(line) for line in body.decode().splitlines()]
    assert {row["value"] for row in rows} == {"=1+1", "blue"}
    blue = next(row for row in rows if row["value"] == "blue")
    assert (blue["status_now"], blue["withheld_now"]) == ("evicted", True)
    assert blue["changes_since"][0]["reason"] == "wrong"
    table = b"".join(admin.post("as-of/export", given | {"format": "csv"}).streaming_content)
    cells = list(csv.DictReader(io.StringIO(table.decode())))
    assert {row["value"] for row in cells} == {"'=1+1", "blue"}
    assert all(row["recorded_at"].endswith("Z") for row in cells)
    with workspace_scope(admin.access.workspace_id):
        exports = Export.objects.filter(workspace_id=admin.access.workspace_id).order_by("id")
        assert [(one.kind, one.rows, one.state) for one in exports] == [
            ("as_of", 2, "finished"), ("as_of", 2, "finished"),
        ]  # fmt: skip
        assert exports[0].sha256 == sha256(body).hexdigest()
        told = Event.objects.filter(target_id=exports[0].id)
        assert {one.action for one in told} == {"export.started", "export.finished"}
        assert not any("ada" in json.dumps(one.details) for one in told)


def test_export_needs_the_permission_and_a_filter_that_was_understood(admin: Person) -> None:
    put(admin.access, "Acme")
    viewer = make_person(admin.access, Role.VIEWER)
    given = {"partition": "ada", "format": "csv"}
    assert viewer.post("as-of/export", given).status_code == 403
    assert "as-of/export" not in text(viewer.get("as-of", partition="ada"))
    assert admin.post("as-of/export", given | {"format": "xls"}).status_code == 422
    assert admin.post("as-of/export", given | {"at": "yesterday"}).status_code == 422


@pytest.mark.parametrize(
    ("query", "warning"),
    [
        ({"at": "yesterday"}, "is no time"),
        ({"at": "2026-13-45T00:00"}, "is no time"),
        ({"valid_at": "never"}, "is no time"),
        ({"colour": "red"}, "\u201ccolour\u201d"),
        ({"after": "nonsense"}, "place in the list"),
        ({"text": "x" * 201}, "cannot be read"),
    ],
)
def test_what_cannot_be_read_becomes_a_warning(
    admin: Person, query: dict[str, str], warning: str
) -> None:
    put(admin.access, "Acme")
    page = shown(admin, None, **query)
    assert warning in page
    assert "Acme" in page


def test_moment_to_come_is_now_and_says_so(admin: Person) -> None:
    put(admin.access, "Acme")
    page = shown(admin, now() + timedelta(days=1))
    assert "still to come" in page
    assert "Acme" in page


def test_another_workspace_s_partition_is_unknown(admin: Person, stranger: Person) -> None:
    put(admin.access, "Acme")
    assert "There is no such partition" in shown(stranger)


def test_page_costs_the_same_whatever_its_rows(admin: Person) -> None:
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    def cost() -> int:
        with CaptureQueriesContext(connection) as captured:
            shown(admin)
        return len([one for one in captured if "SELECT" in one["sql"]])

    put(admin.access, "Acme")
    before = cost()
    for n in range(5):
        put(admin.access, f"x{n}", predicate="likes")
    assert cost() == before
    assert before <= 8
