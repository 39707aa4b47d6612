"""What a bulk operation is asked for: its scope from a URL or a form, why it runs, the typed count.

A scope is read strictly. On a list an unreadable filter is a warning and the
rest still filters; here it would make the set larger than was meant, so that
nothing is previewed until it is mended.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from django import forms
from django.http import QueryDict

from audits.domain.scope import CHOICES as SCOPE_CHOICES
from audits.domain.scope import Scope, WrongScope
from records.access import Access
from records.curate import REASON_LIMIT
from records.domain import canonical
from records.domain.facts import HoldReason
from records.policies import book

TEXT_LIMIT = 200
NOTE_LIMIT = 2_000
SEVERAL = ("session", "record")  # parameters that may be given many times: any of them
TEXTS = ("agent", "extracted_by", "partition", "subject", "predicate", "text", "tag", "source")
TIMES = ("since", "until")
CHOICES: Mapping[str, Sequence[str]] = {
    "hold_reason": tuple(str(one) for one in HoldReason),
    **SCOPE_CHOICES,
}
PARTS = (*SEVERAL, *TEXTS, *TIMES, *CHOICES, "incident")
NOT_PARTS = frozenset({"after", "view", "csrfmiddlewaretoken", "shared", "kind", "begun"})
LABELS = {
    "source": "Source",
    "agent": "Agent",
    "extracted_by": "Extracting model",
    "partition": "Partition",
    "since": "Claimed since (UTC)",
    "until": "Claimed before (UTC)",
    "subject": "Subject",
    "predicate": "Predicate",
    "text": "Words",
    "status": "Status",
    "hold_reason": "Held because of",
    "standing": "Standing",
    "tag": "Tag",
    "found": "The gate found",
    "seen": "Said",
}


@dataclass(slots=True)
class AskedScope:
    """What is to be taken out, as typed and as understood; with faults nothing is previewed."""

    scope: Scope
    values: dict[str, list[str]] = field(default_factory=dict)
    faults: dict[str, str] = field(default_factory=dict)
    incident_id: UUID | None = None

    def value(self, name: str) -> str:
        """Return what was typed for a part that is given once."""
        return self.values.get(name, [""])[-1]

    @property
    def fields(self) -> list[dict[str, Any]]:
        """Return the parts that are typed, each with its value and its fault."""
        return [
            {
                "name": name,
                "label": label,
                "value": self.value(name),
                "fault": self.faults.get(name, ""),
                "choices": CHOICES.get(name, ()),
                "is_time": name in TIMES,
            }
            for name, label in LABELS.items()
        ]

    @property
    def is_narrowed(self) -> bool:
        """Whether anything is said beyond sessions, records and an incident."""
        return any(self.value(name) or name in self.faults for name in LABELS)

    @property
    def others(self) -> list[str]:
        """Return faults of what the form has no field for."""
        return [text for name, text in self.faults.items() if name not in LABELS]


def read_scope(query: QueryDict, *, access: Access) -> AskedScope:
    """Read a scope from a URL or a form. Inside the workspace's scope."""
    asked = AskedScope(Scope())
    for name, given in query.lists():
        values = [str(one).strip() for one in given if str(one).strip()]
        if name in NOT_PARTS or not values:
            continue
        if name not in PARTS:
            asked.faults[name[:60]] = f"There is no filter \u201c{name[:60]}\u201d here."
            continue
        asked.values[name] = values
        if fault := _fault(name, values):
            asked.faults[name] = fault
    if not asked.faults:
        _understand(asked, access)
    return asked


def _fault(name: str, values: Sequence[str]) -> str:
    if len(values) > 1 and name not in SEVERAL:
        return f"\u201c{name}\u201d is given {len(values)} times."
    for value in values:
        if "\x00" in value or any("\ud800" <= char <= "\udfff" for char in value):
            return f"\u201c{name}\u201d holds characters that no text has."
        if len(value) > TEXT_LIMIT:
            return f"\u201c{name}\u201d is longer than {TEXT_LIMIT} characters."
    if name in CHOICES and values[-1] not in CHOICES[name]:
        return f"\u201c{name}\u201d knows {', '.join(CHOICES[name])}."
    return ""


def _understand(asked: AskedScope, access: Access) -> None:
    """Turn what was typed into a scope; each part that says nothing becomes a fault."""
    partition = asked.value("partition")
    partition_id = access.partition_id(partition) if partition else None
    found: dict[str, Any] = {
        "partition_id": partition_id,
        "source_id": _source(asked.value("source"), access),
        "session_ids": _sessions(asked, partition_id, access),
        "record_ids": _ids(asked, "record"),
        "predicate": _predicate(asked.value("predicate"), access),
        **{name: _time(asked, name) for name in TIMES},
        **{
            name: asked.value(name) or None
            for name in ("agent", "extracted_by", "subject", "text", "tag", *CHOICES)
        },
    }
    incidents = _ids(asked, "incident")
    asked.incident_id = incidents[0] if incidents else None
    # An incident alone means all that it lists; beside other parts it is where the act belongs.
    if asked.incident_id and not any(value for value in found.values()):
        found["incident_id"] = asked.incident_id
    if asked.faults:
        return
    try:
        asked.scope = Scope(**found)
    except WrongScope as error:
        name = {"session_ids": "session", "record_ids": "record"}.get(error.field, error.field)
        asked.faults[name] = f"{LABELS.get(name, name)}: {error.problem}."


