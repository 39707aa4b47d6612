"""What a decision owes, and what an approval would do."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from audits.domain.approval import Outlook, foresee
from audits.domain.review import ADMISSIONS, DUE, REASONS, Verb, missing
from records.domain.risk import Risk

NOW = datetime(2026, 6, 1, tzinfo=UTC)
EARLIER = NOW - timedelta(days=1)


def owes(verb: Verb, risk: Risk = Risk.LOW, reason: str = "", note: str = "") -> bool:
    return missing(verb, risk=risk, reason=reason, note=note) is not None


def test_rejection_owes_a_reason_of_its_own_list_and_other_owes_words() -> None:
    assert owes(Verb.REJECT)
    assert owes(Verb.REJECT, reason="confirmed")
    assert not owes(Verb.REJECT, reason="false")
    assert owes(Verb.REJECT, reason="other")
    assert not owes(Verb.REJECT, reason="other", note="seen twice")


@pytest.mark.parametrize("verb", [Verb.APPROVE, Verb.SUPERSEDE, Verb.EDIT])
def test_letting_in_what_is_high_risk_owes_a_reason_or_words(verb: Verb) -> None:
    assert not owes(verb)
    assert owes(verb, Risk.HIGH)
    assert not owes(verb, Risk.HIGH, note="asked her")
    assert not owes(verb, Risk.HIGH, reason="confirmed")
    assert owes(verb, Risk.HIGH, reason="admitted")
    assert owes(verb, Risk.HIGH, reason="false")  # a reason for turning it away


def test_digits_name_one_reason_each_in_their_list() -> None:
    for listed in (REASONS, ADMISSIONS):
        assert len({one.id for one in listed}) == len(listed)
        assert all(1 <= one.id <= 9 for one in listed)
    assert [one.code for one in REASONS if one.id == 3] == ["private"]
    codes = [one.code for one in (*REASONS, *ADMISSIONS)]
    assert len(set(codes)) == len(codes)


def test_riskier_facts_are_due_sooner() -> None:
    spans = [DUE[risk] for risk in sorted(Risk, reverse=True)]
    assert spans == sorted(spans)


@pytest.mark.parametrize(
    ("cardinality", "incumbent_at", "beside", "valid_until", "expected"),
    [
        ("one", None, 0, None, Outlook.FIRST),
        ("one", EARLIER, 1, None, Outlook.REPLACES),
        ("one", NOW, 1, None, Outlook.REPLACES),
        ("one", NOW + timedelta(seconds=1), 1, None, Outlook.PAST),
        ("many", None, 0, None, Outlook.FIRST),
        ("many", None, 2, None, Outlook.BESIDE),
        ("many", None, 2, EARLIER, Outlook.EXPIRED),
    ],
)
def test_outlook_follows_the_slot(
    cardinality: str,
    incumbent_at: datetime | None,
    beside: int,
    valid_until: datetime | None,
    expected: Outlook,
) -> None:
    found = foresee(
        cardinality=cardinality,
        order_at=NOW,
        valid_until=valid_until,
        incumbent_at=incumbent_at,
        beside=beside,
        now=NOW,
    )
    assert found is expected
