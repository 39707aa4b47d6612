"""Business rules say in words what is wrong, and hold what they cannot check."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from records.domain.facts import Normaliser, Outcome, Policy
from records.domain.validators import check, spec_problems

NOW = datetime(2026, 6, 1, 12, tzinfo=UTC)


def problems(value: str, *specs: dict[str, Any], **policy: Any) -> list[str]:
    return [p.message for p in check(value, Policy("any", validators=specs, **policy), now=NOW)]


@pytest.mark.parametrize(
    ("spec", "good", "bad"),
    [
        ({"kind": "range", "min": 0, "max": 150}, "12", "151"),
        ({"kind": "range", "min": 0, "max": 150}, "150 years", "-1"),
        ({"kind": "range", "max": 0.5}, "0.5", "0.51"),
        ({"kind": "range", "min": 0}, "3", "three"),
        ({"kind": "pattern", "re2": "[A-Z]{2}[0-9]+"}, "AB12", "AB12 and more"),
        ({"kind": "one_of", "values": ["Open", "Closed"]}, "open", "ajar"),
        ({"kind": "max_length", "max": 5}, "12345", "123456"),
        ({"kind": "min_length", "min": 3}, "abc", "ab"),
        ({"kind": "date"}, "3 May 1990", "03/04/2025"),
        ({"kind": "date_not_future"}, "2026-06-02", "2026-06-03"),
        ({"kind": "date_range", "min": "1900-01-01"}, "1900-01-01", "1899-12-31"),
        ({"kind": "date_range", "max": "2030-01-01"}, "2030-01-01", "2 Jan 2030"),
        ({"kind": "number"}, "1,200", "1.200"),
        ({"kind": "email"}, "a@x.example", "a at x"),
        ({"kind": "phone"}, "+49 30 5550101", "12"),
        ({"kind": "url_scheme"}, "https://x.example", "ftp://x.example"),
        ({"kind": "url_scheme", "schemes": ["ftp"]}, "ftp://x.example", "https://x.example"),
        ({"kind": "url_scheme"}, "http://x.example", "javascript:alert(1)"),
        ({"kind": "country"}, "germany", "Atlantis"),
        ({"kind": "country"}, "DE", "D"),
        ({"kind": "currency"}, "49 EUR", "49"),
        ({"kind": "currency", "codes": ["EUR"]}, "€49", "$49"),
        ({"kind": "timezone"}, "Europe/Berlin", "ignore all rules"),
        ({"kind": "timezone"}, "UTC+2", ""),
        ({"kind": "iban"}, "DE89 3704 0044 0532 0130 00", "DE88 3704 0044 0532 0130 00"),
    ],
)
def test_a_rule_tells_good_from_bad(spec: dict[str, Any], good: str, bad: str) -> None:
    assert spec_problems(spec) == []
    assert problems(good, spec) == []
    assert len(problems(bad, spec)) == 1


def test_a_rule_reads_money_as_money() -> None:
    spec = {"kind": "range", "min": 10}
    assert problems("$12/month", spec, normaliser=Normaliser.MONEY) == []
    assert problems("$5", spec, normaliser=Normaliser.MONEY) == [
        "the value must be at least 10; it says 5"
    ]


def test_a_date_that_is_not_a_day_is_not_called_future() -> None:
    assert problems("May 2030", {"kind": "date_not_future"}) == []


def test_the_outcome_is_the_rules_own_and_quarantine_without_one() -> None:
    specs = ({"kind": "number"}, {"kind": "email", "outcome": "reject"})
    found = check("x", Policy("any", validators=specs), now=NOW)
    assert [(p.kind, p.outcome) for p in found] == [
        ("number", Outcome.QUARANTINE),
        ("email", Outcome.REJECT),
    ]


@pytest.mark.parametrize(
    "spec",
    [
        {"kind": "nope"},
        {},
        {"kind": ["range"]},
        {"kind": "range"},
        {"kind": "range", "min": "2020-01-01"},
        {"kind": "range", "min": True},
        {"kind": "range", "min": "nan"},
        {"kind": "date_range", "min": 5},
        {"kind": "max_length", "max": "many"},
        {"kind": "pattern", "re2": "("},
        {"kind": "pattern", "re2": "a" * 501},
        {"kind": "pattern", "re2": "(?=a)"},
        {"kind": "one_of", "values": "abc"},
        {"kind": "one_of", "values": []},
        {"kind": "number", "outcome": "allow"},
        {"kind": "number", "mim": 3},
    ],
)
def test_a_rule_that_cannot_be_run_is_named_and_holds_the_write(spec: dict[str, Any]) -> None:
    assert spec_problems(spec) != []
    assert [message[:36] for message in problems("5", spec)] == [
        "the policy's validator cannot be run"
    ]


def test_a_pattern_takes_linear_time() -> None:
    spec = {"kind": "pattern", "re2": "(a+)+b"}
    assert len(problems("a" * 2000, spec)) == 1


@given(st.text(max_size=40))
def test_no_value_crashes_a_rule(value: str) -> None:
    specs = tuple(
        {"kind": kind}
        for kind in ("date", "date_not_future", "number", "email", "phone", "url_scheme", "country",
                     "currency", "timezone", "iban")
    )  # fmt: skip
    assert len(problems(value, *specs, {"kind": "range", "min": 0})) <= len(specs) + 1


def test_policy_may_say_what_becomes_of_personal_data() -> None:
    assert spec_problems({"kind": "personal_data", "email": "mask", "card": "allow"}) == []
    assert spec_problems({"kind": "personal_data", "email": "shout"}) == [
        "email: must be allow, hold or mask"
    ]
    assert spec_problems({"kind": "personal_data"})
    policy = Policy("note", validators=({"kind": "personal_data", "email": "mask"},))
    assert check("ada@example.org", policy, now=NOW) == []
