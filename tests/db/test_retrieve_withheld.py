"""What is withheld never comes out: by status, by partition, by containment, by delay."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from django.db import connection, connections

from records import queries
from records.access import Access
from records.domain.facts import Status
from records.retrieve import RecallAnswer, RecallRequest, recall
from records.retrieve.statement import PLANNER
from records.scope import partition_scope
from tests import factories as make

NOW = datetime.now(UTC)
PAST: list[dict[str, Any]] = [
    {},
    {"as_of": "now"},
    {"valid_at": "now"},
    {"as_of": "now", "valid_at": "now"},
]


def ask(access: Access, **asked: Any) -> RecallAnswer:
    now = datetime.now(UTC)  # asked when it is run, which may be long after it was collected
    times: dict[str, Any] = {n: now for n in ("as_of", "valid_at") if asked.pop(n, None)}
    partition = asked.pop("partition", "alice")
    request = RecallRequest(partition, "Alice employer secret", top_k=100, **asked, **times)
    return recall(request, access=access)


def values(answer: RecallAnswer) -> set[str]:
    return {item.value for item in answer.items}


@pytest.fixture
def access() -> Access:
    make.make_record(make.make_workspace(), "another workspace's secret", predicate="secret")
    found = make.make_workspace()
    make.make_record(found, "another partition's secret", partition="bob", predicate="secret")
    return found


@pytest.mark.parametrize("asked", PAST)
@pytest.mark.parametrize(
    "status", [s for s in Status if s not in (Status.ACTIVE, Status.SUPERSEDED, Status.ERASED)]
)
def test_no_withheld_status_is_served_whatever_the_time_asked_about(
    access: Access, status: Status, asked: dict[str, Any]
) -> None:
    always = f"{{[{(NOW - timedelta(days=9)).isoformat()},)}}"
    make.make_record(access, "served")
    make.make_record(access, "withheld secret", status=str(status), believed=always)
    assert values(ask(access, **asked)) == {"served"}


def test_a_superseded_record_is_not_served_now(access: Access) -> None:
    new = make.make_record(access, "Globex")
    make.make_record(access, "Acme", status="superseded", superseded_by=new)
    assert values(ask(access)) == {"Globex"}


@pytest.mark.parametrize("asked", PAST)
def test_a_partition_sees_nothing_of_another(access: Access, asked: dict[str, Any]) -> None:
    make.make_record(access, "Acme")
    assert values(ask(access, **asked)) == {"Acme"}
    assert values(ask(access, partition="bob", **asked)) == {"another partition's secret"}


def test_row_level_security_alone_keeps_partitions_apart(access: Access) -> None:
    mine = make.make_record(access, "Acme")
    partition = make.make_partition(access)
    with partition_scope(access.workspace_id, [partition], settings=PLANNER):
        cursor = queries.cursor()
        cursor.execute("SELECT current_user")
        assert cursor.fetchone() == ("memconsole_app",)
        cursor.execute("SELECT id FROM memory_record")
        assert cursor.fetchall() == [(mine,)]
        for table in ("claim", "session", "recall", "serve", "tally"):
            cursor.execute(f"SELECT count(*) FROM {table} WHERE partition_id <> %s", [partition])
            assert cursor.fetchone() == (0,), table
    with connection.cursor() as unscoped:
        unscoped.execute("SELECT count(*) FROM memory_record")
        assert unscoped.fetchone() == (0,)


def test_a_record_is_served_only_after_its_activation_delay(access: Access) -> None:
    served_from = datetime.now(UTC) + timedelta(hours=1)
    make.make_record(access, "approved", serve_after=served_from)
    assert ask(access).items == ()

    def at(seconds: int) -> RecallAnswer:
        asked = RecallRequest("alice", "Alice employer")
        return recall(asked, access=access, now=served_from + timedelta(seconds=seconds))

    assert at(-1).items == ()
    assert values(at(0)) == {"approved"}


@pytest.mark.parametrize("asked", PAST)
def test_what_only_a_suspended_session_claims_is_withheld(
    access: Access, asked: dict[str, Any]
) -> None:
    make.make_record(access, "poison", session="bad")
    make.make_record(access, "clean", session="good")
    assert values(ask(access, **asked)) == {"poison", "clean"}
    make.suspend_session(access, "bad")
    assert values(ask(access, **asked)) == {"clean"}


@pytest.mark.parametrize("asked", PAST)
@pytest.mark.parametrize("derived", [True, False])
def test_what_only_a_suspended_source_claims_is_withheld(
    access: Access, derived: bool, asked: dict[str, Any]
) -> None:
    make.make_record(access, "poison", source="feed", derived=derived)
    make.make_record(access, "clean")
    make.suspend_source(access, "feed")
    assert values(ask(access, **asked)) == {"clean"}


def test_another_partitions_suspended_session_withholds_nothing_here(access: Access) -> None:
    make.make_record(access, "clean", session="s1")
    make.suspend_session(access, "s1", partition="bob")
    assert values(ask(access)) == {"clean"}


def test_an_independent_claim_keeps_a_fact_in_service_with_what_it_is_worth(
    access: Access,
) -> None:
    both = make.make_record(access, "both", session="bad", corroboration=3, trust=2)
    make.make_claim(access, both, session="bad 2")
    make.make_claim(access, both, session="good")
    before = ask(access).items[0]
    assert before.factors["corroboration"] == pytest.approx(1.1585, abs=1e-4)
    assert set(before.provenance["sessions"]) == {"bad", "bad 2", "good"}
    make.suspend_session(access, "bad")
    make.suspend_session(access, "bad 2")
    after = ask(access).items[0]
    assert after.id == both
    assert after.factors["corroboration"] == 1.0
    assert after.provenance["sessions"] == ["good"]
    assert ask(access, corroborated_only=True).items == ()
    assert ask(access, min_trust="trusted").items == ()
    assert ask(access, min_trust="standard").items


@pytest.mark.parametrize("state", ["held", "dropped"])
def test_a_claim_that_does_not_count_keeps_nothing_in_service(access: Access, state: str) -> None:
    record_id = make.make_record(access, "poison", session="bad")
    make.make_claim(access, record_id, session="good", state=state)
    make.suspend_session(access, "bad")
    assert ask(access).items == ()


def test_a_suspended_sessions_dropped_claim_withholds_nothing(access: Access) -> None:
    record_id = make.make_record(access, "clean", session="good")
    make.make_claim(access, record_id, session="bad", state="dropped")
    make.suspend_session(access, "bad")
    assert values(ask(access)) == {"clean"}


def test_a_claim_through_another_source_of_the_same_session_counts(access: Access) -> None:
    record_id = make.make_record(access, "twice", session="s1", source="feed")
    make.make_claim(access, record_id, session="s1", source="conversation")
    make.suspend_source(access, "feed")
    assert values(ask(access)) == {"twice"}
    make.suspend_session(access, "s1")
    assert values(ask(access)) == set()


def test_containment_holds_before_the_limit_and_ends_with_the_flag(access: Access) -> None:
    for number in range(40):
        make.make_record(access, f"poison {number}", session="bad", confidence=1.0)
    make.make_record(access, "clean", session="good", confidence=0.3)
    row_id = make.make_session(access, "alice", "bad")
    make.suspend_session(access, "bad")
    asked = RecallRequest("alice", "Alice employer", top_k=1)
    assert values(recall(asked, access=access)) == {"clean"}
    make.change(access, "session", "id", row_id, suspended_at=None)
    assert recall(asked, access=access).items[0].value.startswith("poison")


def test_an_erased_record_has_nothing_left_to_serve(access: Access) -> None:
    record_id = make.make_record(access, "secret")
    make.change(
        access, "memory_record", "id", record_id,
        status="erased", subject="", subject_key="", value="", content="", embedding=None,
        embedding_model=None, terms=[], status_at=NOW,
    )  # fmt: skip
    for asked in PAST:
        assert ask(access, **asked).items == ()


def test_a_record_is_told_apart_by_its_id_only_in_its_partition(access: Access) -> None:
    foreign: UUID = make.make_record(access, "Acme", partition="bob")
    make.make_record(access, "Acme")
    assert foreign not in {item.id for item in ask(access).items}


@pytest.mark.full
def test_containing_fifty_thousand_claims_holds_at_once(access: Access) -> None:
    partition, source = make.make_partition(access), make.make_source(access)
    sessions = {name: make.make_session(access, "alice", name) for name in ("bad", "good")}
    for name, count, word in (("bad", 50_000, "poison"), ("good", 20, "clean")):
        make.make_many(access, count, word, partition, source, sessions[name])
    with connections["owner"].cursor() as cursor:
        cursor.execute("VACUUM ANALYZE memory_record, claim")
    asked = RecallRequest("alice", "employer poison", top_k=10)

    def found() -> set[str]:
        return {item.value.split()[0] for item in recall(asked, access=access).items}

    assert found() == {"poison"}
    make.suspend_session(access, "bad")
    assert found() == {"clean"}
