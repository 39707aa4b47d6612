"""Sources that are overdue: flagged at the edge, cleared at the next, once each."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

from records.access import Access
from records.jobs import catalogue, runs
from records.jobs.freshness import update_freshness
from records.models import Event, Source
from records.scope import workspace_scope

NOW = datetime(2026, 6, 1, tzinfo=UTC)
DAY = timedelta(days=1)


def add_source(access: Access, name: str, every: timedelta | None) -> UUID:
    source_id = uuid4()
    with workspace_scope(access.workspace_id):
        Source.objects.create(
            id=source_id, workspace_id=access.workspace_id, name=name,
            expected_every=every, last_run_at=NOW,
        )  # fmt: skip
    return source_id


def freshen(access: Access, now: datetime) -> dict[str, int]:
    run = runs.perform(catalogue.FRESHNESS, access.workspace_id, update_freshness, now=now)
    assert run is not None
    return run.changed


def told(access: Access, source_id: UUID) -> list[str]:
    with workspace_scope(access.workspace_id):
        found = Event.objects.filter(target_id=source_id, actor="freshness").order_by("id")
        return [e.action for e in found]


def overdue_since(access: Access, source_id: UUID) -> datetime | None:
    with workspace_scope(access.workspace_id):
        return Source.objects.get(id=source_id).overdue_since


def test_source_is_overdue_once_its_grace_has_passed_and_told_once(
    access: Access, stranger: Access
) -> None:
    source, theirs = add_source(access, "crm", DAY), add_source(stranger, "crm", DAY)
    assert freshen(access, NOW + 1.05 * DAY) == {}
    assert freshen(access, NOW + 1.2 * DAY) == {"overdue": 1}
    assert freshen(access, NOW + 2 * DAY) == {}
    assert overdue_since(access, source) == NOW + DAY
    assert told(access, source) == ["source.overdue"]
    assert overdue_since(stranger, theirs) is None


def test_source_that_ran_is_on_time_again(access: Access) -> None:
    source = add_source(access, "crm", DAY)
    freshen(access, NOW + 2 * DAY)
    with workspace_scope(access.workspace_id):
        Source.objects.filter(id=source).update(last_run_at=NOW + 2 * DAY)
    assert freshen(access, NOW + 2.5 * DAY) == {"on_time": 1}
    assert overdue_since(access, source) is None
    assert told(access, source) == ["source.overdue", "source.on_time"]


def test_source_of_which_nothing_is_expected_is_never_overdue(access: Access) -> None:
    source = add_source(access, "talk", None)
    assert freshen(access, NOW + 1_000 * DAY) == {}
    assert overdue_since(access, source) is None
    source = add_source(access, "crm", DAY)
    freshen(access, NOW + 2 * DAY)
    with workspace_scope(access.workspace_id):
        Source.objects.filter(id=source).update(expected_every=None)
    assert freshen(access, NOW + 3 * DAY) == {"on_time": 1}
