"""Sample and verify from the draw to what the verdicts do; two people, undo, strangers."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from audits import sampling
from audits.domain.roles import Role
from audits.domain.sampling import Verdict, Weighting
from audits.models import SampleBatch, SampleItem
from audits.sampling.acting import carry_out_now
from audits.sampling.answering import REGRET
from records.domain.facts import Status
from records.items import BadRequest
from records.models import Event, MemoryRecord
from records.retrieve import RecallRequest, recall
from records.scope import workspace_scope

from .conftest import Person, make_person, put, text, words

FACTS = 12


@pytest.fixture
def ann() -> Person:
    """A reviewer on a workspace with some facts."""
    ann = make_person(role=Role.REVIEWER)
    for n in range(FACTS):
        put(ann.access, f"value {n}", subject=f"subject {n}", predicate="employer")
    return ann


def draw(person: Person, **wanted: Any) -> SampleBatch:
    wanted = {"size": 5, "weighting": Weighting.UNIFORM, "seed": 7, "recheck_share": 0.0} | wanted
    with workspace_scope(person.access.workspace_id):
        return sampling.draw(sampling.Draw(**wanted), access=person.access, now=datetime.now(UTC))


def items(person: Person, batch: SampleBatch) -> list[SampleItem]:
    with workspace_scope(person.access.workspace_id):
        return list(SampleItem.objects.filter(batch_id=batch.id).order_by("place"))


def record_of(person: Person, item: SampleItem) -> MemoryRecord:
    with workspace_scope(person.access.workspace_id):
        return MemoryRecord.objects.get(id=item.record_id)


def give(person: Person, item: SampleItem, verdict: str, value: str = "") -> Any:
    return person.post(f"verification/facts/{item.id}/answer", {"verdict": verdict, "value": value})


def carry_out(person: Person) -> dict[str, int]:
    """Carry verdicts out as the job does when the time to undo is over."""
    return carry_out_now(person.access.workspace_id, datetime.now(UTC) + REGRET)


def test_same_seed_draws_the_same_facts_and_another_seed_others(ann: Person) -> None:
    first, again, other = draw(ann), draw(ann), draw(ann, seed=8)
    drawn = [[one.record_id for one in items(ann, batch)] for batch in (first, again, other)]
    assert drawn[0] == drawn[1] != drawn[2]
    assert (first.size, first.population, first.number, again.number) == (5, FACTS, 1, 2)
    assert len(set(drawn[0])) == 5


def test_whole_population_is_drawn_with_certainty(ann: Person) -> None:
    batch = draw(ann, size=100)
    assert batch.size == FACTS
    assert {one.chance for one in items(ann, batch)} == {1.0}


def test_what_is_served_is_likelier_and_its_chance_is_known(ann: Person) -> None:
    with workspace_scope(ann.access.workspace_id):
        (served, *_) = MemoryRecord.objects.filter(subject="subject 3")
    for _ in range(30):
        recall(
            RecallRequest(partition="ada", query="subject 3 employer", top_k=1),
            access=ann.access,
            now=datetime.now(UTC),
        )
    chances: dict[UUID, float] = {}
    for seed in range(20):
        batch = draw(ann, size=3, weighting=Weighting.SERVES, seed=seed)
        chances |= {one.record_id: one.chance for one in items(ann, batch)}
        assert batch.population_served == 30
    assert max(chances, key=lambda one: chances[one]) == served.id


def test_only_what_is_told_as_current_is_drawn(ann: Person) -> None:
    put(ann.access, "gone", subject="old", predicate="price",
        observed_at=datetime.now(UTC) - timedelta(days=900))  # fmt: skip
    held = draw(ann, size=100)
    assert held.population == FACTS
    narrow = draw(ann, size=100, partition="ada", predicate="employer")
    assert (narrow.population, narrow.scope) == (
        FACTS, {"partition": "ada", "predicate": "employer"},
    )  # fmt: skip
    with pytest.raises(BadRequest):
        draw(ann, partition="nobody")


@pytest.mark.parametrize(
    ("verdict", "value", "status", "outcome"),
    [
        (Verdict.TRUE, "", Status.ACTIVE, "confirmed"),
        (Verdict.STALE, "", Status.ACTIVE, "ended"),
        (Verdict.STALE, "Fresh Ltd", Status.SUPERSEDED, "replaced"),
        (Verdict.FALSE, "", Status.RETRACTED, "retracted"),
        (Verdict.FALSE, "Right Ltd", Status.RETRACTED, "corrected"),
        (Verdict.UNKNOWN, "", Status.ACTIVE, "nothing"),
    ],
)
def test_verdict_acts_when_it_can_no_longer_be_taken_back(
    ann: Person, verdict: str, value: str, status: Status, outcome: str
) -> None:
    item = items(ann, draw(ann))[0]
    assert give(ann, item, verdict, value).status_code == 302
    assert carry_out_now(ann.access.workspace_id, datetime.now(UTC)) == {}
    assert carry_out(ann) == {outcome: 1}
    record = record_of(ann, item)
    assert record.status == status
    (done,) = [one for one in items(ann, SampleBatch(id=item.batch_id)) if one.id == item.id]
    assert (done.outcome, done.value) == (outcome, "")
    if outcome == "ended":
        assert record.valid_until is not None
        assert record.valid_until <= datetime.now(UTC) + REGRET
    if value:
        with workspace_scope(ann.access.workspace_id):
            assert MemoryRecord.objects.filter(value=value, status="active").count() == 1
    assert carry_out(ann) == {}  # twice is once
    with workspace_scope(ann.access.workspace_id):
        actors = set(
            Event.objects.filter(target_id=record.id, actor_kind="user").values_list(
                "actor", flat=True
            )
        )
    assert actors == ({ann.user.username} if verdict != Verdict.UNKNOWN else set())


def test_last_verdict_can_be_taken_back_until_it_acts(ann: Person) -> None:
    item = items(ann, draw(ann))[0]
    give(ann, item, "false")
    answer = ann.post("verification/undo")
    assert answer.headers["Location"].endswith(f"/verification/facts/{item.id}")
    assert carry_out(ann) == {}
    give(ann, item, "false")
    carry_out(ann)
    assert ann.post("verification/undo").headers["Location"].endswith("/verification")
    assert record_of(ann, item).status == Status.RETRACTED


def test_second_look_is_another_persons_and_blind(ann: Person) -> None:
    batch = draw(ann, size=1, recheck_share=1.0)
    (item,) = items(ann, batch)
    bob = make_person(ann.access, Role.APPROVER)
    give(ann, item, "stale")
    again = ann.get(f"verification/{batch.id}/next")
    assert again.headers["Location"].endswith(f"/verification/{batch.id}")
    assert carry_out(ann) == {}  # it waits for the second
    taken = bob.get(f"verification/{batch.id}/next")
    assert taken.headers["Location"].endswith(f"/verification/facts/{item.id}")
    page = words(bob.get(f"verification/facts/{item.id}"))
    assert "a second look" in page
    assert ann.user.username not in page
    assert "waits for a second look" in words(bob.get(f"verification/{batch.id}"))
    give(bob, item, "true")
    assert carry_out(ann) == {}  # they differ
    assert "It is stale" in words(bob.get(f"verification/{batch.id}", disputed="yes"))
    assert ann.post(f"verification/facts/{item.id}/settle", {"verdict": "true"}).status_code == 403
    bob.post(f"verification/facts/{item.id}/settle", {"verdict": "true"})
    assert carry_out(ann) == {"confirmed": 1}


def test_two_people_never_get_the_same_fact(ann: Person) -> None:
    batch = draw(ann, size=4)
    bob = make_person(ann.access, Role.REVIEWER)
    given = [
        person.get(f"verification/{batch.id}/next").headers["Location"] for person in (ann, bob)
    ]
    assert len(set(given)) == 2
    item = given[0].rpartition("/")[2]
    assert ann.get(f"verification/{batch.id}/next").headers["Location"] == given[0]
    skipped = ann.get(f"verification/{batch.id}/next", skip=item).headers["Location"]
    assert skipped not in given


def test_answer_that_comes_twice_or_late_changes_nothing(ann: Person) -> None:
    item = items(ann, draw(ann))[0]
    bob = make_person(ann.access, Role.REVIEWER)
    give(ann, item, "true")
    late = give(bob, item, "false", "my new value")
    assert late.status_code == 409
    assert "answered meanwhile" in text(late)
    with workspace_scope(ann.access.workspace_id):
        events = Event.objects.filter(target_id=item.id, action="sample.answered").count()
    assert events == 1
    bad = give(ann, items(ann, draw(ann))[1], "true", "a value")
    assert bad.status_code == 422
    assert "belongs to a fact that is stale or false" in text(bad)
    assert 'value="a value"' in text(bad)


def test_fact_that_left_service_meanwhile_is_passed_over(ann: Person) -> None:
    batch = draw(ann, size=2)
    first, second = items(ann, batch)
    make_person(ann.access, Role.RESPONDER).post(
        f"records/{first.record_id}/evict", {"reason": "x", "version": "1"}
    )
    assert ann.get(f"verification/{batch.id}/next").headers["Location"].endswith(str(second.id))
    assert items(ann, batch)[0].verdict == "gone"


def test_shares_are_hidden_under_twenty_answers_and_shown_from_there(ann: Person) -> None:
    for n in range(20):
        put(ann.access, f"more {n}", subject=f"more {n}", predicate="likes")
    batch = draw(ann, size=25)
    for n, item in enumerate(items(ann, batch)):
        if n == 19:
            assert "shown from 20" in words(ann.get(f"verification/{batch.id}"))
            assert "data-chart " not in text(ann.get("verification"))
        give(ann, item, "stale" if n % 5 == 0 else "true")
    page = text(ann.get(f"verification/{batch.id}"))
    shown = re.search(r'data-figure="facts">\s*<strong>(\d+) %</strong>', page)
    assert shown is not None
    assert shown.group(1) == "20"
    overview = words(ann.get("verification"))
    assert "Which predicates are stale?" in overview
    assert "Is the memory getting better?" in overview
    assert "data-chart " in text(ann.get("verification"))
    assert "20.0 % in the only sample" in overview


def test_batch_of_another_workspace_does_not_exist(ann: Person, stranger: Person) -> None:
    batch = draw(ann)
    item = items(ann, batch)[0]
    for path in (f"verification/{batch.id}", f"verification/facts/{item.id}"):
        assert stranger.get(path).status_code == 404
    assert give(stranger, item, "false").status_code == 404
    assert "#1" not in words(stranger.get("verification"))


def test_draw_form_says_what_it_cannot_take(ann: Person) -> None:
    posted = {"size": "9999", "weighting": "uniform", "recheck": "10"}
    bad = ann.post("verification/new", posted)
    assert bad.status_code == 422
    assert "2000" in text(bad)
    nobody = ann.post("verification/new", posted | {"size": "5", "partition": "nobody"})
    assert "holds no live fact to draw from" in text(nobody)
    good = ann.post("verification/new", posted | {"size": "5", "seed": "12"})
    assert good.status_code == 302
    assert "seed <code>12</code>" in text(ann.client.get(good.headers["Location"]))
