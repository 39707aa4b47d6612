"""Hostile text in pieces, differences in words: what pages draw, without a page."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from audits.domain.diff import changes
from audits.domain.inert import MARKS_LIMIT, pieces

# Everything that hides, turns or breaks a line, among ordinary letters.
AWKWARD = st.text(
    st.one_of(
        st.sampled_from(
            "\u202e\u202c\u200b\u200d\u2066\u2069\ufeff\u00ad\x00\x1b\n\t\r\u2028\u0301"
        ),
        st.characters(),
        st.sampled_from([chr(0xE0000 + code) for code in range(0x20, 0x7F)]),
        st.sampled_from("ab<>&\"' \u05e9\U0001f468"),
    ),
    max_size=80,
)


@given(AWKWARD)
def test_pieces_lose_nothing_and_stand_in_order(text: str) -> None:
    found = list(pieces(text))
    assert "".join(one.text for one in found) == text
    assert [one.start for one in found] == [
        sum(len(one.text) for one in found[:place]) for place in range(len(found))
    ]


@given(AWKWARD)
def test_no_plain_piece_turns_the_text_or_breaks_its_line(text: str) -> None:
    for one in pieces(text):
        if not one.label:
            assert not set(one.text) & set(
                "\u202a\u202b\u202d\u202e\u2066\u2067\u2068\x00\x1b\n\r\u2028"
            )
        else:
            assert one.label.isprintable() or "hidden tags" in one.label


@given(AWKWARD, st.integers(0, 80), st.integers(0, 80))
def test_marks_cover_their_range_exactly(text: str, start: int, end: int) -> None:
    marked = {
        place
        for one in pieces(text, marks=[(start, end)])
        if one.marked
        for place in range(one.start, one.start + len(one.text))
    }
    assert marked == set(range(start, min(end, len(text))))


def labels(text: str) -> list[str]:
    return [one.label for one in pieces(text) if one.label]


def test_hidden_characters_are_named_and_runs_are_counted() -> None:
    assert labels("pay \u202egnp\u202c") == [
        "U+202E right-to-left override",
        "U+202C end of direction",
    ]
    assert labels("a" + "\u200b" * 37 + "b") == ["U+200B zero-width space \u00d737"]
    hidden = "".join(chr(0xE0000 + ord(char)) for char in "obey")
    assert labels(f"hello{hidden}") == ["hidden tags: obey"]


def test_what_real_spelling_needs_is_text() -> None:
    assert labels("\U0001f468\u200d\U0001f469\u200d\U0001f467 is one family") == []
    assert labels("\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645") == []


def test_towers_of_marks_are_cut_down() -> None:
    tower = "Z" + "\u0301\u0302\u0303\u0304\u0305\u0306\u0307"
    shown = "".join(one.text for one in pieces(tower) if not one.label)
    assert len(shown) == 1 + MARKS_LIMIT
    assert labels(tower) == ["3 combining marks"]


@given(st.text(max_size=60), st.text(max_size=60))
def test_difference_holds_both_values(old: str, new: str) -> None:
    found = list(changes(old, new))
    assert "".join(one.text for one in found if one.kind != "added") == old
    assert "".join(one.text for one in found if one.kind != "removed") == new


def test_difference_of_unlike_values_is_one_replacement() -> None:
    assert [one.kind for one in changes("Northwind Traders", "Helio Labs")] == ["removed", "added"]
    kinds = [one.kind for one in changes("works at Acme in York", "works at Helio in York")]
    assert kinds == ["kept", "removed", "added", "kept"]
