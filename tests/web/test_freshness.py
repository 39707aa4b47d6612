"""The freshness page: each list, its counts, and acts that do exactly what was shown."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from audits import jobs
from audits.domain.roles import Role
from audits.freshness import measure_habits
from audits.models import PredicateHabit, SampleBatch, UnseenFact
from records import curate, sources
from records.domain.facts import Cardinality, Policy
from records.items import WriteItem
from records.jobs.runs import perform
from records.models import Event, MemoryRecord
from records.policies import book, change
from records.retrieve.recall import recall
from records.retrieve.request import RecallRequest
from records.scope import workspace_scope
from records.write import write_fact
from tests import factories

from .conftest import Person, make_person, put, text

DAY = timedelta(days=1)


@pytest.fixture
def reviewer() -> Person:
    return make_person(role=Role.REVIEWER)


def old_fact(person: Person, value: str, *, ends: datetime | None, **more: Any) -> UUID:
    return factories.make_record(
        person.access, value, partition="ada", subject="Ada", valid_until=ends, embed=False, **more
    )


def values(answer: Any) -> list[str]:
    """Return the values of the page's rows, in order."""
    return re.findall(r'data-label="Value" class="wide"><bdi[^>]*>([^<]*)</bdi>', text(answer))


def count(answer: Any, tab: str) -> str:
    found = re.search(rf'data-count="{tab}">([^<]*)<', text(answer))
    assert found
    return found[1]


def test_expired_facts_are_listed_the_longest_over_first_with_their_serves(
    reviewer: Person, stranger: Person
) -> None:
    now = datetime.now(UTC)
    served = old_fact(reviewer, "rusty", ends=now - 9 * DAY, seen=now - 30 * DAY)
    old_fact(reviewer, "recent", ends=now - DAY, seen=now - 30 * DAY)
    old_fact(reviewer, "current", ends=now + 200 * DAY)
    old_fact(stranger, "theirs", ends=now - DAY)
    answer = recall(RecallRequest(partition="ada", query="rusty"), access=reviewer.access)
    assert [one.id for one in answer.items] == [served]
    page = reviewer.get("freshness")
    assert values(page) == ["rusty", "recent"]
    assert count(page, "expired") == "2"
    assert count(page, "ending") == "0"
    assert f'records/{served}/serves">1</a>' in text(page)
    assert values(reviewer.get("freshness", served="yes")) == ["rusty"]
    assert values(stranger.get("freshness")) == ["theirs"]


def test_ending_reaches_as_far_as_the_url_says(reviewer: Person) -> None:
    now = datetime.now(UTC)
    for days in (3, 20, 60):
        old_fact(reviewer, f"in {days}", ends=now + days * DAY)
    assert values(reviewer.get("freshness", tab="ending", within=7)) == ["in 3"]
    assert values(reviewer.get("freshness", tab="ending")) == ["in 3", "in 20"]
    page = reviewer.get("freshness", tab="ending", within=90)
    assert values(page) == ["in 3", "in 20", "in 60"]
    assert count(page, "ending") == "3"


def test_unknown_filters_are_told_and_the_rest_still_filters(reviewer: Person) -> None:
    now = datetime.now(UTC)
    old_fact(reviewer, "a", ends=now - DAY, predicate="likes")
    old_fact(reviewer, "b", ends=now - DAY, predicate="owns")
    page = reviewer.get("freshness", predicate="owns", colour="red", within="8")
    assert values(page) == ["b"]
    assert "There is no filter" in text(page)
    assert "knows 7, 30, 90" in text(page)


