"""What the incident pages are asked: the list's filters, and the forms of the acts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any
from uuid import UUID

from django import forms
from django.http import QueryDict

from audits.domain.incidents import (
    SCOPE_TEXT_LIMIT,
    SEVERITIES,
    TASK_LIMIT,
    TEXT_LIMIT,
    TITLE_LIMIT,
    WAIVER_LIMIT,
    ScopeKind,
    Severity,
    State,
)
from audits.forms.acts import ReasonForm
from audits.forms.filters import Asked, read_values
from audits.incidents import Details, Member, Part
from audits.queries.incident_origin import NAMED_MOST, Origin
from audits.queries.incidents import SORTS, IncidentFilter

FILTERS = ("state", "severity", "owner", "mine", "sort")
CHOICES: dict[str, tuple[str, ...]] = {
    "state": tuple(str(one) for one in State),
    "severity": tuple(str(one) for one in SEVERITIES),
    "sort": tuple(SORTS),
    "mine": ("yes",),
}
OWNER_LIMIT = 150
SEVERITY_CHOICES = [(str(one), f"{one}: {one.meaning}") for one in SEVERITIES]
ORIGINS = {
    "session": "sessions",
    "source": "sources",
    "partition": "partitions",
    "record": "records",
}


AskedIncidents = Asked[IncidentFilter]


def read_filters(query: QueryDict, *, user_id: UUID) -> AskedIncidents:
    """Read the filters of a URL."""
    values, warnings = read_values(query, FILTERS, choices=CHOICES, fault_of=_fault)
    wanted = IncidentFilter(
        state=values.get("state"),
        severity=values.get("severity"),
        owner=values.get("owner"),
        mine=user_id if "mine" in values else None,
        sort=values.get("sort", "urgency"),
    )
    return AskedIncidents(wanted, values, warnings, query.get("after") or None)


def read_origin(query: QueryDict) -> tuple[Origin, list[str]]:
    """Read what a new incident is about from a URL, and what of it could not be read."""
    origin, warnings = Origin(), []
    known = {*ORIGINS, "recall", "rule", "text"}
    for name, given in query.lists():
        if name not in known:
            warnings.append(f"There is nothing called \u201c{name[:60]}\u201d to open it from.")
            continue
        if name in ORIGINS:
            ids = [found for one in given if (found := _id(one)) is not None]
            if len(ids) < len(given):
                warnings.append(f"A {name} in the URL has no valid id; it was ignored.")
            if len(ids) > NAMED_MOST:
                warnings.append(f"Only the first {NAMED_MOST} were taken; add others later.")
            getattr(origin, ORIGINS[name]).extend(dict.fromkeys(ids[:NAMED_MOST]))
        elif name == "recall":
            origin.recall = _id(given[-1])
            if origin.recall is None:
                warnings.append("The recall in the URL has no valid id; it was ignored.")
        else:
            limit = SCOPE_TEXT_LIMIT if name == "text" else 100
            setattr(origin, name, given[-1].replace("\x00", "").strip()[:limit])
    return origin, warnings


class DetailsForm(forms.Form):
    """What people write about an incident."""

    title = forms.CharField(label="Title", max_length=TITLE_LIMIT)
    severity = forms.ChoiceField(
        label="Severity", choices=SEVERITY_CHOICES, initial=str(Severity.MEDIUM)
    )
    summary = forms.CharField(
        label="Summary",
        required=False,
        max_length=TEXT_LIMIT,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text="What agents say that is wrong, and who told you.",
    )

    def details(self) -> Details:
        """Return the valid values."""
        given = self.cleaned_data
        return Details(
            given["title"],
            Severity(given["severity"]),
            given["summary"],
            given.get("cause", ""),
            given.get("lessons", ""),
        )


class EditForm(DetailsForm):
    """All that is written about an incident; ``seen`` is what it was when the form was opened."""

    cause = forms.CharField(
        label="Cause",
        required=False,
        max_length=TEXT_LIMIT,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text="How it got in. Closing needs it.",
    )
    lessons = forms.CharField(
        label="Lessons",
        required=False,
        max_length=TEXT_LIMIT,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text="What will stop the next one.",
    )
    seen = forms.CharField(widget=forms.HiddenInput, max_length=32)


class OpenForm(DetailsForm):
    """A new incident: what it is, and what it is about."""

    scope = forms.MultipleChoiceField(
        label="It is about", required=False, widget=forms.CheckboxSelectMultiple
    )
    take = forms.BooleanField(label="I take it", required=False, initial=True)
    origin_kind = forms.CharField(required=False, max_length=20, widget=forms.HiddenInput)
    origin_id = forms.UUIDField(required=False, widget=forms.HiddenInput)

    existing = forms.ChoiceField(label="An open incident", required=False)

    def __init__(
        self,
        *args: Any,
        parts: Sequence[dict[str, Any]] = (),
        existing: Sequence[dict[str, Any]] = (),
        is_adding: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **kwargs)
        scope, other = self.fields["scope"], self.fields["existing"]
        assert isinstance(scope, forms.MultipleChoiceField)
        assert isinstance(other, forms.ChoiceField)
        scope.choices = [(value_of(one), value_of(one)) for one in parts]
        other.choices = [(str(one["id"]), f"#{one['number']} {one['title']}") for one in existing]
        if is_adding:
            other.required = True
            for name in ("title", "severity"):
                self.fields[name].required = False

    def parts(self) -> list[Part]:
        """Return the ticked parts."""
        return [part for one in self.cleaned_data["scope"] if (part := read_part(one))]


class AssignForm(forms.Form):
    """To whom an incident is handed, with a note for them."""

    member = forms.ChoiceField(label="New owner")
    note = forms.CharField(
        label="Note for them",
        required=False,
        max_length=TEXT_LIMIT - 200,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text="Where it stands, and what comes next.",
    )

    def __init__(self, members: Iterable[dict[str, Any]], *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.members = {str(one["user_id"]): one for one in members}
        field_ = self.fields["member"]
        assert isinstance(field_, forms.ChoiceField)
        field_.choices = [
            (key, f"{one['username']} ({one['role']})") for key, one in self.members.items()
        ]

    def chosen(self) -> Member:
        """Return the valid choice."""
        one = self.members[self.cleaned_data["member"]]
        return Member(one["user_id"], one["username"])


class ScopeForm(forms.Form):
    """One part to add to a scope: what kind, and its id, name or words."""

    kind = forms.ChoiceField(
        label="Add",
        choices=[
            (ScopeKind.SESSION, "a session, by id or name"),
            (ScopeKind.SOURCE, "a source, by name"),
            (ScopeKind.PARTITION, "a partition, by name"),
            (ScopeKind.RECORD, "a record, by id"),
            (ScopeKind.TEXT, "all facts with these words"),
        ],
    )
    wanted = forms.CharField(label="Which", max_length=SCOPE_TEXT_LIMIT)


class TaskForm(forms.Form):
    """A task for the list."""

    title = forms.CharField(label="New task", max_length=TASK_LIMIT)


class NoteForm(forms.Form):
    """A note for colleagues and for the report."""

    text = forms.CharField(
        label="Note", max_length=TEXT_LIMIT, widget=forms.Textarea(attrs={"rows": 3})
    )
    pin = forms.BooleanField(label="Pin it", required=False)


class CloseForm(ReasonForm):
    """Closing: how it ended, the cause, and why what is left may stay."""

    cause = forms.CharField(
        label="Cause",
        required=False,
        max_length=TEXT_LIMIT,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text="How it got in.",
    )
    waived = forms.CharField(
        label="Why what is still in memory may stay",
        required=False,
        max_length=WAIVER_LIMIT,
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text="Kept with the incident and in its report.",
    )
    field_order = ("cause", "waived", "reason")


class MergeForm(ReasonForm):
    """Which incident stays when several are one."""

    into = forms.ChoiceField(label="The one that stays", widget=forms.RadioSelect)

    def __init__(self, incidents: Sequence[dict[str, Any]], *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field_ = self.fields["into"]
        assert isinstance(field_, forms.ChoiceField)
        field_.choices = [(str(one["id"]), f"#{one['number']} {one['title']}") for one in incidents]
        self.order_fields(["into", "reason"])


def value_of(part: dict[str, Any]) -> str:
    """Return a part as a form's value: ``session:<id>``, ``text:<words>``."""
    return f"{part['kind']}:{part['id'] or part['name']}"


def read_part(value: str) -> Part | None:
    """Read a form's value back; ``None`` when it is none."""
    kind, _, rest = value.partition(":")
    if kind not in tuple(ScopeKind):
        return None
    if kind == ScopeKind.TEXT:
        return Part(ScopeKind.TEXT, None, rest)
    found = _id(rest)
    return Part(ScopeKind(kind), found) if found else None


def _id(text: str) -> UUID | None:
    try:
        return UUID(str(text))
    except ValueError:
        return None


def _fault(name: str, value: str) -> str:
    return f"is longer than {OWNER_LIMIT} characters" if len(value) > OWNER_LIMIT else ""
