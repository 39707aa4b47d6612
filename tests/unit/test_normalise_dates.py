"""Dates and times: one spelling where the reading is certain."""

from __future__ import annotations

from datetime import date

import pytest

from records.domain.facts import Normaliser
from records.domain.normalise import clean, normalise
from records.domain.normalise.dates import as_day


def read(text: str, kind: Normaliser) -> tuple[Normaliser, str]:
    return normalise(clean(text)[0], kind)


@pytest.mark.parametrize(
    "text",
    [
        "1990-05-03",
        "3 May 1990",
        "03 May 1990",
        "May 3, 1990",
        "May 3rd 1990",
        "3rd of May, 1990",
        "the 3rd of May 1990",
        "Thursday, 3 May 1990",
        "3. Mai 1990",
        "3 de mayo de 1990",
        "3-May-1990",
        "1990/05/03",
        "1990年5月3日",
        "1990-05-03T00:00:00Z",
        "1990-05-03 00:00",
    ],
)
def test_one_day_has_one_spelling(text: str) -> None:
    assert read(text, Normaliser.DATE) == (Normaliser.DATE, "1990-05-03")


@pytest.mark.parametrize(
    ("text", "spelling"),
    [
        ("25/12/2024", "2024-12-25"),
        ("12/25/2024", "2024-12-25"),
        ("25.12.2024", "2024-12-25"),
        ("04/04/2025", "2025-04-04"),
        ("May 1990", "1990-05"),
        ("1990-05", "1990-05"),
        ("1990", "1990"),
        ("May 3", "--05-03"),
        ("29 February", "--02-29"),
        ("2026-06-12T10:00:00+02:00", "2026-06-12T08:00:00Z"),
    ],
)
def test_dates_keep_how_exact_they_are(text: str, spelling: str) -> None:
    assert read(text, Normaliser.DATE) == (Normaliser.DATE, spelling)


@pytest.mark.parametrize(
    "text",
    [
        "03/04/2025",
        "3.4.2025",
        "31 February 2020",
        "29 February 2023",
        "2023-13-01",
        "3 May 90",
        "next Tuesday",
        "2026-99-99T00:00",
        "9999-12-31T23:59:59-23:00",
        "00/00/2020",
        "32/13/2020",
    ],
)
def test_a_date_that_is_not_certain_stays_text(text: str) -> None:
    assert read(text, Normaliser.DATE)[0] is Normaliser.TEXT


def test_only_a_full_date_is_a_day() -> None:
    assert as_day("3 May 1990") == date(1990, 5, 3)
    assert as_day("2026-06-12T10:00:00+02:00") == date(2026, 6, 12)
    assert as_day("May 1990") is None
    assert as_day("May 3") is None
    assert as_day("soon") is None


@pytest.mark.parametrize(
    ("text", "spelling"),
    [
        ("15:00", "15:00"),
        ("3 pm", "15:00"),
        ("3PM", "15:00"),
        ("3:00 p.m.", "15:00"),
        ("15h", "15:00"),
        ("15:00:00", "15:00"),
        ("15 Uhr", "15:00"),
        ("at 3 pm", "15:00"),
        ("9:30 am", "09:30"),
        ("09:30", "09:30"),
        ("9.30 am", "09:30"),
        ("noon", "12:00"),
        ("12 pm", "12:00"),
        ("12 am", "00:00"),
        ("midnight", "00:00"),
        ("Mondays at 9:30 am", "mon 09:30"),
        ("Tue, 10:00", "tue 10:00"),
        ("3 pm CET", "15:00 cet"),
        ("15:00Z", "15:00 utc"),
        ("15:00 +02:00", "15:00 +02:00"),
        ("9:30 am Europe/Berlin", "09:30 europe/berlin"),
    ],
)
def test_times_of_day_have_one_spelling(text: str, spelling: str) -> None:
    assert read(text, Normaliser.TIME) == (Normaliser.TIME, spelling)


@pytest.mark.parametrize(
    "text", ["9", "25:00", "13 pm", "9:75", "24:00", "9-5", "after lunch", "15"]
)
def test_what_is_no_time_for_certain_stays_text(text: str) -> None:
    assert read(text, Normaliser.TIME)[0] is Normaliser.TEXT


@pytest.mark.parametrize(
    ("one", "other"), [("3 am", "3 pm"), ("15:00", "15:00 CET"), ("mon 9:30", "tue 9:30")]
)
def test_different_times_stay_apart(one: str, other: str) -> None:
    assert read(one, Normaliser.TIME) != read(other, Normaliser.TIME)
