"""Column types that neither Django nor pgvector brings.

Owns only the mapping to PostgreSQL; no rules.
"""

from __future__ import annotations

from typing import Any

from django.db import models


class InstantMultirange(models.Field[Any, Any]):
    """``tstzmultirange``: the intervals in which the store believed a record."""

    description = "Set of time intervals"

    def db_type(self, connection: Any) -> str:
        """Return the PostgreSQL type name."""
        return "tstzmultirange"


class Real(models.FloatField[Any, Any]):
    """``real``: four bytes, for scores and shares that need no more."""

    def db_type(self, connection: Any) -> str:
        """Return the PostgreSQL type name."""
        return "real"


class TransactionId(models.Field[Any, Any]):
    """``xid8``: the transaction that wrote a row; filled by the database."""

    description = "Transaction id"

    def db_type(self, connection: Any) -> str:
        """Return the PostgreSQL type name."""
        return "xid8"
