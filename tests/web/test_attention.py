"""What needs a person, on the overview: each kind once it is there, and not before or elsewhere."""

from __future__ import annotations

import re
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

from django.db import connection
from django.utils import timezone

from audits import approvals, incidents, jobs
from audits.domain.incidents import Severity
from audits.domain.roles import Role
from audits.incidents import Details
from audits.models import Operation, SessionSuspicion
from records import curate
from records.access import Access
from records.domain.canonical import session_id
from records.domain.facts import HoldReason
from records.domain.ids import uuid7
from records.jobs import runs
from records.scope import workspace_scope
from tests import factories

from .conftest import Person, make_person, put, text

DAY = timedelta(days=1)


def lines(person: Person) -> list[str]:
    """Return the lines of the table as words."""
    page = text(person.get(""))
    part = page.split('id="needs-title"')[1].split("</section>")[0]
    rows = re.findall(r"<tr data-row>.*?</tr>", part, re.DOTALL)
    return [re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", row)).strip() for row in rows]


def links(person: Person) -> list[str]:
    page = text(person.get(""))
    part = page.split('id="needs-title"')[1].split("</section>")[0]
    return re.findall(r'href="([^"]+)"', part)


def hold_long_ago(access: Access, *values: str) -> None:
    for value in values:
        held = put(access, value, predicate="allergy")
        assert held.id
        curate.hold([held.id], HoldReason.MANUAL, access=access)
        long_ago = timezone.now() - 30 * DAY
        factories.change(access, "memory_record", "id", held.id, status_at=long_ago)


def test_nothing_needs_anybody_at_first(admin: Person) -> None:
    put(admin.access)
    assert lines(admin) == []
    assert "Nothing needs you" in text(admin.get(""))


def test_late_decisions_are_told_three_at_most_and_lead_to_the_others(
    admin: Person, stranger: Person
) -> None:
    put(stranger.access)
    hold_long_ago(admin.access, "cashews", "kiwi", "milk", "soy")
    found = lines(admin)
    assert len(found) == 3
    assert all("held, and overdue for a decision" in one for one in found)
    assert "and more like it" in found[-1]
    assert "and more like it" not in found[0]
    assert any(one.endswith("/queue?due=overdue") for one in links(admin))
    viewer = make_person(admin.access, Role.VIEWER)
    assert not any("/queue" in one for one in links(viewer))
    assert all(viewer.client.get(one).status_code == 200 for one in links(viewer))
    assert lines(stranger) == []


def test_snoozed_fact_is_not_late(admin: Person) -> None:
    hold_long_ago(admin.access, "cashews")
    assert len(lines(admin)) == 1
    record = re.search(r"/queue/([0-9a-f-]{36})", "".join(links(admin)))
    assert record
    with workspace_scope(admin.access.workspace_id), connection.cursor() as cursor:
        cursor.execute(
            """INSERT INTO review_item (record_id, workspace_id, partition_id, snoozed_at,
                   snoozed_until)
               VALUES (%s, %s, %s, now(), now() + interval '1 day')
               ON CONFLICT (record_id) DO UPDATE SET snoozed_at = excluded.snoozed_at,
                   snoozed_until = excluded.snoozed_until""",
            [record[1], admin.access.workspace_id, admin.access.partition_id("ada")],
        )
    assert lines(admin) == []


def test_incident_that_nobody_acknowledged_comes_first(admin: Person) -> None:
    hold_long_ago(admin.access, "cashews")
    with workspace_scope(admin.access.workspace_id):
        opened = incidents.open_incident(Details("<b>odd</b>", Severity.HIGH), access=admin.access)
    found = lines(admin)
    assert "nobody has acknowledged it" in found[0]
    assert "&lt;b&gt;odd" in found[0]
    assert f"#{opened.number}" in found[0]
    with workspace_scope(admin.access.workspace_id):
        incidents.acknowledge(opened.id, access=admin.access)
    assert not any("acknowledged" in one for one in lines(admin))


def test_open_question_names_who_asked(admin: Person) -> None:
    put(admin.access)
    make_person(admin.access, Role.ADMINISTRATOR)
    with workspace_scope(admin.access.workspace_id):
        approvals.ask(
            "gate_rule_disable",
            target_kind="gate_ruleset",
            target_id=uuid4(),
            summary="Switch off own.rule",
            payload={},
            reason="noisy",
            access=admin.access,
            user_id=admin.user.id,
        )
    (found,) = lines(admin)
    assert "Switch off own.rule waits for a second person" in found


def test_operation_that_did_not_reach_everything_is_told_for_a_week(admin: Person) -> None:
    put(admin.access)
    for title, age in (("fresh", timedelta(hours=1)), ("old", 8 * DAY)):
        at = timezone.now() - age
        with workspace_scope(admin.access.workspace_id):
            Operation.objects.create(
                id=uuid7(at), workspace_id=admin.access.workspace_id, kind="evict",
                state="failed", title=title, requested_by="p", requested_at=at, started_at=at,
                finished_at=at, reason="r", error="e",
            )  # fmt: skip
    (found,) = lines(admin)
    assert found.startswith("fresh a bulk operation did not reach everything")


def test_session_that_stands_out_is_told_until_it_is_suspended(admin: Person) -> None:
    access = admin.access
    put(access, session="odd one")
    wanted = session_id(access.workspace_id, access.partition_id("ada"), "odd one")
    now = timezone.now()
    with workspace_scope(access.workspace_id):
        SessionSuspicion.objects.create(
            session_id=wanted, workspace_id=access.workspace_id,
            partition_id=access.partition_id("ada"), score=77, looked_at=now, computed_at=now,
        )  # fmt: skip
    (found,) = lines(admin)
    assert "Session odd one stands out: scores 77" in found
    curate.suspend("session", wanted, "odd", access=access)
    assert lines(admin) == []


def test_rule_that_is_mostly_wrong_is_told_from_twenty_decisions_on(admin: Person) -> None:
    access = admin.access
    put(access)

    def tally(rule: str, approved: int, rejected: int) -> None:
        with workspace_scope(access.workspace_id), connection.cursor() as cursor:
            cursor.execute(
                """INSERT INTO gate_tally (workspace_id, day, rule, hits, held, approved, rejected,
                       last_at) VALUES (%s, %s, %s, 20, 20, %s, %s, now())""",
                [access.workspace_id, datetime.now(UTC).date(), rule, approved, rejected],
            )

    tally("own.few", 19, 0)
    tally("own.right", 5, 15)
    assert lines(admin) == []
    tally("own.wrong", 15, 5)
    (found,) = lines(admin)
    assert "Rule own.wrong reviewers let in 15 of 20 facts that it held" in found


def test_job_that_failed_is_told(admin: Person) -> None:
    put(admin.access)

    def fail(run: Any, now: Any) -> None:
        raise RuntimeError("no")

    with suppress(RuntimeError):
        runs.perform(jobs.MEASURES, admin.access.workspace_id, fail)
    (found,) = lines(admin)
    assert "Numbers about the memory, for monitoring the last run failed" in found
