"""Search terms are stable numbers, and a question meets the fact it asks about."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from records.domain.stems import stem
from records.domain.terms import MAX_INDEXED_TERMS, query_terms, terms


def test_terms_are_fixed_for_all_time() -> None:
    # Stored in the database: another number here means every stored term must be made again.
    assert terms("Ada works in Leeds") == (-1922005144, 1397647488, 1609338446, 1291691215)


@given(st.text(alphabet=st.characters(exclude_categories=()), max_size=80))
def test_terms_are_distinct_signed_32_bit_numbers(text: str) -> None:
    found = terms(text)
    assert len(set(found)) == len(found)
    assert all(-(2**31) <= term < 2**31 for term in found + query_terms(text))


@pytest.mark.parametrize(
    ("question", "fact"),
    [
        ("Where does Ada work?", "Ada Novak works at Helio"),
        ("allergies", "allergic: allergy to cashews"),
        ("Which cities?", "The city is Leeds"),
        ("ABC-123", "the code is abc-123."),
        ("abc123", "the code is ABC-123"),
        ("abc", "the code is ABC-123"),
        ("email", "her e-mail is ravi@new.example"),
        ("new.example", "her e-mail is ravi@new.example"),
        ("ravi@new.example", "Her e-mail is Ravi@New.Example"),
        ("github django", "https://github.com/django/django"),
        ("version 2.9.1", "SDK latest_version 2.9.1"),
        ("job title", "job_title: analyst"),
        ("C++", "writes C++ and Go"),
        ("zoe", "Her dog is Zoë"),
        ("user's dog", "the user has a dog"),
        ("O'Brien", "Pat O\u2019Brien"),
        ("大阪", "彼女は大阪に住んでいる"),
        ("猫", "猫を二匹飼っている"),
        ("钢琴", "他每周三晚上学习钢琴。"),
        ("ｆｕｌｌ", "full"),
        ("दुनिया", "नमस्ते दुनिया"),
    ],
)
def test_a_question_meets_the_fact_it_asks_about(question: str, fact: str) -> None:
    assert set(query_terms(question)) & set(terms(fact))


@pytest.mark.parametrize(
    ("question", "fact"),
    [("102", "1.02"), ("1.5", "15"), ("10-20", "1020"), ("大阪", "大和"), ("cat", "category")],
)
def test_different_words_share_no_term(question: str, fact: str) -> None:
    whole = {terms(question)[-1]}
    assert not whole & set(terms(fact))


def test_stop_words_are_kept_in_facts_and_dropped_from_questions() -> None:
    assert set(query_terms("who are you")) <= set(terms("Who Are You is an album"))
    assert query_terms("what is the name of her dog") == query_terms("name dog")
    assert query_terms("who are you") == terms("who are you")


def test_single_characters_come_after_every_pair() -> None:
    text = "大阪"
    assert terms(text)[0] == query_terms(text)[0]
    assert len(terms(text)) == 3


def test_a_fact_of_the_usual_length_fits_the_index() -> None:
    assert len(terms("The quick brown fox jumps over the lazy dog near Leeds. " * 16)) < 20
    assert len(terms(" ".join(f"word{n}" for n in range(300)))) == 300 > MAX_INDEXED_TERMS


@pytest.mark.parametrize(
    "family",
    [
        ["work", "works", "worked", "working"],
        ["allergy", "allergies"],
        ["city", "cities"],
        ["live", "lives", "lived", "living"],
        ["plan", "plans", "planned", "planning"],
        ["change", "changes", "changed", "changing"],
        ["box", "boxes"],
        ["movie", "movies"],
        ["address", "addresses"],
        ["agree", "agreed"],
    ],
)
def test_forms_of_one_word_have_one_stem(family: list[str]) -> None:
    assert len({stem(word) for word in family}) == 1


@pytest.mark.parametrize(
    ("one", "other"), [("hope", "hop"), ("need", "nee"), ("sing", "s"), ("bus", "bu"), ("red", "r")]
)
def test_short_words_are_not_cut_to_others(one: str, other: str) -> None:
    assert stem(one) != stem(other)
