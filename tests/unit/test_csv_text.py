"""CSV that leaves the console: nothing in it runs, nothing of it is lost."""

from __future__ import annotations

import csv
import io
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from audits.domain.csv_text import DANGEROUS, csv_line, neutral


@pytest.mark.parametrize("start", [*DANGEROUS, " =", "\u00a0@", "  -"])
def test_text_that_a_spreadsheet_could_run_is_kept_behind_a_quote(start: str) -> None:
    assert neutral(f"{start}cmd|' /C calc'!A0") == f"'{start}cmd|' /C calc'!A0"


@pytest.mark.parametrize("text", ["Acme", "a=b", "3 May", "'quoted", "", "x\n=1"])
def test_harmless_text_stays_as_it_is(text: str) -> None:
    assert neutral(text) == text


def test_numbers_keep_their_sign_and_times_are_utc() -> None:
    assert [neutral(one) for one in (-3, 0.5, None, True)] == ["-3", "0.5", "", "yes"]
    at = datetime(2026, 3, 1, 1, 30, tzinfo=timezone(timedelta(hours=2)))
    assert neutral(at) == "2026-02-28T23:30:00.000000Z"
    assert neutral(datetime(2026, 1, 1, tzinfo=UTC)).endswith("Z")


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"])), min_size=1))
def test_a_reader_gets_every_cell_back_and_none_begins_a_formula(cells: list[str]) -> None:
    lines = csv_line(cells)
    (row,) = csv.reader(io.StringIO(lines, newline=""))
    assert [one.removeprefix("'") for one in row] == [
        one.replace("\x00", "\u2400").removeprefix("'") for one in cells
    ]
    assert not any(one.startswith(DANGEROUS) for one in row)
    assert lines.endswith("\r\n")
