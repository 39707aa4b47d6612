"""Sources: the list, the page, and containment in one confirmation."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from audits.domain.roles import Role
from records.domain.canonical import source_id as id_of
from records.models import Event, Source
from records.retrieve.recall import recall
from records.retrieve.request import RecallRequest
from records.scope import workspace_scope
from records.sources import finish_run, start_run

from .conftest import Person, make_person, put, text, words


@pytest.fixture
def responder() -> Person:
    return make_person(role=Role.RESPONDER)


def feed(person: Person, value: str, key: str, name: str = "crm", partition: str = "ada") -> None:
    put(
        person.access,
        value,
        predicate="owns",
        source=name,
        source_key=key,
        session=f"import-{name}",
        partition=partition,
    )


def source_of(person: Person, name: str = "crm") -> UUID:
    return id_of(person.access.workspace_id, name)


def served(person: Person) -> list[str]:
    answer = recall(RecallRequest(partition="ada", query="owns boat car"), access=person.access)
    return sorted(one.value for one in answer.items)


def test_list_tells_each_source_and_no_other_workspaces(
    responder: Person, stranger: Person
) -> None:
    feed(responder, "boat", "k1")
    feed(responder, "car", "k2")
    feed(stranger, "plane", "k1", name="theirs")
    page = text(responder.get("sources"))
    row = page.split(">crm</bdi></a></td>")[1].split("</tr>")[0]
    assert 'data-label="Facts" class="numeric">2<' in row
    assert 'data-label="Sessions" class="numeric">1<' in row
    assert "theirs" not in page


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("name=crm", {"crm"}),
        ("state=suspended", {"erp"}),
        ("state=serving", {"crm", "hr"}),
        ("state=overdue", {"hr"}),
        ("tier=trusted", {"hr"}),
        ("tier=trusted&state=suspended", set()),
    ],
)
def test_filters_of_the_list(responder: Person, query: str, expected: set[str]) -> None:
    for name in ("crm", "erp", "hr"):
        feed(responder, f"boat {name}", "k", name=name)
    now = datetime.now(UTC)
    with workspace_scope(responder.access.workspace_id):
        Source.objects.filter(id=source_of(responder, "erp")).update(
            suspended_at=now, suspended_by="user:x", suspended_reason=""
        )
        Source.objects.filter(id=source_of(responder, "hr")).update(
            tier="trusted", overdue_since=now
        )
    page = text(responder.client.get(f"{responder.url('sources')}?{query}"))
    found = {one for one in ("crm", "erp", "hr") if f">{one}</bdi></a></td>" in page}
    assert found == expected
    assert ("No source matches" in page) == (not expected)


@pytest.mark.parametrize("query", ["state=gone", "tier=royal", "colour=red"])
def test_filter_that_is_not_understood_is_named(responder: Person, query: str) -> None:
    feed(responder, "boat", "k")
    page = text(responder.client.get(f"{responder.url('sources')}?{query}"))
    assert f"\u201c{query.split('=')[0]}\u201d" in page
    assert "was ignored" in page


def test_page_tells_runs_and_what_is_no_longer_emitted(responder: Person) -> None:
    first = start_run("crm", partition="ada", access=responder.access)
    feed(responder, "boat", "k1")
    feed(responder, "car", "k2")
    finish_run(first.id, access=responder.access)
    second = start_run("crm", partition="ada", access=responder.access)
    feed(responder, "boat", "k1")
    finish_run(second.id, access=responder.access)
    answer = responder.get(f"sources/{source_of(responder)}")
    page = text(answer)
    assert page.count('data-label="Named" class="numeric">') == 2
    gone = page.split("What it no longer emits")[1]
    assert ">car</bdi>" in gone
    assert ">boat</bdi>" not in gone
    assert 'data-status-count="active"><strong>2</strong>' in page


def test_suspension_takes_one_confirmation_and_holds_at_once(responder: Person) -> None:
    feed(responder, "boat", "k1")
    put(responder.access, "car", predicate="owns", session="talk")
    path = f"sources/{source_of(responder)}"
    assert f'{path}/suspend"' in text(responder.get("sources"))
    assert served(responder) == ["boat", "car"]
    done = responder.post(f"{path}/suspend", {"reason": "leaks"}, htmx=True)
    assert (done.status_code, done.headers["HX-Redirect"]) == (204, responder.url(path))
    assert served(responder) == ["car"]
    page = text(responder.get("records"))
    banner = page.split('class="containment"')[1].split("</div>")[0]
    assert f'href="{responder.url(path)}"' in banner
    assert ">crm</bdi>" in banner
    again = responder.post(f"{path}/suspend", {"reason": ""}, htmx=True)
    assert again.status_code == 409
    assert "Nothing changed" in text(again)
    assert responder.post(f"{path}/release", {"reason": "fixed"}).status_code == 302
    assert served(responder) == ["boat", "car"]
    with workspace_scope(responder.access.workspace_id):
        actions = Event.objects.filter(target_id=source_of(responder)).order_by("id")
        assert [(one.action, one.reason) for one in actions] == [
            ("source.suspended", "leaks"),
            ("source.released", "fixed"),
        ]


def test_foreign_source_answers_like_an_unknown_one(responder: Person, stranger: Person) -> None:
    feed(responder, "boat", "k1")
    for path in ("", "/suspend", "/release"):
        answers = [stranger.get(f"sources/{one}{path}") for one in (source_of(responder), uuid4())]
        assert [one.status_code for one in answers] == [404, 404]
    refused = stranger.post(f"sources/{source_of(responder)}/suspend", {"reason": ""})
    assert refused.status_code == 404
    assert served(responder) == ["boat"]


def test_list_and_page_cost_eight_statements(responder: Person) -> None:
    for place in range(12):
        feed(responder, f"boat {place}", f"k{place}", name=f"s{place % 4}")
    for path in ("sources", f"sources/{source_of(responder, 's1')}"):
        with CaptureQueriesContext(connection) as caught:
            assert responder.get(path).status_code == 200
        asked = [one["sql"] for one in caught if one["sql"] not in ("BEGIN", "COMMIT")]
        assert len(asked) <= 8, asked


def test_list_pages_by_key(responder: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("audits.queries.sources.PAGE", 2)
    for name in ("a", "b", "c"):
        feed(responder, "boat", "k", name=f"feed_{name}")
    first = text(responder.get("sources"))  # conversation is a source as well
    cursor = first.split('rel="next" href="')[1].split('"')[0]
    second = text(responder.client.get(cursor.replace("&amp;", "&")))
    assert [one for one in "abc" if f">feed_{one}</bdi></a>" in first] == ["a"]
    assert [one for one in "abc" if f">feed_{one}</bdi></a>" in second] == ["b", "c"]
    assert 'rel="next"' not in second


def test_overdue_source_says_so(responder: Person) -> None:
    feed(responder, "boat", "k")
    with workspace_scope(responder.access.workspace_id):
        Source.objects.filter(id=source_of(responder)).update(
            expected_every=timedelta(hours=6), overdue_since=datetime.now(UTC)
        )
    page = words(responder.get(f"sources/{source_of(responder)}"))
    assert "Expected every 6 h" in page
    assert "Overdue for" in page
