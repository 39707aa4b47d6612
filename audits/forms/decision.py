"""What a reviewer sends: one act on one held fact, as they saw it.

The act and its reason are one value (``reject:instruction``), so that one key or
one button says both, with or without scripts.
"""

from __future__ import annotations

from datetime import UTC, datetime, time
from typing import Any, cast

from django import forms
from django.utils import timezone

from audits.domain.review import NOTE_LIMIT, Verb
from records.items import VALUE_LIMIT

NOTE, REOPEN = "note", "reopen"
SERVED = "served"
VERBS = frozenset(str(one) for one in Verb)


class DecisionForm(forms.Form):
    """One decision: item, version, lease, act, words, and the key that makes repeating it harmless."""

    act = forms.CharField(max_length=60, error_messages={"required": "Choose what to do."})
    version = forms.IntegerField(min_value=1)
    token = forms.UUIDField()
    key = forms.CharField(max_length=100)
    done = forms.IntegerField(min_value=0, max_value=1_000_000, required=False)
    note = forms.CharField(max_length=NOTE_LIMIT, required=False)
    value = forms.CharField(max_length=VALUE_LIMIT, required=False)
    valid_until = forms.DateField(required=False)
    snooze_until = forms.DateField(required=False)

    def clean_act(self) -> tuple[str, str]:
        """Return the verb and what stands behind it: a reason, or until when."""
        verb, _, more = self.cleaned_data["act"].partition(":")
        if verb not in VERBS:
            raise forms.ValidationError("This is not an act on a held fact.")
        return verb, more

    def clean_valid_until(self) -> datetime | None:
        """Return the end of the day named."""
        return _end_of(self.cleaned_data.get("valid_until"))

    def clean_snooze_until(self) -> datetime | None:
        """Return the end of the day named."""
        return _end_of(self.cleaned_data.get("snooze_until"))

    def clean(self) -> dict[str, Any]:
        """Let each act bring what it is about, and nothing of another's."""
        given = cast(dict[str, Any], super().clean())
        verb, more = given.get("act", ("", ""))
        if verb == Verb.EDIT and not given.get("value") and "value" not in self.errors:
            self.add_error("value", "Write the value that is right.")
        given["valid_until"] = given.get("valid_until") if more == "until" else None
        if verb in (Verb.APPROVE, Verb.SUPERSEDE) and more == "until":
            if given["valid_until"] is None and "valid_until" not in self.errors:
                self.add_error("valid_until", "Say until when it is valid.")
            given["act"] = (verb, "")
        if verb == Verb.SNOOZE:
            given["until_served"] = more == SERVED
            given["act"] = (verb, "")
            if more == SERVED:
                given["snooze_until"] = None
            elif given.get("snooze_until") is None and "snooze_until" not in self.errors:
                self.add_error("snooze_until", "Say until when it is snoozed.")
        return given

    def faults(self) -> list[str]:
        """Return what is wrong, in words."""
        stale = {"version", "token", "key"} & set(self.errors)
        if stale:
            return ["The form is not whole: open the item again."]
        return [str(one) for errors in self.errors.values() for one in errors]


def _end_of(day: Any) -> datetime | None:
    if day is None:
        return None
    until = datetime.combine(day, time(23, 59, 59), tzinfo=UTC)
    if until <= timezone.now():
        raise forms.ValidationError("This day is over already.")
    return until
