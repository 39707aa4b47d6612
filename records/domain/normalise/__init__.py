"""Values of each kind, brought to the one spelling that identity compares.

Owns the choice of the reader for a policy's normaliser. A reader returns
``None`` for what it cannot read with certainty; such a value is compared as
text, under the tag of text, so that it never equals a value that was read.
One module per kind; read ``text.py`` first.
"""

from __future__ import annotations

from collections.abc import Callable

from records.domain.facts import Normaliser
from records.domain.normalise.address import parse_address
from records.domain.normalise.contact import parse_email, parse_phone
from records.domain.normalise.dates import parse_date
from records.domain.normalise.invisible import Invisible
from records.domain.normalise.money import parse_money
from records.domain.normalise.names import parse_name
from records.domain.normalise.quantities import parse_number
from records.domain.normalise.text import clean, fold
from records.domain.normalise.times import parse_time
from records.domain.normalise.url import parse_url

__all__ = ["Invisible", "clean", "fold", "normalise"]

_READERS: dict[Normaliser, Callable[[str], str | None]] = {
    Normaliser.EMAIL: parse_email,
    Normaliser.DATE: parse_date,
    Normaliser.TIME: parse_time,
    Normaliser.MONEY: parse_money,
    Normaliser.NUMBER: parse_number,
    Normaliser.URL: parse_url,
    Normaliser.NAME: parse_name,
    Normaliser.ADDRESS: parse_address,
}


def normalise(value: str, normaliser: Normaliser, *, region: str = "US") -> tuple[Normaliser, str]:
    """Return how a cleaned value was read and its one spelling.

    The first part is ``normaliser``, or ``TEXT`` for a value it cannot read.
    Repeatable: the spelling reads as itself.
    """
    if normaliser is Normaliser.EXACT:
        return Normaliser.EXACT, value
    if normaliser is not Normaliser.TEXT:
        reader = _READERS.get(normaliser)
        read = reader(value) if reader else parse_phone(value, region)
        if read is not None:
            return normaliser, read
    return Normaliser.TEXT, fold(value)
