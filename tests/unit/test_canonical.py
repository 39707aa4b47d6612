"""Identity: the same fact gets the same id however it is spelled, another fact never."""

from __future__ import annotations

import sys
import unicodedata
from datetime import UTC, datetime, timedelta, timezone
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from records.domain.canonical import (
    address_id,
    clean,
    fingerprint,
    identifier,
    partition_id,
    predicate_key,
    session_id,
    slot_id,
    value_key,
)
from records.domain.facts import Normaliser, Policy

WORKSPACE = UUID(int=1)
OTHER_WORKSPACE = UUID(int=2)
PARTITION = UUID(int=3)
TEXT = Policy("note")
JOINERS_AND_BASES = (
    "ab1. -\u200b\u200c\u200d\ufe0f\u0301\u0327क्ষमیم👩🚒❤1\u20e3\U000e0061\U000e007f\U0001f3f4Åﬁ"
)
ANY_TEXT = st.text(max_size=80) | st.text(alphabet=JOINERS_AND_BASES, max_size=20)


@given(st.text(alphabet=st.characters(exclude_categories=()), max_size=60))
def test_no_text_crashes_and_surrogates_have_a_fingerprint(text: str) -> None:
    keys = identifier(text), predicate_key(text), value_key(text, TEXT)
    assert fingerprint(*keys).startswith("fp_")
    assert len(fingerprint(*keys)) == 27


@given(ANY_TEXT)
def test_cleaning_and_folding_are_repeatable(text: str) -> None:
    cleaned = clean(text)[0]
    assert clean(cleaned) == (cleaned, ())
    assert identifier(identifier(text)) == identifier(text)
    assert predicate_key(predicate_key(text)) == predicate_key(text)


def test_every_character_folds_to_something_that_stays() -> None:
    for code_point in range(sys.maxunicode + 1):
        if unicodedata.category(chr(code_point)) in ("Cn", "Co"):
            continue  # has no letters to fold, and there are a million of them
        key = identifier(f"a{chr(code_point)}b")
        assert identifier(key) == key, f"U+{code_point:04X}"


@given(st.text(alphabet=st.characters(codec="latin-1"), max_size=40))
def test_case_and_white_space_are_not_identity(text: str) -> None:
    key = identifier(text)
    assert identifier(f"  {text.upper()}\u00a0 ") == identifier(text.upper())
    assert identifier(text.swapcase().swapcase()) == identifier(text)
    assert identifier(" \t".join(key.split(" "))) == key


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Zoe\u0301", "Zoé"),
        ("STRASSE", "Straße"),
        ("O\u2019Brien", "O'Brien"),
        ("1990\u20131995", "1990-1995"),
        ("Ada\u00a0\u2003Novak", "ada novak"),
        ("pay\u200bpal", "paypal"),
        ("\u202eevil\u202c", "evil"),
        ("❤\ufe0f", "❤"),
        ("a\u2800b", "a b"),
    ],
)
def test_spellings_of_one_text_are_one(one: str, other: str) -> None:
    assert identifier(one) == identifier(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("10²", "102"),
        ("½", "1/2"),
        ("Ⅳ", "IV"),
        ("1.5", "15"),
        ("résumé", "resume"),
        ("می\u200cخواهم", "میخواهم"),
        ("👩\u200d🚒", "👩🚒"),
    ],
)
def test_texts_that_mean_different_things_stay_apart(one: str, other: str) -> None:
    assert identifier(one) != identifier(other)


@pytest.mark.parametrize(
    "spelling",
    ["Job Title", "job_title", "JOB-TITLE", " job  title ", "job_-title", "Job\u2011Title"],
)
def test_predicates_are_one_however_their_words_are_joined(spelling: str) -> None:
    assert predicate_key(spelling) == "job_title"


def test_a_predicate_of_joints_only_keeps_its_spelling() -> None:
    assert predicate_key(" - ") == "-"


@given(st.lists(st.text(max_size=12), min_size=3, max_size=3), st.data())
def test_fingerprints_do_not_depend_on_where_the_parts_are_cut(
    parts: list[str], data: st.DataObject
) -> None:
    joined = "".join(parts)
    first = data.draw(st.integers(0, len(joined)))
    second = data.draw(st.integers(first, len(joined)))
    cut = [joined[:first], joined[first:second], joined[second:]]
    assert (fingerprint(*cut) == fingerprint(*parts)) == (cut == parts)


