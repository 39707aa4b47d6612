"""The forms of legal holds and of requests of data subjects."""

from __future__ import annotations

from typing import Any

from django import forms

from audits.forms.acts import ReasonForm
from records.holds import REASON_LIMIT
from records.items import NAME_LIMIT

KINDS = (
    ("record", "Record"),
    ("session", "Session"),
    ("source", "Source"),
    ("partition", "Partition"),
)
WHY = "Kept in the history for good. Name the case, not what the memory says."


class HoldForm(forms.Form):
    """What is to be kept, and why."""

    kind = forms.ChoiceField(label="Keep", choices=KINDS)
    target = forms.CharField(
        label="Which one",
        max_length=NAME_LIMIT,
        help_text="Its id; for a session, source or partition its name will do.",
    )
    partition = forms.CharField(
        label="In partition",
        required=False,
        max_length=NAME_LIMIT,
        help_text="Only needed beside a session's name.",
    )
    reason = forms.CharField(
        label="Reason",
        max_length=REASON_LIMIT,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text=WHY,
    )


class ReleaseForm(ReasonForm):
    """Why a hold ends."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["reason"].help_text = WHY


class FindForm(forms.Form):
    """Whom somebody asks about."""

    by = forms.ChoiceField(
        label="Look for",
        choices=(
            ("partition", "a user (partition)"),
            ("subject", "a subject"),
        ),
        initial="partition",
    )
    name = forms.CharField(label="Name", max_length=NAME_LIMIT)
    partition = forms.CharField(
        label="Only in partition",
        required=False,
        max_length=NAME_LIMIT,
        help_text="For a subject. Empty looks in the whole workspace.",
    )


class EraseForm(forms.Form):
    """What an erasure needs: why, and proof that the number was read."""

    reason = forms.CharField(
        label="Reason",
        max_length=REASON_LIMIT,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text="Kept in the trail for good: name the letter or the case, not the person.",
    )
    count = forms.IntegerField(
        label="Type the number of records that will be destroyed", min_value=0
    )
