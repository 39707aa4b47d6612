"""What a second write says: the same again in another spelling, or something new."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from records.domain.canonical import is_negated, predicate_key, value_key
from records.domain.facts import Cardinality, Normaliser, Policy

FIXTURES = Path(__file__).parents[1] / "fixtures"
ROWS = [
    json.loads(line)
    for line in (FIXTURES / "updates_own.jsonl").read_text(encoding="utf-8").splitlines()
]


def load_policies() -> dict[str, Policy]:
    """Read the policies a person would give the predicates of the updates."""
    entries = json.loads((FIXTURES / "updates_policies.json").read_text(encoding="utf-8"))
    return {
        entry["predicate"]: Policy(
            **{
                **entry,
                "cardinality": Cardinality(entry["cardinality"]),
                "normaliser": Normaliser(entry["normaliser"]),
            }
        )
        for entry in entries
    }


POLICIES = load_policies()


@pytest.mark.parametrize(
    "row", ROWS, ids=lambda row: f"{row['predicate']}: {row['old']} -> {row['new']}"
)
def test_a_value_is_restated_exactly_when_a_person_says_so(row: dict[str, Any]) -> None:
    policy = POLICIES[predicate_key(row["predicate"])]
    restated = value_key(row["old"], policy) == value_key(row["new"], policy)
    assert restated == (row["expected"] == "NOOP")


@pytest.mark.parametrize(
    "row", [row for row in ROWS if row["expected"] == "ADD"], ids=lambda row: row["new"]
)
def test_what_is_added_supersedes_nothing_by_its_policy_or_by_its_words(
    row: dict[str, Any],
) -> None:
    policy = POLICIES[predicate_key(row["predicate"])]
    assert policy.cardinality is Cardinality.MANY or is_negated(row["new"])


@pytest.mark.parametrize(
    "row",
    [row for row in ROWS if row["expected"] in ("UPDATE", "CONFLICT", "STALE")],
    ids=lambda row: row["new"],
)
def test_what_replaces_states_something_in_a_slot_for_one(row: dict[str, Any]) -> None:
    policy = POLICIES[predicate_key(row["predicate"])]
    assert policy.cardinality is Cardinality.ONE
    assert not is_negated(row["new"])
    assert policy.immutable == (row["expected"] == "CONFLICT")
