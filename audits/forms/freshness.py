"""What the freshness page is asked for: its filters from the URL, and an act on several facts.

A filter that is unknown or malformed becomes a warning, and the rest still
filters. An act's preview is sealed: what runs is what was shown.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, time
from typing import Any
from uuid import UUID

from django import forms
from django.core import signing
from django.http import QueryDict
from django.utils import timezone

from audits.domain.freshness import AHEAD, Tab, Verb
from audits.forms.acts import ReasonForm
from audits.queries.freshness import FreshnessFilter
from records.access import Access
from records.domain import canonical
from records.policies import book

TEXT_LIMIT = 200
CHOICES: Mapping[str, tuple[str, ...]] = {
    "tab": tuple(str(one) for one in Tab),
    "within": tuple(str(days) for days in AHEAD),
    "served": ("yes",),
}
FILTERS = ("tab", "within", "predicate", "partition", "source", "served")
NOT_FILTERS = frozenset({"after", "verb", "id", "all"})
SALT = "memconsole.freshness"
BY_POLICY, BY_DATE, NO_END = "policy", "date", "none"


@dataclass(slots=True)
class AskedFreshness:
    """What the URL asks for, the values as typed, and what could not be read."""

    wanted: FreshnessFilter
    values: dict[str, str] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    after: str | None = None


def read_filters(query: QueryDict, *, access: Access) -> AskedFreshness:
    """Read the filters of a URL. Inside the workspace's scope (a predicate's alias is resolved)."""
    asked = AskedFreshness(FreshnessFilter(), after=query.get("after") or None)
    for name, given in query.lists():
        value = str(given[-1]).strip() if given else ""
        if name in NOT_FILTERS or not value:
            continue
        if name not in FILTERS:
            asked.warnings.append(
                f"There is no filter \u201c{name[:60]}\u201d here; it was ignored."
            )
        elif fault := _fault(name, value):
            asked.warnings.append(f"The filter \u201c{name}\u201d {fault}; it was ignored.")
        else:
            asked.values[name] = value
    values = asked.values
    predicate, partition, source = (values.get(one) for one in ("predicate", "partition", "source"))
    asked.wanted = FreshnessFilter(
        tab=Tab(values.get("tab", Tab.EXPIRED)),
        within=int(values.get("within", 30)),
        predicate=book(access.workspace_id).resolve(predicate).predicate if predicate else None,
        partition_id=access.partition_id(partition) if partition else None,
        source_id=canonical.source_id(access.workspace_id, source) if source else None,
        is_served="served" in values,
    )
    return asked


def _fault(name: str, value: str) -> str:
    if "\x00" in value or any("\ud800" <= char <= "\udfff" for char in value):
        return "holds characters that no text has"
    if len(value) > TEXT_LIMIT:
        return f"is longer than {TEXT_LIMIT} characters"
    if name in CHOICES and value not in CHOICES[name]:
        return f"knows {', '.join(CHOICES[name])}, but not \u201c{value[:60]}\u201d"
    return ""


def read_ids(query: QueryDict, most: int) -> tuple[list[UUID], list[str]]:
    """Return the facts that are ticked, and what could not be read."""
    ids: list[UUID] = []
    warnings: list[str] = []
    for text in query.getlist("id"):
        try:
            ids.append(UUID(text))
        except ValueError:
            warnings.append(f"\u201c{text[:60]}\u201d is no fact's id; it was left out.")
    ids = list(dict.fromkeys(ids))
    if len(ids) > most:
        warnings.append(f"At most {most:,} facts change at once; the first {most:,} are taken.")
    return ids[:most], warnings[:10]


def seal(verb: Verb, versions: Mapping[UUID, int], workspace_id: UUID) -> str:
    """Return a preview's facts as its form carries them."""
    items = [[one.hex, version] for one, version in versions.items()]
    return signing.dumps([workspace_id.hex, str(verb), items], salt=SALT, compress=True)


def open_seal(text: str, workspace_id: UUID) -> tuple[Verb, dict[UUID, int]] | None:
    """Return a preview's act and facts; ``None`` when it is not one of this workspace."""
    try:
        workspace, verb, items = signing.loads(text, salt=SALT)
        if workspace != workspace_id.hex:
            return None
        return Verb(verb), {UUID(one): int(version) for one, version in items}
    except (signing.BadSignature, ValueError, TypeError):
        return None


class FreshnessForm(ReasonForm):
    """Why, and for ``extend`` until when."""

    how = forms.ChoiceField(
        label="Until",
        choices=[
            (BY_POLICY, "as each fact's policy says, counted from today"),
            (BY_DATE, "a day"),
            (NO_END, "no end"),
        ],
        initial=BY_POLICY,
        widget=forms.RadioSelect,
    )
    day = forms.DateField(
        label="The day",
        required=False,
        widget=forms.DateInput(attrs={"type": "date"}),
        help_text="The end of that day, UTC.",
    )

    def __init__(self, verb: Verb, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if verb is not Verb.EXTEND:
            del self.fields["how"], self.fields["day"]
        self.order_fields(["how", "day", "reason"])

    def clean_day(self) -> datetime | None:
        """Return the end of the day named."""
        day = self.cleaned_data.get("day")
        if day is None:
            return None
        until = datetime.combine(day, time(23, 59, 59), tzinfo=UTC)
        if until <= timezone.now():
            raise forms.ValidationError("This day is over already.")
        return until

    def clean(self) -> dict[str, Any]:
        """Insist on the day where one is chosen."""
        given = self.cleaned_data
        if given.get("how") == BY_DATE and "day" in given and given["day"] is None:
            self.add_error("day", "Name the day.")
        return given
