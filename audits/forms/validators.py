"""A policy's validators as rows of a form: one kind each, with that kind's own settings.

Owns the way between rows and the mappings that ``records.domain.validators``
reads; whether a mapping is right is said there. A row keeps what was typed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.http import QueryDict

from records.domain.validators import SETTINGS

ROWS_MOST = 30
MARK = "rules"  # the form says that its validators come as rows
TITLES: Mapping[str, str] = {
    "range": "A number within bounds",
    "pattern": "Text of a form",
    "one_of": "One of a list",
    "max_length": "No longer than",
    "min_length": "No shorter than",
    "date": "A date",
    "date_not_future": "A date that has come",
    "date_range": "A date within bounds",
    "number": "A number",
    "email": "An e-mail address",
    "phone": "A telephone number",
    "url_scheme": "A link",
    "country": "A country",
    "currency": "An amount with a currency",
    "timezone": "A time zone",
    "iban": "A bank account (IBAN)",
    "personal_data": "What is done about personal data",
}
LABELS: Mapping[str, str] = {
    "min": "At least",
    "max": "At most",
    "re2": "Regular expression (RE2), for the whole value",
    "values": "Values, one a line",
    "schemes": "Schemes, one a line",
    "codes": "Currency codes, one a line",
    "email": "E-mail addresses",
    "phone": "Telephone numbers",
    "card": "Card numbers",
    "iban": "Bank accounts",
    "national_id": "National ids",
}
LISTS = frozenset({"values", "schemes", "codes"})
WHOLE = frozenset({"max_length", "min_length"})
TREATMENTS = ("allow", "hold", "mask")


@dataclass(slots=True)
class Row:
    """One validator as typed."""

    kind: str
    values: dict[str, str] = field(default_factory=dict)
    outcome: str = "quarantine"

    @property
    def title(self) -> str:
        """What the kind asks of a value."""
        return TITLES.get(self.kind, self.kind)

    @property
    def inputs(self) -> list[dict[str, Any]]:
        """The settings of the row's kind, each with its label, what was typed, its choices."""
        is_personal = self.kind == "personal_data"
        return [
            {
                "name": name,
                "label": LABELS.get(name, name),
                "value": self.values.get(name, ""),
                "choices": TREATMENTS if is_personal else (),
                "is_date": self.kind == "date_range",
                "is_list": name in LISTS,
            }
            for name in SETTINGS.get(self.kind, ())
        ]


def rows_of(specs: Iterable[Mapping[str, Any]]) -> list[Row]:
    """Return a policy's validators as rows."""
    rows = []
    for spec in specs:
        values = {
            name: "\n".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
            for name, value in spec.items()
            if name not in ("kind", "outcome")
        }
        rows.append(Row(str(spec.get("kind")), values, str(spec.get("outcome", "quarantine"))))
    return rows


def read_rows(data: QueryDict) -> list[Row]:
    """Return the rows of a form that are to stay, and the one that is added."""
    rows = []
    for place in range(ROWS_MOST):
        kind = data.get(f"rule-{place}-kind")
        if kind is None:
            break
        if data.get(f"rule-{place}-remove"):
            continue
        values = {
            name: typed
            for name in SETTINGS.get(kind, ())
            if (typed := data.get(f"rule-{place}-{name}", "").strip())
        }
        rows.append(Row(kind, values, data.get(f"rule-{place}-outcome", "quarantine")))
    if data.get("add_rule") and data.get("new_rule") in TITLES and len(rows) < ROWS_MOST:
        rows.append(Row(str(data["new_rule"])))
    return rows


def specs_of(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """Return the mappings that rows mean; what cannot be read stays as typed, to be told."""
    found = []
    for row in rows:
        spec: dict[str, Any] = {"kind": row.kind}
        spec |= {name: _read(row.kind, name, typed) for name, typed in row.values.items()}
        if row.outcome != "quarantine" and row.kind != "personal_data":
            spec["outcome"] = row.outcome
        found.append(spec)
    return found


def _read(kind: str, name: str, typed: str) -> Any:
    if name in LISTS:
        return [one.strip() for one in typed.splitlines() if one.strip()]
    if kind == "range" or kind in WHOLE:
        try:
            number = float(typed)
        except ValueError:
            return typed
        return int(number) if number.is_integer() else number
    return typed
