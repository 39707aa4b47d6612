"""Corrections: the right fact in, the wrong one a tombstone that links to it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from records.access import Access
from records.correct import correct
from records.items import BadRequest, NotFound

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


def test_foreign_record_is_not_found(access: Access, stranger: Access) -> None:
    theirs = put(stranger, fact())
    for reach in (access, replace(stranger, partition="ben")):
        with pytest.raises(NotFound):
            correct(theirs.id, value="Helio", access=reach, now=NOW)
