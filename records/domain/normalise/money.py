"""Amounts of money: currency, exact decimal, and what it is paid per.

Owns the spellings of currencies and periods. A bare ``$`` is the US dollar
unless a code beside it says which dollar; ``kr`` stays undecided. Must not
convert. Read ``quantities.py`` for the number itself.
"""

from __future__ import annotations

import re
from decimal import Decimal

from records.domain.normalise.quantities import MAX_DIGITS, format_decimal, parse_decimal
from records.domain.normalise.text import ascii_digits, fold

# ISO 4217 codes in circulation, and the four coins people quote prices in.
CURRENCIES = frozenset(
    """AED AFN ALL AMD ANG AOA ARS AUD AWG AZN BAM BBD BDT BGN BHD BIF BMD BND BOB BRL BSD BTN
    BWP BYN BZD CAD CDF CHF CLP CNY COP CRC CUP CVE CZK DJF DKK DOP DZD EGP ERN ETB EUR FJD FKP
    GBP GEL GHS GIP GMD GNF GTQ GYD HKD HNL HTG HUF IDR ILS INR IQD IRR ISK JMD JOD JPY KES KGS
    KHR KMF KPW KRW KWD KYD KZT LAK LBP LKR LRD LSL LYD MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR
    MWK MXN MYR MZN NAD NGN NIO NOK NPR NZD OMR PAB PEN PGK PHP PKR PLN PYG QAR RON RSD RUB RWF
    SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TND TOP TRY TTD TWD
    TZS UAH UGX USD UYU UZS VES VND VUV WST XAF XCD XCG XOF XPF YER ZAR ZMW ZWG
    BTC ETH USDC USDT""".split()  # noqa: SIM905 - a list of 160 codes reads better as text
)
_SYMBOLS = {
    "us$": "USD",
    "ca$": "CAD",
    "c$": "CAD",
    "au$": "AUD",
    "a$": "AUD",
    "nz$": "NZD",
    "hk$": "HKD",
    "sg$": "SGD",
    "s$": "SGD",
    "nt$": "TWD",
    "mx$": "MXN",
    "r$": "BRL",
    "$": "$",
    "€": "EUR",
    "£": "GBP",
    "cn¥": "CNY",
    "jp¥": "JPY",
    "¥": "JPY",
    "元": "CNY",
    "円": "JPY",
    "rmb": "CNY",
    "₹": "INR",
    "rs.": "INR",
    "rs": "INR",
    "₽": "RUB",
    "₩": "KRW",
    "₺": "TRY",
    "₴": "UAH",
    "₫": "VND",
    "฿": "THB",
    "₪": "ILS",
    "₦": "NGN",
    "₱": "PHP",
    "₿": "BTC",
    "zł": "PLN",
    "kč": "CZK",
    "ft": "HUF",
    "kr.": "KR",
    "kr": "KR",
    "fr.": "CHF",
}
_WORDS = {
    "dollar": "$",
    "dollars": "$",
    "buck": "$",
    "bucks": "$",
    "us dollar": "USD",
    "us dollars": "USD",
    "canadian dollars": "CAD",
    "australian dollars": "AUD",
    "euro": "EUR",
    "euros": "EUR",
    "pound": "GBP",
    "pounds": "GBP",
    "pounds sterling": "GBP",
    "sterling": "GBP",
    "quid": "GBP",
    "yen": "JPY",
    "yuan": "CNY",
    "renminbi": "CNY",
    "rupee": "INR",
    "rupees": "INR",
    "rouble": "RUB",
    "roubles": "RUB",
    "ruble": "RUB",
    "rubles": "RUB",
    "zloty": "PLN",
    "swiss franc": "CHF",
    "swiss francs": "CHF",
}
_DOLLARS = frozenset(
    ("USD", "CAD", "AUD", "NZD", "HKD", "SGD", "TWD", "MXN", "BRL", "ARS", "CLP", "COP")
)
_CURRENCY = (
    {code.lower(): code for code in CURRENCIES}
    | {f"{code.lower()}$": code for code in _DOLLARS}
    | _SYMBOLS
    | _WORDS
)

