"""Quotes of what is destroyed: found whole, in any spelling, and taken out of any kind of text."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from records.domain.quotes import (
    MARK,
    Phrases,
    strings_of,
    without,
    without_in_json,
    without_in_query,
)


@pytest.mark.parametrize(
    ("text", "phrase"),
    [
        ("It says ACME  Corp is right", "acme corp"),
        ("acme corp", "Acme Corp"),
        ("(Acme Corp)", "Acme Corp"),
        ("東京に住んでいます", "東京"),
        ("mail ada@example.org today", "ada@example.org"),
        ("+49 30 123", "+49 30 123"),
    ],
)
def test_phrase_is_found_in_any_case_and_spacing_and_taken_out(text: str, phrase: str) -> None:
    found = Phrases([phrase]).found_in(text)
    assert len(found) == 1
    clean = without(text, found)
    assert MARK in clean
    assert Phrases([phrase]).found_in(clean) == set()


@pytest.mark.parametrize(
    ("text", "phrase"),
    [("Adamant people", "Ada"), ("cadaver", "Ada"), ("the user said", "user"), ("", "Ada")],
)
def test_part_of_a_word_and_what_names_nobody_are_no_quotes(text: str, phrase: str) -> None:
    assert Phrases([phrase]).found_in(text) == set()
    assert without(text, Phrases([phrase]).found_in(text)) == text


def test_url_keeps_its_names_and_its_other_values() -> None:
    query = "text=Acme+%26+S%C3%B6hne&status=active&partition=ada"
    clean = without_in_query(query, ["acme & söhne"])
    assert clean == "text=%5Berased%5D&status=active&partition=ada"


def test_json_keeps_its_shape() -> None:
    value = {"a": ["Acme Corp", 1, None], "b": {"c": 'says "Acme Corp"'}, "Acme Corp": True}
    clean = without_in_json(value, ["acme corp"])
    assert clean == {"a": [MARK, 1, None], "b": {"c": f'says "{MARK}"'}, "Acme Corp": True}
    assert "acme" not in json.dumps(list(strings_of(clean))).lower()


@given(st.text("aAb .-\t"), st.text("aAb .-", min_size=1))
def test_what_is_found_is_gone_afterwards_and_the_rest_stays(text: str, phrase: str) -> None:
    phrases = Phrases([phrase])
    found = phrases.found_in(text)
    clean = without(text, found)
    if not found:
        assert clean == text
    elif phrase.isascii() and text.isascii() and "erased" not in phrase.lower():
        assert phrases.found_in(clean.replace(MARK, "\x00")) == set()
