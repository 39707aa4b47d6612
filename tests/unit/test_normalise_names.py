"""Names and postal addresses: decoration goes, everything that tells two apart stays."""

from __future__ import annotations

import pytest

from records.domain.facts import Normaliser
from records.domain.normalise import clean, normalise


def name(text: str) -> tuple[Normaliser, str]:
    return normalise(clean(text)[0], Normaliser.NAME)


def address(text: str) -> tuple[Normaliser, str]:
    return normalise(clean(text)[0], Normaliser.ADDRESS)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Helio Energy", "Helio Energy GmbH"),
        ("Acme Inc.", "ACME, Inc"),
        ("Acme Corp", "Acme Corporation"),
        ("Foo Co., Ltd.", "Foo"),
        ("Smith & Sons Ltd", "Smith and Sons"),
        ("Müller GmbH & Co. KG", "Müller"),
        ("Novo Nordisk A/S", "Novo Nordisk"),
        ("Danone S.A.", "Danone"),
        ("McDonald\u2019s", "McDonalds"),
        ("Coca-Cola", "Coca Cola"),
        ("J. R. R. Tolkien", "J.R.R. Tolkien"),
        ("Dr. Okoye", "Dr Okoye"),
    ],
)
def test_one_name_has_one_spelling(one: str, other: str) -> None:
    assert name(one) == name(other)
    assert name(one)[0] is Normaliser.NAME


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Tomas Vik", "Elena Rossi"),
        ("Maria Sa", "Maria"),
        ("Dan Pița", "Dan Pita"),
        ("Studio 1.5", "Studio 15"),
        ("Area 1-5", "Area 15"),
        ("Dr. Okoye", "Okoye"),
        ("C++ Group", "C Group"),
        ("Disney+", "Disney"),
        ("Helio Energy", "Helio Power"),
        ("The Limited", "The"),
    ],
)
def test_different_names_stay_apart(one: str, other: str) -> None:
    assert name(one) != name(other)


def test_a_name_that_is_only_a_legal_form_stays() -> None:
    assert name("Inc.") == (Normaliser.NAME, "inc")
    assert name("...")[0] is Normaliser.TEXT


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("12 Elm Road, Leeds", "12 Elm Rd., Leeds"),
        ("12 North Main Street Apt 4", "12 N. Main St. #4"),
        ("12 N Main St, Apartment # 4", "12 North Main Street apt. no. 4"),
        ("221B Baker Street", "221b baker st"),
        ("Hauptstraße 5, 10115 Berlin", "Hauptstr. 5, 10115 Berlin"),
        ("350 Fifth Avenue", "350 5th Ave"),
        ("1 Quay Street, Leeds LS1 4AB", "1 Quay St, Leeds, LS14AB"),
        ("P.O. Box 12", "PO Box 12"),
        ("1 Saint James Street", "1 St. James St."),
    ],
)
def test_one_address_has_one_spelling(one: str, other: str) -> None:
    assert address(one) == address(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("12 Elm Road", "21 Elm Road"),
        ("12 Elm Road", "12 Elm Avenue"),
        ("12 Elm Road", "12 Elm Road Apt 4"),
        ("12 Elm Road Apt 4", "12 Elm Road Suite 4"),
        ("12-14 Elm Road", "1214 Elm Road"),
        ("12 North Street", "12 N Street"),
        ("1.5 Elm Road", "15 Elm Road"),
        ("12 Elm Road, Leeds", "12 Elm Road, Hull"),
    ],
)
def test_different_addresses_stay_apart(one: str, other: str) -> None:
    assert address(one) != address(other)
