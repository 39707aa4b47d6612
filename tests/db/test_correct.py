"""Corrections: the right fact in, the wrong one a tombstone that links to it."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from records.access import Access
from records.correct import correct
from records.items import BadRequest, NotFound
from records.retrieve import RecallRequest, recall

from .test_write import NOW, fact, put, record


@pytest.mark.parametrize("predicate", ["employer", "allergy"])
def test_correction_retracts_links_and_fences_the_old(access: Access, predicate: str) -> None:
    old = put(access, fact(predicate=predicate, value="Acme", confidence=0.95))
    done = correct(old.id, value="Helio", access=access, session="s2", now=NOW)
    row = record(access, old)
    assert (row.status, row.superseded_by) == ("retracted", done.written.id)
    assert record(access, done.written).status == "active"
    assert put(access, fact(predicate=predicate, value="Acme")).decision == "fenced"


def test_held_correction_leaves_the_old_in_service(access: Access) -> None:
    old = put(access, fact(predicate="birthday", value="3 May 1990"))
    done = correct(old.id, value="5 March 1990", access=access, now=NOW)
    assert (done.written.decision, done.retracted) == ("contested", False)
    assert record(access, old).status == "active"


def test_correction_that_says_the_same_is_refused(access: Access) -> None:
    old = put(access, fact(value="Acme"))
    with pytest.raises(BadRequest):
        correct(old.id, value="ACME Inc.", access=access, now=NOW)


def test_correcting_a_past_fact_mends_the_past_and_leaves_the_present(access: Access) -> None:
    old = put(access, fact(value="Acme", observed_at=NOW - timedelta(days=90)))
    live = put(access, fact(value="Birch", observed_at=NOW - timedelta(days=30)))
    done = correct(old.id, value="Helio", access=access, session="s2", now=NOW)
    assert done.retracted
    assert (done.written.decision, done.written.status) == ("late", "superseded")
    assert record(access, live).status == "active"
    row = record(access, old)
    assert (row.status, row.superseded_by) == ("retracted", done.written.id)

    def told(**asked: datetime) -> list[str]:
        answer = recall(RecallRequest("ada", "Ada employer", **asked), access=access, now=NOW)
        return [one.value for one in answer.items]

    assert told() == ["Birch"]
    assert told(valid_at=NOW - timedelta(days=60)) == ["Helio"]


def test_correcting_a_past_fact_to_what_it_says_is_refused(access: Access) -> None:
    old = put(access, fact(value="Acme", observed_at=NOW - timedelta(days=90)))
    put(access, fact(value="Birch", observed_at=NOW - timedelta(days=30)))
    with pytest.raises(BadRequest):
        correct(old.id, value="ACME Inc.", access=access, now=NOW)
    assert record(access, old).status == "superseded"


def test_foreign_record_is_not_found(access: Access, stranger: Access) -> None:
    theirs = put(stranger, fact())
    for reach in (access, replace(stranger, partition="ben")):
        with pytest.raises(NotFound):
            correct(theirs.id, value="Helio", access=reach, now=NOW)