_SCALES = {
    "k": 3, "thousand": 3,
    "m": 6, "mn": 6, "mio": 6, "million": 6, "millions": 6,
    "b": 9, "bn": 9, "billion": 9, "billions": 9, "mrd": 9,
    "tn": 12, "trillion": 12, "trillions": 12,
    "lakh": 5, "lakhs": 5, "crore": 7, "crores": 7,
}  # fmt: skip

_PERIODS = {
    "mo": "month", "mth": "month", "months": "month", "monthly": "month", "p.m.": "month",
    "yr": "year", "years": "year", "yearly": "year", "annum": "year", "annually": "year",
    "p.a.": "year", "pa": "year", "p.a": "year",
    "wk": "week", "weekly": "week", "daily": "day", "hr": "hour", "h": "hour", "hourly": "hour",
    "min": "minute", "users": "user", "seats": "seat", "license": "licence",
}  # fmt: skip

_PER = re.compile(
    r"(.*?[^\s/])(?:\s*/\s*|\s+(?:per|an?|each|every)\s+)([^\W\d_][\w.-]*)"
    r"|(.+?)\s*\b(monthly|yearly|annually|weekly|daily|hourly|p\.a\.?|pa|p\.m\.)"
)
_NAMES = "|".join(re.escape(name) for name in sorted(_CURRENCY, key=len, reverse=True))
_AMOUNT = re.compile(
    rf"(?P<outer>[+-])?\s*(?P<front>{_NAMES})?\s*(?P<inner>[+-])?\s*"
    rf"(?P<digits>\d[\d.,' ]*\d|\d|\.\d+)(?:[.,]-)?"
    rf"\s*(?P<scale>{'|'.join(sorted(_SCALES, key=len, reverse=True))})?"
    rf"\s*(?P<back>{_NAMES})?"
)
_MAX_LENGTH = 80  # an amount with its currency and two "per"; longer text is a sentence


def parse_money(text: str) -> str | None:
    """Read ``$1,200``, ``1200 USD`` or ``€49.00/month`` to one spelling."""
    if len(text) > _MAX_LENGTH:
        return None
    amount, per = _split_per(fold(ascii_digits(text)))
    found = _AMOUNT.fullmatch(amount)
    if not found or (found["outer"] and found["inner"]):
        return None
    currency = _one_currency(found["front"], found["back"])
    number = parse_decimal(found["digits"])
    if currency is None or number is None:
        return None
    number = number.scaleb(_SCALES.get(found["scale"] or "", 0))
    if len(format(number, "f")) > MAX_DIGITS:
        return None
    if "-" in (found["outer"], found["inner"]):
        number = -number
    return f"{currency} {format_decimal(number)}".strip() + "".join(f"/{p}" for p in per)


def currency_of(text: str) -> str | None:
    """Return the ISO code in a value that ``parse_money`` understands, ``None`` without one."""
    written = parse_money(text)
    code = written.partition(" ")[0] if written else ""
    return code if code in CURRENCIES else None


def amount_of(text: str) -> Decimal | None:
    """Return the number in a value that ``parse_money`` understands, and nothing else."""
    written = parse_money(text)
    if written is None:
        return None
    return Decimal(written.partition("/")[0].rpartition(" ")[2])


def _split_per(text: str) -> tuple[str, list[str]]:
    per: list[str] = []
    while len(per) < 2 and (found := _PER.fullmatch(text)):
        text = found[1] or found[3]
        word = found[2] or found[4]
        per.append(_PERIODS.get(word, word))
    return text, sorted(per)


def _one_currency(front: str | None, back: str | None) -> str | None:
    """Find the currency both ends name; empty when none does, ``None`` if they disagree."""
    named = {_CURRENCY[name] for name in (front, back) if name}
    if len(named) == 2 and "$" in named:
        named.discard("$")
        if not named <= _DOLLARS:
            return None
    if len(named) > 1:
        return None
    code = named.pop() if named else ""
    return "USD" if code == "$" else code
