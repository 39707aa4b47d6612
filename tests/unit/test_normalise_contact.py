"""E-mail addresses, phone numbers and URLs."""

from __future__ import annotations

import pytest

from records.domain.facts import Normaliser
from records.domain.normalise import clean, normalise


def read(text: str, kind: Normaliser, region: str = "US") -> tuple[Normaliser, str]:
    return normalise(clean(text)[0], kind, region=region)


@pytest.mark.parametrize(
    "text",
    [
        "ravi@new.example",
        "Ravi@New.Example",
        "mailto:ravi@new.example",
        "Ravi K <RAVI@new.example>",
    ],
)
def test_one_mailbox_has_one_spelling(text: str) -> None:
    assert read(text, Normaliser.EMAIL) == (Normaliser.EMAIL, "ravi@new.example")


def test_international_domains_meet_their_ascii_form() -> None:
    assert read("a@MÜNCHEN.de", Normaliser.EMAIL) == read("a@xn--mnchen-3ya.de", Normaliser.EMAIL)


@pytest.mark.parametrize(
    ("one", "other"),
    [("a+b@x.example", "a@x.example"), ("a.b@x.example", "ab@x.example"), ("a@x.org", "a@x.com")],
)
def test_different_mailboxes_stay_apart(one: str, other: str) -> None:
    assert read(one, Normaliser.EMAIL) != read(other, Normaliser.EMAIL)


@pytest.mark.parametrize(
    "text", ["ravi", "ravi@", "@x.example", "a b@x.example", "a@b@c.example", "a@x"]
)
def test_what_is_no_mailbox_stays_text(text: str) -> None:
    assert read(text, Normaliser.EMAIL)[0] is Normaliser.TEXT


@pytest.mark.parametrize(
    ("text", "region", "number"),
    [
        ("+49 30 555 0101", "US", "+49305550101"),
        ("0049305550101", "US", "+49305550101"),
        ("tel:+49-30-5550101", "US", "+49305550101"),
        ("030 555 0101", "DE", "+49305550101"),
        ("+44 (0)20 7946 0958", "US", "+442079460958"),
        ("(415) 555-0100", "US", "+14155550100"),
        ("415.555.0100 ext. 12", "US", "+14155550100;ext=12"),
    ],
)
def test_one_number_has_one_spelling(text: str, region: str, number: str) -> None:
    assert read(text, Normaliser.PHONE, region) == (Normaliser.PHONE, number)


@pytest.mark.parametrize(
    "text", ["123", "call me", "+49 30 555 0101 or 0102", "1990-05-03 15:00 x"]
)
def test_what_is_no_number_stays_text(text: str) -> None:
    assert read(text, Normaliser.PHONE)[0] is Normaliser.TEXT


def test_the_region_decides_what_a_number_without_country_means() -> None:
    us, de = (read("030 555 0101", Normaliser.PHONE, region) for region in ("US", "DE"))
    assert us != de


@pytest.mark.parametrize(
    "text",
    [
        "https://example.com/a",
        "HTTPS://Example.COM/a",
        "https://example.com:443/a/",
        "https://example.com/x/../a",
        "https://example.com/%61",
        "<https://example.com/a>",
        "example.com/a",
    ],
)
def test_one_page_has_one_spelling(text: str) -> None:
    assert read(text, Normaliser.URL) == (Normaliser.URL, "https://example.com/a")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("https://example.com/a", "http://example.com/a"),
        ("https://example.com/a", "https://example.com/A"),
        ("https://example.com/a", "https://example.com/a?utm_source=x"),
        ("https://example.com/a", "https://example.com/a#part"),
        ("https://example.com/a", "https://example.com:8443/a"),
        ("https://example.com/a", "https://www.example.com/a"),
        ("https://example.com/a%2Fb", "https://example.com/a/b"),
        ("https://u@example.com/", "https://example.com/"),
    ],
)
def test_different_pages_stay_apart(one: str, other: str) -> None:
    assert read(one, Normaliser.URL) != read(other, Normaliser.URL)


@pytest.mark.parametrize(
    "text",
    ["javascript:alert(1)", "not a url", "http://", "http://a b.com", "https://x:99999/", "a"],
)
def test_what_is_no_web_address_stays_text(text: str) -> None:
    assert read(text, Normaliser.URL)[0] is Normaliser.TEXT
