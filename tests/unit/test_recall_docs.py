"""docs/recall.md says the constants that the code has."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from records.domain import ranking, terms

TEXT = (Path(__file__).resolve().parents[2] / "docs" / "recall.md").read_text()


@pytest.mark.parametrize(
    "name",
    [
        "TEXT_WEIGHT",
        "NOT_CURRENT",
        "AGE_DAYS",
        "AGE_FLOOR",
        "CORROBORATION_STEP",
        "CORROBORATION_CEILING",
    ],
)
def test_each_constant_is_documented_as_it_is(name: str) -> None:
    found = re.findall(rf"`{name}` ([0-9.]*[0-9])", TEXT)
    assert [float(one) for one in found] == [getattr(ranking, name)]


def test_every_reason_is_documented() -> None:
    for reason in (ranking.EXPIRED, ranking.NOT_YET, ranking.RECHECK, ranking.UNLISTED):
        assert f"`{reason}`" in TEXT


def test_the_formula_names_the_weight_of_words() -> None:
    assert f"(1 - similarity) x {ranking.TEXT_WEIGHT} x text" in TEXT
    assert f"first {terms.MAX_INDEXED_TERMS} search terms" in TEXT
