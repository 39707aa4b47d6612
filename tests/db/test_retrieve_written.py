"""What goes in by the write path comes out of recall: from one door to the other."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest

from records.access import Access
from records.items import WriteItem, Written
from records.retrieve import RecallRequest, recall
from records.write import write_facts

NOW = datetime.now(UTC)


def put(access: Access, at: datetime = NOW, **fact: Any) -> Written:
    item = WriteItem(**({"partition": "alice", "subject": "Alice", "session": "chat"} | fact))
    (written,) = write_facts([item], access=access, now=at)
    assert isinstance(written, Written)
    return written


def ask(access: Access, query: str, **asked: Any) -> list[str]:
    answer = recall(RecallRequest("alice", query, **asked), access=access)
    return [item.value for item in answer.items]


def test_a_terse_content_is_found_by_its_subject_and_predicate(
    access: Access, stranger: Access
) -> None:
    put(access, predicate="vegetarian", value="yes", content="yes, for years")
    put(access, predicate="city", value="Leeds", content="lives in Leeds", subject="Bob")
    put(stranger, predicate="vegetarian", value="no")
    assert ask(access, "Is Alice a vegetarian?")[0] == "yes"


@pytest.mark.parametrize("dimensions", [8, 1_536])
def test_a_callers_vector_is_met_by_the_callers_question(
    access: Access, stranger: Access, dimensions: int
) -> None:
    rng = np.random.default_rng(3)
    near, far = rng.normal(size=(2, dimensions)) * 40
    put(access, predicate="note", value="near", embedding=near.tolist())
    put(access, predicate="note", value="far", embedding=far.tolist())
    put(stranger, predicate="note", value="theirs", embedding=near.tolist())
    question = (near + rng.normal(size=dimensions)).tolist()
    answer = recall(RecallRequest("alice", "zebra", embedding=question), access=access)
    assert answer.items[0].value == "near"
    assert answer.items[0].factors["similarity"] == pytest.approx(1.0, abs=0.01)
    assert all(item.factors["similarity"] < 0.8 for item in answer.items[1:])


def test_a_job_change_is_answered_by_the_new_job_and_as_of_then_by_the_old(
    access: Access, stranger: Access
) -> None:
    first, second = NOW - timedelta(days=60), NOW - timedelta(days=10)
    put(access, first, predicate="employer", value="Acme", written_at=first)
    changed = put(access, second, predicate="employer", value="Globex", written_at=second)
    put(stranger, first, predicate="employer", value="Initech", written_at=first)
    assert changed.decision == "updated"
    assert ask(access, "Who employs Alice?") == ["Globex"]
    assert ask(access, "Who employs Alice?", as_of=NOW - timedelta(days=30)) == ["Acme"]
    assert ask(access, "Who employs Alice?", valid_at=NOW - timedelta(days=30)) == ["Acme"]
    assert ask(access, "Who employs Alice?", valid_at=NOW - timedelta(days=5)) == ["Globex"]
    assert ask(access, "Who employs Alice?", as_of=NOW - timedelta(days=90)) == []


def test_what_a_session_was_just_told_comes_back_as_an_echo(
    access: Access, stranger: Access
) -> None:
    put(access, predicate="employer", value="Acme", session="writer")
    put(stranger, predicate="employer", value="Acme", session="writer")
    assert ask(access, "Who employs Alice?", session="reader") == ["Acme"]
    later = NOW + timedelta(minutes=1)
    echoed = put(access, later, predicate="employer", value="acme", session="reader")
    assert echoed.decision == "echoed"
    assert put(stranger, later, predicate="employer", value="acme", session="reader").decision == (
        "reinforced"
    )