def test_silence_beyond_the_habit_is_listed_in_words_and_the_job_may_run_twice(
    reviewer: Person,
) -> None:
    now = datetime.now(UTC)
    for place in range(6):
        seen = old_fact(reviewer, f"tea {place}", ends=None, predicate="drinks", seen=now - 2 * DAY)
        factories.make_tally(
            reviewer.access, seen, partition="ada", seen_count=3, first_seen=now - 20 * DAY,
            last_seen=now - 2 * DAY,
        )  # fmt: skip
    silent = old_fact(reviewer, "mate", ends=None, predicate="drinks", seen=now - 61 * DAY)
    run(reviewer)
    with workspace_scope(reviewer.access.workspace_id):
        habit = PredicateHabit.objects.get(predicate="drinks")
        assert habit.facts == 6
        assert habit.usual_days == pytest.approx(9, abs=0.01)
        before = list(UnseenFact.objects.values())
    page = reviewer.get("freshness", tab="unseen")
    assert values(page) == ["mate"]
    assert "usually seen every 9 days, last seen 61 days ago" in text(page)
    manager = make_person(reviewer.access, Role.ADMINISTRATOR)
    narrowed = text(manager.get("freshness", tab="unseen", predicate="drinks"))
    assert 'policies/edit/drinks?ttl_days=27"' in narrowed
    run(reviewer)
    with workspace_scope(reviewer.access.workspace_id):
        assert list(UnseenFact.objects.values()) == before
    curate.confirm(silent, "seen today", access=reviewer.access)
    assert values(reviewer.get("freshness", tab="unseen")) == []
    run(reviewer)
    with workspace_scope(reviewer.access.workspace_id):
        assert not UnseenFact.objects.exists()


def run(person: Person) -> None:
    perform(jobs.HABITS, person.access.workspace_id, measure_habits)


def test_what_a_source_stops_naming_is_listed_and_what_comes_back(reviewer: Person) -> None:
    access = reviewer.access
    for named in (("boat", "car"), ("boat",), ("boat", "car")):
        pass_ = sources.start_run("crm", partition="ada", access=access)
        for value in named:
            write_fact(
                WriteItem(
                    partition="ada", subject="Ada", predicate="owns", value=value, source="crm",
                    source_key=value, session="import",
                ),
                access=access,
            )  # fmt: skip
        sources.finish_run(pass_.id, access=access)
        if named == ("boat",):
            gone = reviewer.get("freshness", tab="unlisted")
            assert values(gone) == ["car"]
            assert count(gone, "unlisted") == "1"
            assert values(reviewer.get("freshness", tab="unlisted", source="other")) == []
    assert values(reviewer.get("freshness", tab="unlisted")) == []
    assert values(reviewer.get("freshness", tab="relisted")) == ["car"]


def test_dependents_of_a_changed_fact_say_because_of_what(reviewer: Person) -> None:
    access = reviewer.access
    with workspace_scope(access.workspace_id):
        change(
            Policy("home", cardinality=Cardinality.ONE, dependents=("commute",)),
            reason="test",
            access=access,
        )
    put(access, "Bonn", predicate="home")
    put(access, "by tram", predicate="commute")
    put(access, "Ulm", predicate="home", confidence=0.9)
    page = reviewer.get("freshness", tab="recheck")
    assert values(page) == ["by tram"]
    assert "changed to" in text(page)
    assert ">Ulm</bdi>" in text(page)


def frozen(answer: Any) -> str:
    found = re.search(r'name="frozen" value="([^"]+)"', text(answer))
    assert found, text(answer)
    return found[1]


def test_extending_by_policy_changes_exactly_what_was_shown(reviewer: Person) -> None:
    access, now = reviewer.access, datetime.now(UTC)
    with workspace_scope(access.workspace_id):
        change(Policy("drinks", ttl_days=40), reason="test", access=access)
        assert book(access.workspace_id).resolve("drinks").ttl_days == 40
    ids = [
        old_fact(reviewer, value, ends=now - DAY, predicate="drinks") for value in ("tea", "mate")
    ]
    preview = reviewer.get("freshness/act", verb="extend", id=[str(one) for one in ids])
    assert 'data-count="change">2<' in text(preview)
    curate.evict([ids[1]], "gone meanwhile", access=access)
    url = "freshness/act"
    no_reason = reviewer.post(url, {"frozen": frozen(preview), "how": "policy", "reason": ""})
    assert no_reason.status_code == 422
    answer = reviewer.post(url, {"frozen": frozen(preview), "how": "policy", "reason": "asked"})
    assert answer.status_code == 302
    told = text(reviewer.get("freshness"))
    assert "Extend: 1 of 2 facts" in told
    assert "1 is evicted" in told
    with workspace_scope(access.workspace_id):
        record = MemoryRecord.objects.get(id=ids[0])
        assert record.valid_until is not None
        assert abs(record.valid_until - (now + 40 * DAY)) < timedelta(minutes=5)
        event = Event.objects.get(action="record.extended", target_id=ids[0])
        assert (event.reason, event.actor) == ("asked", reviewer.user.username)
        assert not Event.objects.filter(action="record.extended", target_id=ids[1]).exists()


