"""The filters of the source list, read from the URL; what cannot be read becomes a warning."""

from __future__ import annotations

from django.http import QueryDict

from audits.forms.filters import Asked, read_values
from audits.queries.sources import STATES, TIERS, SourceFilter

CHOICES = {"state": STATES, "tier": TIERS}
FILTERS = ("name", *CHOICES)
AskedSources = Asked[SourceFilter]


def read_filters(query: QueryDict) -> AskedSources:
    """Read the filters of a URL."""
    values, warnings = read_values(query, FILTERS, choices=CHOICES)
    wanted = SourceFilter(**{name: values.get(name) for name in FILTERS})
    return AskedSources(wanted, values, warnings, query.get("after") or None)
