"""Numbers, units and money: restated is equal, doubtful stays text."""

from __future__ import annotations

from decimal import Decimal

import pytest

from records.domain.facts import Normaliser
from records.domain.normalise import clean, normalise
from records.domain.normalise.money import amount_of, currency_of
from records.domain.normalise.quantities import magnitude, parse_decimal


def read(text: str, kind: Normaliser) -> tuple[Normaliser, str]:
    return normalise(clean(text)[0], kind)


@pytest.mark.parametrize(
    ("text", "spelling"),
    [
        ("5 km", "5 km"),
        ("5km", "5 km"),
        ("5.0 km", "5 km"),
        ("5 KM", "5 km"),
        ("5 kilometres", "5 km"),
        ("1,200 km", "1200 km"),
        ("1\u202f200 km", "1200 km"),
        ("12,5 kg", "12.5 kg"),
        ("1,20,000", "120000"),
        ("14%", "14 %"),
        ("14 per cent", "14 %"),
        ("3 million", "3000000"),
        ("1.5e3", "1500"),
        ("\u22125 °C", "-5 °c"),
        ("21 degrees Celsius", "21 °c"),
        ("5 m2", "5 m²"),
        ("30 days", "30 d"),
        ("10 seats", "10 seat"),
        ("007", "7"),
        ("-0.0", "0"),
        ("１２", "12"),
        ("٣ km", "3 km"),
        ("512 MB", "512 mb"),
        (".5", "0.5"),
    ],
)
def test_numbers_have_one_spelling(text: str, spelling: str) -> None:
    assert read(text, Normaliser.NUMBER) == (Normaliser.NUMBER, spelling)


@pytest.mark.parametrize(
    "text",
    [
        "1.200",  # 1200 to a German reader
        "1.200 km",
        "10²",
        "½",
        "10-20",
        "5 to 10 km",
        "2.9.1",
        "2026-01-01",
        "about 5",
        "1,2,3",
        "0x10",
        "1e999999999",
        "1 2 3",
        "",
    ],
)
def test_what_is_no_number_for_certain_stays_text(text: str) -> None:
    assert read(text, Normaliser.NUMBER)[0] is Normaliser.TEXT


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("5 MW", "5 mW"),
        ("100 Mb", "100 MB"),
        ("5 m", "5 min"),
        ("5 m", "5 M"),
        ("5 km", "5 mi"),
        ("5 km", "5"),
        ("1.5", "15"),
        ("10 seats", "10 users"),
    ],
)
def test_different_quantities_stay_apart(one: str, other: str) -> None:
    assert read(one, Normaliser.NUMBER) != read(other, Normaliser.NUMBER)


@pytest.mark.parametrize(
    ("text", "spelling"),
    [
        ("$1,200", "USD 1200"),
        ("1200 USD", "USD 1200"),
        ("USD 1,200.00", "USD 1200"),
        ("usd1200", "USD 1200"),
        ("$1,200 USD", "USD 1200"),
        ("US$ 1200", "USD 1200"),
        ("1.2k dollars", "USD 1200"),
        ("$5 CAD", "CAD 5"),
        ("CAD$5", "CAD 5"),
        ("49 EUR", "EUR 49"),
        ("€49.00", "EUR 49"),
        ("49,00 €", "EUR 49"),
        ("1.200,50 €", "EUR 1200.5"),
        ("1.200.000 €", "EUR 1200000"),
        ("CHF 1'200.-", "CHF 1200"),
        ("£3m", "GBP 3000000"),
        ("₹1,20,000", "INR 120000"),
        ("-$5", "USD -5"),
        ("\u2212$5", "USD -5"),
        ("49 EUR per month", "EUR 49/month"),
        ("€49/mo", "EUR 49/month"),
        ("€49 monthly", "EUR 49/month"),
        ("60k p.a.", "60000/year"),
        ("$10/user/month", "USD 10/month/user"),
        ("$10 per month per user", "USD 10/month/user"),
        ("1200", "1200"),
        ("0.00000001 BTC", "BTC 0.00000001"),
        ("100 kr", "KR 100"),
    ],
)
def test_amounts_have_one_spelling(text: str, spelling: str) -> None:
    assert read(text, Normaliser.MONEY) == (Normaliser.MONEY, spelling)


@pytest.mark.parametrize(
    "text",
    ["€1.200", "about $5", "$5-10", "$5 EUR", "€5 GBP", "free", "$", "--$5", "$5 a month more"],
)
def test_what_is_no_amount_for_certain_stays_text(text: str) -> None:
    assert read(text, Normaliser.MONEY)[0] is Normaliser.TEXT


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("$49", "€49"),
        ("$49", "$49/month"),
        ("$49/month", "$49/year"),
        ("$49", "$50"),
        ("$1.50", "$150"),
        ("$5", "C$5"),
        ("49", "$49"),
        ("100 kr", "100 SEK"),
    ],
)
def test_different_amounts_stay_apart(one: str, other: str) -> None:
    assert read(one, Normaliser.MONEY) != read(other, Normaliser.MONEY)


def test_parts_of_a_quantity_are_at_hand_for_business_rules() -> None:
    assert magnitude("1,200 km") == Decimal(1200)
    assert magnitude("far") is None
    assert amount_of("$10 per user per month") == Decimal(10)
    assert currency_of("€49/mo") == "EUR"
    assert currency_of("49") is None
    assert parse_decimal("1.200") is None
