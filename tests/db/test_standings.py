"""Validity and decay: what the clock changes, told once, however often the jobs run."""

from __future__ import annotations

import threading
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest
from django.db import connections

from records import curate
from records.access import Access
from records.domain.facts import HoldReason
from records.jobs import catalogue, runs, standings
from records.jobs.decay import update_age
from records.jobs.validity import update_validity
from records.models import Event, Standing
from records.scope import workspace_scope

from .test_write import NOW, fact, put


def validity(access: Access, now: datetime) -> dict[str, int]:
    run = runs.perform(catalogue.VALIDITY, access.workspace_id, update_validity, now=now)
    assert run is not None
    return run.changed


def decay(access: Access, now: datetime) -> dict[str, int]:
    run = runs.perform(catalogue.DECAY, access.workspace_id, update_age, now=now)
    assert run is not None
    return run.changed


def standing(access: Access, record_id: UUID | None) -> Standing:
    with workspace_scope(access.workspace_id):
        return Standing.objects.get(record_id=record_id)


def told(access: Access, record_id: UUID | None) -> list[str]:
    with workspace_scope(access.workspace_id):
        found = Event.objects.filter(target_id=record_id, actor_kind="job").order_by("id")
        return [e.action for e in found]


def days(number: float) -> timedelta:
    return timedelta(days=number)


def test_fact_fades_grows_stale_and_expires_with_an_event_each(
    access: Access, stranger: Access
) -> None:
    one = put(access, fact(valid_from=NOW, valid_until=NOW + days(100)))
    other = put(stranger, fact(valid_from=NOW, valid_until=NOW + days(100)))
    for passed, band in [(1, "fresh"), (81, "fading"), (96, "stale"), (101, "expired")]:
        validity(access, NOW + days(passed))
        assert standing(access, one.id).validity == band
    assert told(access, one.id) == [f"record.validity.{b}" for b in ("fading", "stale", "expired")]
    with workspace_scope(stranger.workspace_id):
        assert not Standing.objects.filter(record_id=other.id).exists()


def test_run_that_comes_late_tells_the_change_to_now_once(access: Access) -> None:
    one = put(access, fact(valid_from=NOW, valid_until=NOW + days(100)))
    assert validity(access, NOW + days(200)) == {"new": 1, "to_expired": 1}
    assert validity(access, NOW + days(200)) == {}
    assert told(access, one.id) == ["record.validity.expired"]


def test_fact_seen_again_is_fresh_again(access: Access) -> None:
    one = put(access, fact(predicate="favourite snack", value="nuts"))  # unknown: 180 days
    validity(access, NOW + days(150))
    assert standing(access, one.id).validity == "fading"
    put(access, fact(predicate="favourite snack", value="nuts", session="s2"), NOW + days(151))
    validity(access, NOW + days(152))
    assert standing(access, one.id).validity == "fresh"
    assert told(access, one.id) == ["record.validity.fading", "record.validity.fresh"]


def test_expired_fact_that_a_person_extends_is_fresh_within_a_day(access: Access) -> None:
    one = put(access, fact(valid_from=NOW, valid_until=NOW + days(10)))
    validity(access, NOW + days(11))
    assert one.id is not None
    curate.extend(one.id, NOW + days(400), "still true", access=access, now=NOW + days(11))
    validity(access, NOW + days(12))
    assert standing(access, one.id).validity == "fresh"


def test_record_out_of_service_has_no_standing_and_gets_one_when_it_is_back(
    access: Access,
) -> None:
    one = put(access, fact(valid_from=NOW, valid_until=NOW + days(100)))
    assert one.id is not None
    validity(access, NOW)
    curate.hold([one.id], HoldReason.MANUAL, access=access, now=NOW + days(1))
    validity(access, NOW + days(90))
    with workspace_scope(access.workspace_id):
        assert not Standing.objects.filter(record_id=one.id).exists()
    curate.approve(one.id, access=access, now=NOW + days(90))
    validity(access, NOW + days(91.1))
    assert standing(access, one.id).validity == "fading"


def test_decay_follows_the_half_life_or_the_default(access: Access) -> None:
    one = put(access, fact(predicate="employer", value="Acme"))
    validity(access, NOW)
    with connections["maintenance"].cursor() as cursor:
        cursor.execute("UPDATE memory_record SET half_life_days = 10 WHERE id = %s", [one.id])
    decay(access, NOW + days(6))
    assert standing(access, one.id).age == "fresh"  # not due by the times of its intake
    validity(access, NOW + days(6))  # the daily pass sees that the record's times have changed
    decay(access, NOW + days(6))
    assert standing(access, one.id).age == "fading"
    decay(access, NOW + days(11))
    assert standing(access, one.id).age == "stale"
    assert told(access, one.id) == ["record.age.fading", "record.age.stale"]


def test_two_runs_at_once_tell_each_change_once(access: Access) -> None:
    ids = [
        put(
            access,
            fact(predicate="likes", value=f"v{n}", valid_from=NOW, valid_until=NOW + days(9)),
        ).id
        for n in range(20)
    ]
    validity(access, NOW)
    gate = threading.Barrier(4)

    def go() -> None:
        gate.wait()
        runs.perform(catalogue.VALIDITY, access.workspace_id, update_validity, now=NOW + days(10))
        connections.close_all()

    threads = [threading.Thread(target=go) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    for record_id in ids:
        assert told(access, record_id) == ["record.validity.expired"]


def test_mass_expiry_is_told_in_groups_that_name_the_records(
    access: Access, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(standings, "EVENTS_LIMIT", 5)
    ids = [
        put(
            access,
            fact(predicate="likes", value=f"v{n}", valid_from=NOW, valid_until=NOW + days(9)),
        ).id
        for n in range(6)
    ]
    validity(access, NOW)
    assert validity(access, NOW + days(10)) == {"to_expired": 6}
    with workspace_scope(access.workspace_id):
        (event,) = Event.objects.filter(action="record.validity.expired")
        assert event.count == 6
        assert set(event.details["records"]) == {str(one) for one in ids}
        assert Standing.objects.filter(validity="expired").count() == 6


def test_intake_goes_on_where_it_stopped(access: Access) -> None:
    now = datetime.now(UTC)
    put(access, fact(value="Acme"), now)
    assert validity(access, now) == {"new": 1}
    put(access, fact(predicate="likes", value="tea"), now)
    assert validity(access, now + timedelta(minutes=1)) == {"new": 1}
