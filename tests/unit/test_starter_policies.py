"""The starter policies fit together and say what a person would."""

from __future__ import annotations

from collections import Counter

import pytest

from records.domain.canonical import predicate_key
from records.domain.facts import Cardinality, Policy
from records.domain.starter import load_starter_policies
from records.domain.validators import spec_problems

POLICIES = load_starter_policies()
BY_PREDICATE = {policy.predicate: policy for policy in POLICIES}
ENCYCLOPAEDIC = (
    *("screenwriter", "genre", "producer", "occupation", "capital_of", "director", "composer"),
    *("capital", "author", "religion", "country", "sport", "father", "color", "place_of_birth"),
    "mother",
)


def test_no_name_is_claimed_by_two_policies() -> None:
    names = Counter(name for p in POLICIES for name in (p.predicate, *p.aliases))
    assert [name for name, times in names.items() if times > 1] == []


def test_every_name_is_in_canonical_spelling() -> None:
    names = [name for p in POLICIES for name in (p.predicate, *p.aliases, *p.dependents)]
    assert [name for name in names if predicate_key(name) != name] == []


def test_every_dependent_is_a_policy_of_its_own_and_not_itself() -> None:
    for policy in POLICIES:
        assert policy.predicate not in policy.dependents
        assert [name for name in policy.dependents if name not in BY_PREDICATE] == []


def test_every_policy_is_described_in_one_line() -> None:
    for policy in POLICIES:
        assert 5 <= len(policy.description) <= 100
        assert policy.description.endswith(".")
        assert "\n" not in policy.description


@pytest.mark.parametrize("policy", POLICIES, ids=lambda p: p.predicate)
def test_validators_and_limits_can_be_run(policy: Policy) -> None:
    assert [fault for spec in policy.validators for fault in spec_problems(spec)] == []
    assert policy.ttl_days is None or policy.ttl_days > 0
    assert policy.half_life_days is None or policy.half_life_days > 0
    if policy.ttl_days and policy.half_life_days:
        assert policy.half_life_days < policy.ttl_days


@pytest.mark.parametrize("predicate", ENCYCLOPAEDIC)
def test_encyclopaedic_facts_do_not_expire(predicate: str) -> None:
    policy = BY_PREDICATE[predicate]
    assert policy.ttl_days is None
    assert policy.half_life_days is None


@pytest.mark.parametrize("predicate", ["birthday", "blood_type", "place_of_birth"])
def test_what_cannot_change_is_immutable_and_does_not_expire(predicate: str) -> None:
    policy = BY_PREDICATE[predicate]
    assert policy.immutable
    assert policy.ttl_days is None
    assert policy.cardinality is Cardinality.ONE


def test_a_time_series_holds_many_readings() -> None:
    series = [p for p in POLICIES if p.time_series]
    assert {p.predicate for p in series} == {"balance", "reading"}
    assert {p.cardinality for p in series} == {Cardinality.MANY}


def test_what_steers_the_agent_is_protected() -> None:
    protected = {p.predicate for p in POLICIES if p.protected}
    assert protected >= {
        "agent_identity", "agent_role", "instructions", "system_prompt", "permissions",
    }  # fmt: skip


def test_what_moves_money_or_mixes_people_up_is_sensitive() -> None:
    sensitive = {p.predicate for p in POLICIES if p.sensitive}
    assert sensitive >= {
        "bank_account", "iban", "payment_card", "credential", "alias", "records_kept_under",
        "consent", "emergency_contact", "runbook",
    }  # fmt: skip


def test_moving_house_makes_what_depends_on_it_doubtful() -> None:
    assert set(BY_PREDICATE["address"].dependents) >= {"commute", "gym", "tax_office"}
    assert set(BY_PREDICATE["employer"].dependents) >= {
        "job_title", "manager", "team", "work_email",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("spoken", "predicate"),
    [
        ("works at", "employer"),
        ("Company", "employer"),
        ("Home City", "city"),
        ("date-of-birth", "birthday"),
        ("relationship status", "marital_status"),
        ("spoken language", "language"),
        ("latest version", "version"),
    ],
)
def test_common_spellings_lead_to_their_predicate(spoken: str, predicate: str) -> None:
    by_name = {name: p.predicate for p in POLICIES for name in (p.predicate, *p.aliases)}
    assert by_name[predicate_key(spoken)] == predicate