def _ids(asked: AskedScope, name: str) -> tuple[UUID, ...]:
    found = []
    for value in asked.values.get(name, []):
        try:
            found.append(UUID(value))
        except ValueError:
            asked.faults[name] = f"\u201c{value[:60]}\u201d is not the id of a {name}."
    return tuple(dict.fromkeys(found))


def _sessions(asked: AskedScope, partition_id: UUID | None, access: Access) -> tuple[UUID, ...]:
    """Return the sessions meant: by id, or by name where the partition is named."""
    found = []
    for value in asked.values.get("session", []):
        try:
            found.append(UUID(value))
        except ValueError:
            if partition_id is None:
                asked.faults["session"] = (
                    f"The session \u201c{value[:60]}\u201d needs its id, or the partition beside"
                    " its name."
                )
            else:
                found.append(canonical.session_id(access.workspace_id, partition_id, value))
    return tuple(dict.fromkeys(found))


def _source(written: str, access: Access) -> UUID | None:
    if not written:
        return None
    try:
        return UUID(written)
    except ValueError:
        return canonical.source_id(access.workspace_id, written)


def _predicate(written: str, access: Access) -> str | None:
    return book(access.workspace_id).resolve(written).predicate if written else None


def _time(asked: AskedScope, name: str) -> datetime | None:
    written = asked.value(name)
    if not written:
        return None
    try:
        found = datetime.fromisoformat(written.replace(" ", "+") if "T" in written else written)
    except ValueError:
        asked.faults[name] = f"{LABELS[name]}: not a time."
        return None
    return found if found.tzinfo else found.replace(tzinfo=UTC)


class SubmitForm(forms.Form):
    """Why an operation runs, a note, the incident it answers and, of a large set, its size."""

    reason = forms.CharField(
        label="Reason",
        max_length=REASON_LIMIT,
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text="Kept in the history, readable by everybody here.",
    )
    note = forms.CharField(
        label="Note",
        max_length=NOTE_LIMIT,
        required=False,
        widget=forms.Textarea(attrs={"rows": 2}),
    )
    incident = forms.ChoiceField(label="Incident", required=False)
    count = forms.IntegerField(
        label="How many facts are these?",
        required=False,
        widget=forms.TextInput(attrs={"inputmode": "numeric", "autocomplete": "off"}),
        help_text="Type how many would be changed, without separators: it proves that it was read.",
    )

    def __init__(
        self,
        *args: Any,
        incidents: Sequence[Mapping[str, Any]] = (),
        count: int | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **kwargs)
        picker = self.fields["incident"]
        assert isinstance(picker, forms.ChoiceField)
        picker.choices = [
            ("", "none"),
            *((str(one["id"]), f"#{one['number']} {one['title'][:80]}") for one in incidents),
        ]
        if not incidents:
            del self.fields["incident"]
        self.asked_count = count
        if count is None:
            del self.fields["count"]
        else:
            self.fields["count"].required = True

    def clean_count(self) -> int:
        """Insist on the number: nobody takes out a set whose size they have not read."""
        if self.cleaned_data.get("count") != self.asked_count:
            raise forms.ValidationError(f"These are {self.asked_count:,} facts.")
        return int(self.cleaned_data["count"])

    def clean_incident(self) -> UUID | None:
        """Return the incident's id."""
        return UUID(self.cleaned_data["incident"]) if self.cleaned_data["incident"] else None


class DecideForm(forms.Form):
    """A second person's word: yes or no, and why; a no and a yes alone need a reason."""

    reason = forms.CharField(
        label="Reason",
        max_length=REASON_LIMIT,
        required=False,
        widget=forms.Textarea(attrs={"rows": 2}),
    )

    def __init__(self, *args: Any, is_alone: bool = False, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.is_alone = is_alone
        self.is_yes = str(self.data.get("answer", "")) == "approve"
        self.fields["reason"].help_text = (
            "Owed: nobody else here may answer, and an event of its own says that you did alone."
            if is_alone
            else "Owed when you refuse."
        )

    def clean(self) -> dict[str, Any]:
        """Insist on an answer, and on a reason where one is owed."""
        given = super().clean() or {}
        if self.data.get("answer") not in ("approve", "refuse"):
            raise forms.ValidationError("Say whether you approve or refuse.")
        if (not self.is_yes or self.is_alone) and not given.get("reason", "").strip():
            self.add_error("reason", "Say why.")
        return given
