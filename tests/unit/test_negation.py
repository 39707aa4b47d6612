"""A value that denies or doubts is told from one that states."""

from __future__ import annotations

import pytest

from records.domain.canonical import is_negated


@pytest.mark.parametrize(
    "value",
    [
        "not a manager",
        "Not Acme Corp",
        "no longer a manager",
        "no longer at Acme",
        "isn't a manager",
        "isn\u2019t a manager",
        "She is not a manager",
        "He doesn't work at Acme",
        "never eats shellfish",
        "used to be an analyst",
        "formerly at Acme",
        "not married",
        "would be Berlin if promoted",
        "might move to Hull",
        "may be Leeds",
        "could be Leeds",
        "maybe Berlin",
        "perhaps Leeds",
        "The user might move to Hull",
        "I think he might be a manager",
        "if promoted, senior analyst",
        "wants to be a manager",
        "considering Berlin",
        "unknown",
        "N/A",
        "not\u200b a manager",
        "nicht Berlin",
        "ya no vive en Madrid",
        "не менеджер",
        "不再是经理",
        "東京ではない",
    ],
)
def test_denials_doubts_and_placeholders_state_nothing(value: str) -> None:
    assert is_negated(value)


@pytest.mark.parametrize(
    "value",
    [
        "manager",
        "no",
        "none",
        "never",
        "Notting Hill",
        "Nora Nott",
        "Will Smith",
        "May",
        "May 3, 1990",
        "Mighty Ducks",
        "Iffy Ltd",
        "No. 5 Chanel",
        "not started",
        "not responding",
        "do not disturb",
        "Pas-de-Calais",
        "Uses Biome, no longer Prettier",
        "Close third person, present tense. No asides.",
        "Lives in Hull; might move next year",
        "大阪に住んでいる",
        "",
    ],
)
def test_statements_are_not_taken_for_denials(value: str) -> None:
    assert not is_negated(value)
