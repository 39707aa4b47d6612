"""What approving a held fact would do, foreseen for the reviewer. Pure.

The rules are ``records.domain.ledger``'s (``readmit``); here they only say
which one will apply.
"""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from records.domain.facts import Cardinality


class Outlook(StrEnum):
    """Where an approved fact would stand."""

    FIRST = "first"  # nothing holds the slot
    REPLACES = "replaces"  # what holds it now is superseded
    PAST = "past"  # what holds it now is newer and stays
    BESIDE = "beside"  # several values hold together
    EXPIRED = "expired"  # let in, and not current: its validity has ended


def foresee(
    *,
    cardinality: str,
    order_at: datetime,
    valid_until: datetime | None,
    incumbent_at: datetime | None,
    beside: int,
    now: datetime,
) -> Outlook:
    """Return what would become of a held fact that is approved now."""
    if cardinality == Cardinality.ONE and incumbent_at is not None:
        return Outlook.PAST if order_at < incumbent_at else Outlook.REPLACES
    if valid_until is not None and valid_until <= now:
        return Outlook.EXPIRED
    if cardinality == Cardinality.ONE or not beside:
        return Outlook.FIRST
    return Outlook.BESIDE
