"""Monthly tables of the logs: made ahead, filled from the default one, dropped in time."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.db import connections

from records.access import Access
from records.jobs import catalogue, partitions, runs
from records.jobs.partitions import keep_partitions
from records.models import Event, Recall, Workspace
from records.scope import workspace_scope

NOW = datetime(2031, 5, 20, tzinfo=UTC)


def keep(now: datetime) -> dict[str, int]:
    run = runs.perform(catalogue.PARTITIONS, None, keep_partitions, now=now, using="maintenance")
    assert run is not None
    return run.changed


def tables() -> set[str]:
    return {name for log in partitions.LOGS for name in partitions._existing(log)}


def add_recall(access: Access, at: datetime) -> UUID:
    recall_id = uuid4()
    with workspace_scope(access.workspace_id):
        Recall.objects.create(
            id=recall_id, at=at, workspace_id=access.workspace_id, partition_id=uuid4(),
            actor="k", query="q", parameters={}, served_count=0, micros=1,
        )  # fmt: skip
    return recall_id


def where(recall_id: UUID) -> str:
    with connections["maintenance"].cursor() as cursor:
        cursor.execute("SELECT tableoid::regclass::text FROM recall WHERE id = %s", [recall_id])
        row = cursor.fetchone()
    return str(row[0]) if row else ""


def rows(statement: str, *values: Any) -> list[tuple[Any, ...]]:
    with connections["maintenance"].cursor() as cursor:
        cursor.execute(statement, values)
        return list(cursor.fetchall())


def test_coming_months_have_their_tables_before_they_begin(access: Access) -> None:
    keep(NOW)
    wanted = {f"{log}_2031_{month}" for log in ("recall", "serve") for month in ("05", "06", "07")}
    assert wanted <= tables()
    assert where(add_recall(access, NOW + timedelta(days=30))) == "recall_2031_06"
    assert keep(NOW) == {}


def test_rows_that_waited_in_the_default_table_move_into_their_month(access: Access) -> None:
    at = datetime(2033, 2, 3, tzinfo=UTC)
    recall_id = add_recall(access, at)
    assert where(recall_id) == "recall_rest"
    keep(at)
    assert where(recall_id) == "recall_2033_02"
    with workspace_scope(access.workspace_id):
        assert Recall.objects.filter(id=recall_id).exists()


def test_application_has_no_right_on_a_month_by_its_own_name() -> None:
    keep(NOW)
    for name in tables():
        for right in ("SELECT", "INSERT", "UPDATE", "DELETE"):
            ((answer,),) = rows("SELECT has_table_privilege('memconsole_app', %s, %s)", name, right)
            assert answer is False, f"{right} on {name}"


def test_months_past_the_retention_are_dropped_and_that_is_an_event(
    access: Access, settings: Any
) -> None:
    settings.LOG_RETENTION_DAYS = 100
    old, kept = datetime(2034, 1, 10, tzinfo=UTC), datetime(2034, 3, 10, tzinfo=UTC)
    old_id, kept_id = add_recall(access, old), add_recall(access, kept)
    keep(kept)
    assert keep(datetime(2034, 6, 5, tzinfo=UTC))["dropped"] >= 1
    assert (where(old_id), where(kept_id)) == ("", "recall_2034_03")
    ((count,),) = rows(
        "SELECT count(*) FROM event WHERE action = 'log.dropped' AND details->>'table' = %s",
        "recall_2034_01",
    )
    assert count == 1


def test_workspace_may_keep_its_logs_for_less_time(access: Access, stranger: Access) -> None:
    at = datetime(2035, 1, 10, tzinfo=UTC)
    mine, theirs = add_recall(access, at), add_recall(stranger, at)
    recent = add_recall(access, at + timedelta(days=25))
    with workspace_scope(access.workspace_id):
        workspace = Workspace.objects.get(id=access.workspace_id)
        workspace.settings = {**workspace.settings, "log_retention_days": 20}
        workspace.save(update_fields=["settings"])
    keep(at + timedelta(days=30))
    assert (where(mine), where(theirs), where(recent)) == ("", "recall_2035_01", "recall_2035_02")
    with workspace_scope(access.workspace_id):
        (event,) = Event.objects.filter(action="log.deleted")
        assert (event.count, event.details["log"]) == (1, "recall")


@pytest.mark.parametrize(
    ("month", "following"),
    [
        (datetime(2031, 12, 1, tzinfo=UTC), "2032-01-01"),
        (datetime(2031, 1, 1, tzinfo=UTC), "2031-02-01"),
    ],
)
def test_next_month_crosses_the_year(month: datetime, following: str) -> None:
    assert partitions.next_month(month.date()).isoformat() == following