@pytest.mark.parametrize(
    ("verb", "action"), [("end", "record.ended"), ("recheck", "record.recheck")]
)
def test_demoting_all_of_a_list_takes_its_filters_along(
    reviewer: Person, verb: str, action: str
) -> None:
    now = datetime.now(UTC)
    soon = old_fact(reviewer, "soon", ends=now + 5 * DAY, predicate="likes")
    other = old_fact(reviewer, "other", ends=now + 5 * DAY, predicate="owns")
    preview = reviewer.get("freshness/act", verb=verb, all=1, tab="ending", predicate="likes")
    assert 'data-count="change">1<' in text(preview)
    reviewer.post("freshness/act", {"frozen": frozen(preview), "reason": "doubtful"})
    with workspace_scope(reviewer.access.workspace_id):
        assert set(Event.objects.filter(action=action).values_list("target_id", flat=True)) == {
            soon
        }
        assert MemoryRecord.objects.get(id=other).recheck_at is None
    tab = "expired" if verb == "end" else "recheck"
    assert values(reviewer.get("freshness", tab=tab)) == ["soon"]


def test_all_of_a_list_is_refused_while_a_filter_cannot_be_read(reviewer: Person) -> None:
    old_fact(reviewer, "a", ends=datetime.now(UTC) - DAY)
    path = "freshness/act"
    assert reviewer.get(path, verb="end", all=1, tab="expired").status_code == 200
    wrong = reviewer.get(path, verb="end", all=1, tab="expired", predicte="likes")
    assert wrong.status_code == 302
    assert "There is no filter" in text(reviewer.client.get(wrong.headers["Location"]))


def test_reverifying_makes_a_batch_of_exactly_these_facts_and_no_estimate(
    reviewer: Person,
) -> None:
    now = datetime.now(UTC)
    ids = [old_fact(reviewer, one, ends=now - DAY) for one in ("a", "b", "c")]
    preview = reviewer.get("freshness/act", verb="sample", id=[str(one) for one in ids[:2]])
    answer = reviewer.post("freshness/act", {"frozen": frozen(preview), "reason": "look"})
    with workspace_scope(reviewer.access.workspace_id):
        batch = SampleBatch.objects.get()
        assert (batch.weighting, batch.size) == ("chosen", 2)
    assert answer.headers["Location"].endswith(f"verification/{batch.id}")
    assert "chosen by a person" in text(reviewer.get(f"verification/{batch.id}"))
    assert reviewer.get("verification").status_code == 200


def test_a_foreign_preview_and_foreign_facts_change_nothing(
    reviewer: Person, stranger: Person
) -> None:
    now = datetime.now(UTC)
    mine = old_fact(reviewer, "mine", ends=now - DAY)
    theirs = make_person(role=Role.REVIEWER)
    seen = theirs.get("freshness/act", verb="end", id=[str(mine)])
    assert 'data-count="missing">1<' in text(seen)
    assert "Nothing would change" in text(seen)
    preview = reviewer.get("freshness/act", verb="confirm", id=[str(mine)])
    theirs.post("freshness/act", {"frozen": frozen(preview), "reason": "x"})
    with workspace_scope(reviewer.access.workspace_id):
        assert not Event.objects.filter(action="record.confirmed").exists()
    assert stranger.client.get(reviewer.url("freshness")).status_code == 404


def test_page_costs_the_same_for_many_rows(reviewer: Person) -> None:
    now = datetime.now(UTC)
    old_fact(reviewer, "one", ends=now - DAY)
    reviewer.get("freshness")
    with CaptureQueriesContext(connection) as few:
        reviewer.get("freshness")
    for place in range(60):
        old_fact(reviewer, f"v{place:02}", ends=now - DAY - place * timedelta(minutes=1))
    with CaptureQueriesContext(connection) as many:
        first = reviewer.get("freshness")
    assert len(many) == len(few)
    # Its own: the shell, the lists' counts and the page; the rest opens the transaction.
    reads = [one["sql"] for one in many if "memory_record" in one["sql"]]
    assert len(reads) <= 3
    assert len(many) <= 14
    assert len(values(first)) == 50
    following = re.search(r'rel="next" href="([^"]+)"', text(first))
    assert following
    second = reviewer.client.get(following[1].replace("&amp;", "&"))
    assert len(values(second)) == 11
    assert not set(values(first)) & set(values(second))
