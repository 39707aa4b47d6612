"""Credentials never survive a write; personal data is tagged and checked."""

from __future__ import annotations

import pytest

from records.domain.facts import GateContext, Outcome, Policy, Tier
from records.domain.gate import personal_data, secrets
from tests.unit.test_gate_check import judge, rules_of

PEM = "-----BEGIN RSA PRIVATE KEY-----\nMIIEowIBAAKCAQEA7\n-----END RSA PRIVATE KEY-----"
CREDENTIALS = [
    ("the key is sk_live_" + "4eC39HqLyjWDarjtT1zdp7dc", "4eC39HqLyjWDarjtT1zdp7dc"),
    ("Deploy token: ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a", "16C7e42F292c6912E7"),
    ("AWS key AKIA" + "Q7XKLMNOP3456789 is on the build server", "Q7XKLMNOP3456789"),
    ("postgres://app:s3cr3tpw@db.internal:5432/app", "s3cr3tpw"),
    (PEM, "MIIEowIBAAKCAQEA7"),
    ("The database password is Tr0ub4dor&3x", "Tr0ub4dor"),
    ("Her bank PIN is 4821", "4821"),
    ("api_key = 9f8a7b6c5d4e3f2a1b0c9d8e7f6a5b4c", "9f8a7b6c5d4e3f2a1b0c"),
    (
        "Seed phrase: lamp river stone apple cloud tiger bridge candle forest garden hotel island",
        "lamp",
    ),
]


@pytest.mark.parametrize(("text", "secret"), CREDENTIALS)
def test_credential_is_rejected_and_repeated_nowhere(text: str, secret: str) -> None:
    verdict = judge(text, content=f"user note {text}", evidence=f"He said: {text}")
    assert verdict.outcome is Outcome.REJECT
    assert secret not in repr(verdict)
    assert set(verdict.redacted) >= {"value", "content", "evidence"}
    assert all(not secrets.find(kept) for kept in verdict.redacted.values())


@pytest.mark.parametrize(
    "text",
    [
        "Password rotation happens every 90 days.",
        "The password is stored in 1Password.",
        "Only the secret `MEM0_API_KEY` belongs in `~/.hermes/.env`.",
        "The token expires after 15 minutes.",
        "Checksum (sha256): 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "The API key is required.",
        "The token format is base64url, for example eyJ0IjoiMSJ9.",
    ],
)
def test_talk_about_credentials_is_not_a_credential(text: str) -> None:
    assert secrets.find(text) == []


def test_published_sample_is_no_secret_but_a_real_one_beside_it_is() -> None:
    sample = "AKIAIOSFODNN7EXAMPLE"
    assert secrets.find(f"Docs use {sample} as the key.") == []
    assert secrets.find(f"Docs use {sample} but ours is AKIA" + "Q7XKLMNOP3456789")


def test_entropy_of_one_repeated_character_is_nothing() -> None:
    assert secrets.entropy("aaaa") == 0
    assert secrets.entropy("abcd") == 2


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Write to ina.berg@example.org", "email"),
        ("Call +44 20 7946 0018 after five", "phone"),
        ("Card 4111 1111 1111 1111", "card"),
        ("IBAN GB82 WEST 1234 5698 7654 32 since May", "iban"),
        ("SSN 078-05-1120", "national_id"),
    ],
)
def test_personal_data_is_tagged(text: str, kind: str) -> None:
    assert [tag.kind for tag in personal_data.find(text)] == [kind]


@pytest.mark.parametrize(
    "text",
    ["Card 4111 1111 1111 1112", "IBAN GB82 WEST 1234 5698 7654 33", "Order 5567 of 2024-05-01"],
)
def test_wrong_check_digits_are_no_card_and_no_iban(text: str) -> None:
    assert {tag.kind for tag in personal_data.find(text)} <= {"phone"}


def test_policy_decides_about_personal_data() -> None:
    def policy(**wishes: str) -> Policy:
        return Policy("note", validators=({"kind": "personal_data", **wishes},))

    text = "Write to ina.berg@example.org"
    held = judge(text, policy=policy(email="hold"))
    masked = judge(text, policy=policy(email="mask"))
    assert rules_of(held) >= {"personal.email"}
    assert "personal.email" not in rules_of(masked)
    assert masked.redacted["value"] == masked.redacted["content"] == "Write to [email]"
    card = "The card is 4111 1111 1111 1111"
    assert judge(card).outcome is Outcome.QUARANTINE
    assert judge(card, policy=policy(card="allow")).outcome is Outcome.ALLOW
    assert judge(card, context=GateContext(tier=Tier.TRUSTED)).outcome is Outcome.ALLOW
    assert "4111" not in repr(judge(card).findings)
