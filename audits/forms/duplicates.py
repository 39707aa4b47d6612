"""The filters of the list of possible duplicates, and the forms of a group."""

from __future__ import annotations

from uuid import UUID

from django.http import QueryDict

from audits.duplicates.reading import KINDS, STATES, ClusterFilter
from audits.forms.filters import Asked, read_values

CHOICES = {"state": STATES, "kind": KINDS}
FILTERS = ("state", "kind", "partition", "predicate")
AskedClusters = Asked[ClusterFilter]


def read_filters(query: QueryDict) -> AskedClusters:
    """Read the filters of a URL; what cannot be read becomes a warning."""
    values, warnings = read_values(query, FILTERS, choices=CHOICES)
    wanted = ClusterFilter(
        state=values.get("state", "suggested"),
        kind=values.get("kind"),
        partition=values.get("partition"),
        predicate=values.get("predicate"),
    )
    return AskedClusters(wanted, values, warnings, query.get("after") or None)


def read_ids(query: QueryDict, name: str) -> list[UUID]:
    """Return the ids that a form sends, those that are none left out."""
    found = []
    for text in query.getlist(name):
        try:
            found.append(UUID(text))
        except ValueError:
            continue
    return list(dict.fromkeys(found))


def read_versions(query: QueryDict) -> dict[UUID, int]:
    """Return the versions of the records that were shown: ``version`` holds id:number."""
    found = {}
    for text in query.getlist("version"):
        one, _, number = text.partition(":")
        try:
            found[UUID(one)] = int(number)
        except ValueError:
            continue
    return found
