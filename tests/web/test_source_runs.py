"""A source's runs: the list behind each number, for the run of today and of last month."""

from __future__ import annotations

import re
from typing import Any
from uuid import UUID, uuid4

import pytest

from audits.domain.roles import Role
from records import sources
from records.domain.canonical import source_id
from records.models import Event
from records.scope import workspace_scope

from .conftest import Person, make_person, put, text


@pytest.fixture
def viewer() -> Person:
    return make_person(role=Role.VIEWER)


def run(person: Person, *values: str) -> UUID:
    begun = sources.start_run("crm", partition="ada", access=person.access)
    for value in values:
        put(person.access, value, predicate="owns", source="crm", source_key=value, session="feed")
    sources.finish_run(begun.id, access=person.access)
    return begun.id


def values(answer: Any) -> list[str]:
    return re.findall(r'data-label="Value" class="wide"><bdi[^>]*>([^<]*)</bdi>', text(answer))


def test_every_number_of_a_run_opens_its_list(viewer: Person, stranger: Person) -> None:
    first = run(viewer, "boat", "car", "hut")
    second = run(viewer, "boat")
    third = run(viewer, "boat", "car", "bike")
    page = text(viewer.get(f"sources/{source_id(viewer.access.workspace_id, 'crm')}"))
    for one in (first, second, third):
        for what in ("gone", "back", "named"):
            answer = viewer.get(f"sources/runs/{one}", show=what)
            number = re.search(rf'runs/{one}\?show={what}">(\d+)</a>', page)
            shown = re.search(rf'data-count="{what}">(\d+)<', text(answer))
            assert number is not None
            assert shown is not None
            assert number[1] == shown[1]
            if what != "named" or one == third:
                assert len(values(answer)) == int(shown[1])
    assert values(viewer.get(f"sources/runs/{second}", show="gone")) == ["car", "hut"]
    assert values(viewer.get(f"sources/runs/{third}", show="back")) == ["car"]
    assert values(viewer.get(f"sources/runs/{third}", show="gone")) == []
    assert sorted(values(viewer.get(f"sources/runs/{third}", show="named"))) == [
        "bike",
        "boat",
        "car",
    ]
    assert "was the last to name" in text(viewer.get(f"sources/runs/{first}", show="named"))
    with workspace_scope(viewer.access.workspace_id):
        assert Event.objects.filter(action="record.relisted").count() == 1
    assert stranger.client.get(viewer.url(f"sources/runs/{third}")).status_code == 404
    assert stranger.get(f"sources/runs/{third}").status_code == 404


def test_list_of_a_long_run_goes_on_over_pages(viewer: Person) -> None:
    run(viewer, *(f"thing {place:03}" for place in range(60)))
    second = run(viewer, "thing 000")
    page = viewer.get(f"sources/runs/{second}")
    assert len(values(page)) == 50
    following = re.search(r'rel="next" href="\?([^"]+)"', text(page))
    assert following
    path = viewer.url(f"sources/runs/{second}") + "?" + following[1].replace("&amp;", "&")
    rest = viewer.client.get(path)
    assert len(values(rest)) == 9
    assert not set(values(page)) & set(values(rest))
    assert 'rel="next"' not in text(rest)


def test_unknown_lists_are_told_and_unknown_runs_are_not_found(viewer: Person) -> None:
    one = run(viewer, "boat")
    page = text(viewer.get(f"sources/runs/{one}", show="everything", colour="red"))
    assert "has no list" in page
    assert "no filter" in page
    assert viewer.get(f"sources/runs/{uuid4()}").status_code == 404
