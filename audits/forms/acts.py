"""The forms of acts: what is asked before something changes."""

from __future__ import annotations

from datetime import UTC, datetime, time
from typing import Any

from django import forms
from django.utils import timezone

from audits.domain.acts import Act
from records.curate import REASON_LIMIT
from records.domain.facts import HoldReason
from records.items import CONTENT_LIMIT, VALUE_LIMIT

HOLDS = (HoldReason.MANUAL, HoldReason.INCIDENT, HoldReason.FEEDBACK)


class ReasonForm(forms.Form):
    """Why; every act that takes something away asks it."""

    reason = forms.CharField(
        label="Reason",
        max_length=REASON_LIMIT,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text="Kept in the history, readable by everybody here.",
    )

    def __init__(self, *args: Any, is_reason_needed: bool = True, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["reason"].required = is_reason_needed


class ActForm(ReasonForm):
    """The form of one act on one record at one version."""

    version = forms.IntegerField(min_value=1, widget=forms.HiddenInput)

    def __init__(self, act: Act, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, is_reason_needed=act.needs_reason, **kwargs)
        if act.verb in ("approve", "extend"):
            self.fields["until"] = forms.DateField(
                label="Valid until",
                required=False,
                widget=forms.DateInput(attrs={"type": "date"}),
                help_text="The end of that day, UTC."
                + (" Empty: as the policy says." if act.verb == "approve" else " Empty: no end."),
            )
        if act.verb == "hold":
            self.fields["hold_reason"] = forms.ChoiceField(
                label="Because of", choices=[(str(one), str(one)) for one in HOLDS]
            )
        if act.verb == "edit":
            self.fields["value"] = forms.CharField(
                label="Value", max_length=VALUE_LIMIT, widget=forms.Textarea(attrs={"rows": 3})
            )
            self.fields["content"] = forms.CharField(
                label="Sentence shown to the agent",
                required=False,
                max_length=CONTENT_LIMIT,
                widget=forms.Textarea(attrs={"rows": 3}),
                help_text="Empty: made from subject, predicate and value.",
            )
        self.order_fields(["value", "content", "until", "hold_reason", "reason", "version"])

    def clean_until(self) -> datetime | None:
        """Return the end of the day named; one in the past would expire the fact at once."""
        day = self.cleaned_data.get("until")
        if day is None:
            return None
        until = datetime.combine(day, time(23, 59, 59), tzinfo=UTC)
        if until <= timezone.now():
            raise forms.ValidationError("This day is over already.")
        return until


FIELDS: dict[str, tuple[str, ...]] = {}
