"""Invisible characters go and are reported, except where real text needs them."""

from __future__ import annotations

import pytest

from records.domain.canonical import clean


@pytest.mark.parametrize(
    "text",
    [
        "👩\u200d🚒 and ❤\ufe0f\u200d🔥",  # firefighter, heart on fire
        "👨\u200d👩\u200d👧\u200d👦",
        "🏳\ufe0f\u200d🌈",
        "⛹🏽\u200d♂\ufe0f",  # a skin tone before the joiner
        "1\ufe0f\u20e3",  # keycap
        "🏴\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f",  # Scotland
        "می\u200cخواهم",  # Persian
        "क्\u200dष",  # Devanagari half form
        "ന്\u200d",  # Malayalam chillu at the end of a word
        "葛\U000e0100城市",  # ideographic variant
        "ᠮᠣᠩᠭᠣᠯ\u180b",  # Mongolian
        "مرحبا بالعالم",
        "Zoë Łapka 1½ × €20 ℵ₀",
    ],
)
def test_real_text_is_left_alone(text: str) -> None:
    assert clean(text) == (text, ())


@pytest.mark.parametrize(
    ("text", "left", "names"),
    [
        ("i\u200bg", "ig", ["ZERO WIDTH SPACE"]),
        ("pri\u2060or", "prior", ["WORD JOINER"]),
        ("y\u200do\u200du", "you", ["ZERO WIDTH JOINER"] * 2),
        ("a\u200cb", "ab", ["ZERO WIDTH NON-JOINER"]),
        ("soft\u00adhyphen", "softhyphen", ["SOFT HYPHEN"]),
        ("\ufefffirst", "first", ["ZERO WIDTH NO-BREAK SPACE"]),
        ("x\u3164y", "xy", ["HANGUL FILLER"]),
        ("bell\x07", "bell", ["CONTROL-0007"]),
        ("\u202eabc\u202c", "abc", ["RIGHT-TO-LEFT OVERRIDE", "POP DIRECTIONAL FORMATTING"]),
        (
            "rows\U000e0069\U000e0067",
            "rows",
            ["TAG LATIN SMALL LETTER I", "TAG LATIN SMALL LETTER G"],
        ),
        ("🥜\U000e0153\U000e0155", "🥜", ["VARIATION SELECTOR-100", "VARIATION SELECTOR-102"]),
        ("a\ufe0f", "a", ["VARIATION SELECTOR-16"]),
        ("🚒\u200d", "🚒", ["ZERO WIDTH JOINER"]),
        ("می\u200c\u200cخ", "می\u200cخ", ["ZERO WIDTH NON-JOINER"]),
    ],
)
def test_hidden_characters_are_taken_out_and_named(text: str, left: str, names: list[str]) -> None:
    cleaned, removed = clean(text)
    assert cleaned == left
    assert [one.name for one in removed] == names
    assert all(ord(text[one.position]) == one.code_point for one in removed)


def test_accents_meet_their_letter_when_what_stood_between_is_gone() -> None:
    assert clean("e\u200b\u0301")[0] == "é"


def test_a_message_in_selectors_leaves_one_selector_at_most() -> None:
    hidden = "".join(chr(0xFE00 + value) for value in (1, 9, 4, 15, 15, 3))
    assert len(clean(f"葛{hidden}")[0]) <= 2


def test_white_space_of_every_kind_becomes_one_space() -> None:
    assert clean(" a\t\r\nb\u00a0\u2003\u3000c\u2028d\x85e ")[0] == "a b c d e"


def test_nul_and_lone_surrogates_do_not_crash() -> None:
    assert clean("a\x00b\ud800")[0] == "ab\ud800"
