"""The filters of the source list, read from the URL; what cannot be read becomes a warning."""

from __future__ import annotations

from dataclasses import dataclass, field

from django.http import QueryDict

from audits.queries.sources import STATES, TIERS, SourceFilter

CHOICES = {"state": STATES, "tier": TIERS}
FILTERS = ("name", *CHOICES)
TEXT_LIMIT = 200


@dataclass(slots=True)
class AskedSources:
    """What the URL asks for, the values as typed, and what could not be read."""

    wanted: SourceFilter
    values: dict[str, str] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    after: str | None = None

    @property
    def is_filtered(self) -> bool:
        """Whether any filter counts."""
        return not self.wanted.is_empty


def read_filters(query: QueryDict) -> AskedSources:
    """Read the filters of a URL."""
    asked = AskedSources(SourceFilter(), after=query.get("after") or None)
    for name, given in query.lists():
        value = str(given[-1]).strip() if given else ""
        if name == "after" or not value:
            continue
        if name not in FILTERS:
            asked.warnings.append(
                f"There is no filter \u201c{name[:60]}\u201d here; it was ignored."
            )
        elif fault := _fault(name, value):
            asked.warnings.append(f"The filter \u201c{name}\u201d {fault}; it was ignored.")
        else:
            asked.values[name] = value
    asked.wanted = SourceFilter(**{name: asked.values.get(name) for name in FILTERS})
    return asked


def _fault(name: str, value: str) -> str:
    if "\x00" in value or any("\ud800" <= char <= "\udfff" for char in value):
        return "holds characters that no text has"
    if len(value) > TEXT_LIMIT:
        return f"is longer than {TEXT_LIMIT} characters"
    if name in CHOICES and value not in CHOICES[name]:
        return f"knows {', '.join(CHOICES[name])}, but not \u201c{value[:60]}\u201d"
    return ""
