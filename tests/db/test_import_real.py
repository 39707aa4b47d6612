"""The whole of the real data through the write path, against the counts that are known."""

from __future__ import annotations

import io
import json
import os
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from records import policies
from records.access import Access
from records.domain.facts import Cardinality, Normaliser, Policy
from records.items import WriteItem, Written
from records.models import MemoryRecord
from records.scope import workspace_scope
from records.write import write_fact

FIXTURES = Path(__file__).resolve().parents[1] / "fixtures"
PREDICATES = (
    "author", "capital", "capital_of", "color", "composer", "country", "director", "father",
    "genre", "mother", "occupation", "place_of_birth", "producer", "religion", "screenwriter",
    "sport",
)  # fmt: skip
EXPECTED = {
    Cardinality.ONE: {"added": 2158, "updated": 2798, "reinforced": 14, "live": 2158, "all": 4956},
    Cardinality.MANY: {"added": 4944, "updated": 0, "reinforced": 26, "live": 4944, "all": 4944},
}
UPDATES = {
    "UPDATE": "updated",
    "NOOP": "reinforced",
    "ADD": "added",
    "CONFLICT": "contested",
    "STALE": "late",
}


def set_policies(access: Access, *rules: Policy) -> None:
    with workspace_scope(access.workspace_id):
        for rule in rules:
            policies.change(rule, reason="as a person would", access=access)


@pytest.mark.parametrize("cardinality", list(Cardinality))
def test_real_facts_give_exactly_the_known_counts(access: Access, cardinality: Cardinality) -> None:
    set_policies(access, *(Policy(p, cardinality=cardinality, ttl_days=None) for p in PREDICATES))
    out = io.StringIO()
    call_command(
        "import_facts",
        str(FIXTURES / "real_facts.csv.gz"),
        "--workspace",
        access.workspace,
        "--json",
        stdout=out,
    )
    report: dict[str, Any] = json.loads(out.getvalue())
    with workspace_scope(access.workspace_id):
        statuses = Counter(MemoryRecord.objects.values_list("status", flat=True))
    assert (report["read"], report["invalid"]) == (4970, 0)
    assert (report["held"], report["rejected"]) == (0, 0), "the gate holds a true fact"
    expected = EXPECTED[cardinality]
    assert {name: report[name] for name in ("added", "updated", "reinforced")} == {
        name: expected[name] for name in ("added", "updated", "reinforced")
    }
    assert (statuses["active"], statuses.total()) == (expected["live"], expected["all"])


def load_policies() -> list[Policy]:
    entries = json.loads((FIXTURES / "updates_policies.json").read_text(encoding="utf-8"))
    return [
        Policy(
            **{
                **entry,
                "cardinality": Cardinality(entry["cardinality"]),
                "normaliser": Normaliser(entry["normaliser"]),
            }
        )
        for entry in entries
    ]


def instant(text: str | None, *, otherwise: datetime) -> datetime:
    if text is None:
        return otherwise
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def wrongly_decided(access: Access, file: Path) -> tuple[int, list[str]]:
    """Write each row's two values and return how many rows there were and which went wrong."""
    set_policies(access, *load_policies())
    rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    now = datetime(2027, 1, 1, tzinfo=UTC)
    wrong = []
    for number, row in enumerate(rows):
        new_at = instant(row["when"], otherwise=now - timedelta(days=30))
        old_at = instant(row.get("old_when"), otherwise=new_at - timedelta(days=30))
        outcomes = []
        for value, at in ((row["old"], old_at), (row["new"], new_at)):
            item = WriteItem(
                partition=f"row-{number}",
                subject=row["subject"],
                predicate=row["predicate"],
                value=value,
                session=f"talk-{at:%Y-%m-%d-%H}",
                written_at=at,
            )
            outcome = write_fact(item, access=access, now=now)
            assert isinstance(outcome, Written), outcome
            outcomes.append(outcome)
        if outcomes[1].decision != UPDATES[row["expected"]]:
            rules = [finding["rule"] for one in outcomes for finding in one.findings]
            decisions = [one.decision for one in outcomes]
            wrong.append(f"{row['expected']}: {row['old']} -> {row['new']}: {decisions} {rules}")
    return len(rows), wrong


def test_our_own_second_writes_are_decided_as_a_person_would(access: Access) -> None:
    count, wrong = wrongly_decided(access, FIXTURES / "updates_own.jsonl")
    assert count == 31
    assert wrong == []


def test_second_writes_are_decided_as_a_person_would(access: Access) -> None:
    folder = os.environ.get("MEMCONSOLE_DATA")
    if not folder:
        pytest.skip("MEMCONSOLE_DATA names no folder with updates.jsonl")
    count, wrong = wrongly_decided(access, Path(folder) / "updates.jsonl")
    assert count == 135
    assert len(wrong) <= 10, "\n".join(wrong)
