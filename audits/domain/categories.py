"""What kind of trouble a finding of the gate is about, for people who count. Pure.

The gate's rules have families (the part of the id before the first dot); most of
them are about text that gives orders, the rest are named here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum


class Category(StrEnum):
    """What a finding is about."""

    INJECTION = "injection"  # instructions that pose as facts
    SECRET = "secret"  # noqa: S105 (a word, not one)
    PERSONAL = "personal"
    DOUBT = "doubt"  # hypothetical, quoted, corrected in the next breath
    RULE = "rule"  # a business rule of the predicate's policy
    FLOOD = "flood"  # too many, too alike


MEANINGS: Mapping[Category, str] = {
    Category.INJECTION: "instructions that pose as facts",
    Category.SECRET: "secrets: passwords, keys, tokens",
    Category.PERSONAL: "personal data",
    Category.DOUBT: "said in doubt: hypothetical, quoted or corrected",
    Category.RULE: "business rules that a value breaks",
    Category.FLOOD: "many writes in a rush, or many alike",
}
FAMILIES: Mapping[Category, Sequence[str]] = {
    Category.SECRET: ("secret",),
    Category.PERSONAL: ("personal",),
    Category.DOUBT: ("doubt", "language"),
    Category.RULE: ("validator",),
}
# Of the family "who", what is about numbers; the rest is about who may say a thing.
FLOODS = ("who.burst", "who.near_duplicates")


def condition(category: Category, *, finding: str = "f") -> str:
    """Return the same as a condition in SQL on one finding's JSON."""
    rule = f"{finding}->>'rule'"
    floods = _listed(FLOODS)
    if category is Category.FLOOD:
        return f"{rule} IN ({floods})"
    if category in FAMILIES:
        return f"split_part({rule}, '.', 1) IN ({_listed(FAMILIES[category])})"
    others = [family for all_ in FAMILIES.values() for family in all_]
    return f"split_part({rule}, '.', 1) NOT IN ({_listed(others)}) AND {rule} NOT IN ({floods})"


def found_condition(category: Category) -> str:
    """Return the condition in SQL on a record ``r`` that the gate found such a thing in it."""
    return f"""EXISTS (SELECT 1 FROM jsonb_array_elements(r.findings) f
        WHERE f->>'outcome' <> 'allow' AND {condition(category)})"""


def _listed(names: Sequence[str]) -> str:
    return ", ".join(f"'{name}'" for name in names)
