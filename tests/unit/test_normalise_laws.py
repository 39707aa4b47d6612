"""What holds for the readers of every kind of value."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from records.domain.facts import Normaliser
from records.domain.negation import is_negated
from records.domain.normalise import clean, fold, normalise

KINDS = [kind for kind in Normaliser if kind not in (Normaliser.TEXT, Normaliser.EXACT)]
# Pieces of what the readers look for, so that random texts reach their depths.
PIECES = (
    *("1", "5", "15", "1990", "03", "12", "1,200", "1.5", ".", ",", "-", "/", ":", " ", "+", "'"),
    *("$", "€", "USD", "EUR", "kr", "k", "M", "per month", "/mo", "pm", "am", "h", "noon", "utc"),
    *("May", "3rd", "of", "Mon", "km", "MB", "Mb", "%", "°C", "seats", "days", "Inc.", "GmbH"),
    *("Co", "SA", "&", "and", "The", "J.", "O'Neil", "Street", "St.", "North", "Apt", "#", "LS1"),
    *("4AB", "@", "example", ".com", "http://", "HTTPS://", "%7e", "..", "?q=1", "#x", "0049"),
    *("(0)", "ext", "ü", "ß", "İ", "²", "½", "٣", "１", "\u2212", "e3", "straße", "<", ">", "--"),
)
VALUES = st.text(max_size=40) | st.lists(st.sampled_from(PIECES), max_size=8).map("".join)
SPACED = st.lists(st.sampled_from(PIECES), max_size=8).map(" ".join)


def read(text: str, kind: Normaliser) -> tuple[Normaliser, str]:
    return normalise(clean(text)[0], kind)


@pytest.mark.parametrize("kind", KINDS)
@given(text=VALUES | SPACED)
@example(text="1.1250")
@example(text="Apt #4")
@example(text="http://a.b/%2e%2e/c//")
def test_a_spelling_reads_as_itself(kind: Normaliser, text: str) -> None:
    how, spelling = read(text, kind)
    if how is kind:
        assert read(spelling, kind) == (how, spelling)
    assert clean(spelling)[0] == spelling


@pytest.mark.parametrize("kind", KINDS)
@given(text=VALUES | SPACED)
def test_a_value_that_is_not_read_is_compared_as_text(kind: Normaliser, text: str) -> None:
    how, spelling = read(text, kind)
    assert how in (kind, Normaliser.TEXT)
    if how is Normaliser.TEXT:
        assert spelling == fold(clean(text)[0])


@pytest.mark.parametrize("kind", [Normaliser.NAME, Normaliser.ADDRESS])
@given(text=st.text(alphabet="abc 0123456789.,'-/#", max_size=24))
def test_levelling_words_never_changes_a_number(kind: Normaliser, text: str) -> None:
    numbers = re.compile(r"\d+(?:[.,']\d+)*" if kind is Normaliser.NAME else r"\d+(?:\.\d+)*")
    how, spelling = read(text, kind)
    if how is kind:
        assert numbers.findall(spelling) == numbers.findall(clean(text)[0])


@pytest.mark.parametrize("kind", [Normaliser.MONEY, Normaliser.NUMBER])
@given(
    one=st.decimals(allow_nan=False, places=2, min_value=-(10**9), max_value=10**9), data=st.data()
)
def test_two_numbers_are_never_one(kind: Normaliser, one: object, data: st.DataObject) -> None:
    other = data.draw(st.decimals(allow_nan=False, places=2, min_value=-(10**9), max_value=10**9))
    assert (read(str(one), kind) == read(str(other), kind)) == (one == other)


@pytest.mark.parametrize("kind", Normaliser)
@pytest.mark.parametrize("text", ["", " ", "\u200b", "-", ".", "x" * 2000, "1" * 2000, "a@" * 500])
def test_odd_values_do_not_crash(kind: Normaliser, text: str) -> None:
    assert read(text, kind)[0] in (kind, Normaliser.TEXT)


@pytest.mark.parametrize("kind", Normaliser)
@pytest.mark.parametrize(
    "piece", ["#", "# ", "a.", "1,", "1 ", "\u0301\u200d", "क्\u200d", "../", "not "]
)
def test_reading_gets_through_what_is_far_too_long(kind: Normaliser, piece: str) -> None:
    # Ten times the longest value allowed: what grows with the square would stop the suite here.
    text = piece * (20_000 // len(piece))
    assert read(text, kind)[0] in (kind, Normaliser.TEXT)
    assert is_negated(text) in (True, False)
