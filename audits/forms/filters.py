"""What every list reads from its URL: filters as typed, and a warning for each that it cannot read.

Owns the rule that a filter is never dropped in silence: one that is unknown,
malformed or given twice is named, and the rest still filters. What the values
mean is each list's own.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeVar

from django.http import QueryDict

TEXT_LIMIT = 200
PLACE = frozenset({"after"})  # where in the list, which is no filter


class Filter(Protocol):
    """What a list's statement takes."""

    @property
    def is_empty(self) -> bool:
        """Whether it leaves nothing out."""


Wanted = TypeVar("Wanted", bound=Filter)


@dataclass(slots=True)
class Asked(Generic[Wanted]):
    """What a URL asks for: the filter, the values as typed, and what could not be read."""

    wanted: Wanted
    values: dict[str, str] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    after: str | None = None

    @property
    def is_filtered(self) -> bool:
        """Whether any filter counts."""
        return not self.wanted.is_empty


def read_values(
    query: QueryDict,
    names: Collection[str],
    *,
    choices: Mapping[str, Collection[str]],
    beside: Collection[str] = PLACE,
    fault_of: Callable[[str, str], str] | None = None,
) -> tuple[dict[str, str], list[str]]:
    """Return the filters of a URL by name, and a warning for each that could not be read.

    ``beside`` stand in the URL without being filters. ``fault_of`` says, in words
    that follow the filter's name, what is wrong with a value; '' is nothing.
    """
    values: dict[str, str] = {}
    warnings: list[str] = []
    for name, given in query.lists():
        value = str(given[-1]).strip() if given else ""
        if name in beside or not value:
            continue
        if name not in names:
            warnings.append(unknown(name))
            continue
        fault = _fault(name, value, len(given), choices)
        if not fault and fault_of is not None:
            fault = fault_of(name, value)
        if fault:
            warnings.append(f"The filter \u201c{name}\u201d {fault}; it was ignored.")
        else:
            values[name] = value
    return values, warnings


def unknown(name: str) -> str:
    """Return the warning about a filter that a list does not have."""
    return f"There is no filter \u201c{name[:60]}\u201d here; it was ignored."


def _fault(name: str, value: str, times: int, choices: Mapping[str, Collection[str]]) -> str:
    if times > 1:
        return f"is given {times} times"
    if "\x00" in value or any("\ud800" <= char <= "\udfff" for char in value):
        return "holds characters that no text has"
    if len(value) > TEXT_LIMIT:
        return f"is longer than {TEXT_LIMIT} characters"
    if name in choices and value not in choices[name]:
        return f"knows {', '.join(choices[name])}, but not \u201c{value[:60]}\u201d"
    return ""