def test_separators_inside_a_part_do_not_move_it() -> None:
    assert fingerprint("a::b", "c", "d") != fingerprint("a", "b::c", "d")
    assert fingerprint("1:a", "b", "c") != fingerprint("a", "1:b", "c")


def test_fingerprint_is_fixed_for_this_schema_version() -> None:
    # Stored in every record: a change here needs SCHEMA_VERSION raised and records keyed again.
    assert fingerprint("ada novak", "employer", "name:helio") == "fp_a4248a87027716bc103bfdec"
    assert slot_id(WORKSPACE, PARTITION, "ada novak", "employer") == UUID(
        "dd508dc7-bfc3-8164-a429-edf9b1f32c2b"
    )


def test_ids_of_different_things_never_meet() -> None:
    made = {
        slot_id(WORKSPACE, PARTITION, "a", "b"),
        slot_id(WORKSPACE, PARTITION, "a_b", ""),
        slot_id(OTHER_WORKSPACE, PARTITION, "a", "b"),
        slot_id(WORKSPACE, UUID(int=4), "a", "b"),
        address_id(WORKSPACE, PARTITION, "a", "b"),
        address_id(WORKSPACE, PARTITION, "A", "b"),
        session_id(WORKSPACE, PARTITION, "a"),
        session_id(WORKSPACE, PARTITION, "A"),
        partition_id(WORKSPACE, "a"),
        partition_id(WORKSPACE, "A"),
        partition_id(WORKSPACE, "a "),
        partition_id(OTHER_WORKSPACE, "a"),
    }
    assert len(made) == 12
    assert {(one.version, one.variant) for one in made} == {(8, "specified in RFC 4122")}


def test_a_partition_named_with_an_invisible_character_is_another_partition() -> None:
    assert partition_id(WORKSPACE, "alice\u200b") != partition_id(WORKSPACE, "alice")
    assert partition_id(WORKSPACE, "zoe\u0301") == partition_id(WORKSPACE, "zoé")


def test_observation_time_is_identity_for_a_time_series_only() -> None:
    series = Policy("reading", normaliser=Normaliser.NUMBER, time_series=True)
    noon = datetime(2026, 3, 1, 12, tzinfo=UTC)
    elsewhere = noon.astimezone(timezone(timedelta(hours=9)))
    later = noon + timedelta(seconds=1)
    assert value_key("5 km", series, noon) == value_key("5.0km", series, elsewhere)
    assert value_key("5 km", series, noon + timedelta(microseconds=9)) == value_key(
        "5 km", series, noon
    )
    assert value_key("5 km", series, noon) != value_key("5 km", series, later)
    assert value_key("5 km", series, noon) != value_key("5 km", series)
    assert value_key("x", TEXT, noon) == value_key("x", TEXT, later)


def test_what_a_normaliser_cannot_read_never_equals_what_it_can() -> None:
    money = Policy("price", normaliser=Normaliser.MONEY)
    assert value_key("USD 1200", money) == value_key("$1,200", money)
    assert value_key("money:USD 1200", money) != value_key("$1,200", money)
    assert value_key("about $1,200", money) != value_key("$1,200", money)
    assert value_key("money:USD 1200", TEXT) != value_key("$1,200", money)


@given(st.sampled_from(list(Normaliser)), st.text(max_size=40))
def test_every_normaliser_takes_any_text_and_is_blind_to_outer_space(
    normaliser: Normaliser, text: str
) -> None:
    policy = Policy("any", normaliser=normaliser)
    assert value_key(f"  {text} \n", policy) == value_key(text, policy)


def test_exact_values_keep_their_case() -> None:
    exact = Policy("code", normaliser=Normaliser.EXACT)
    assert value_key("AbC", exact) != value_key("abc", exact)
    assert value_key("AbC", TEXT) == value_key("abc", TEXT)


def test_places_keep_their_ids_when_the_spelling_of_facts_changes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def places() -> list[object]:
        return [
            partition_id(WORKSPACE, "ada"),
            session_id(WORKSPACE, PARTITION, "s1"),
            address_id(WORKSPACE, PARTITION, "hr", "42"),
        ]

    before, fact = places(), fingerprint("ada", "employer", "text:acme")
    monkeypatch.setattr("records.domain.canonical.SCHEMA_VERSION", 2)
    assert places() == before
    assert fingerprint("ada", "employer", "text:acme") != fact
