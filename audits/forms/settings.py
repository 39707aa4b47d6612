"""The forms of a workspace's settings: keys, policies, people, views, a new workspace."""

from __future__ import annotations

import dataclasses
import json
from datetime import UTC, datetime, time
from typing import Any

from django import forms
from django.utils import timezone

from audits.domain.roles import Role
from records.access import Scope
from records.domain.facts import Cardinality, Normaliser, Policy
from records.domain.validators import spec_problems
from records.items import NAME_LIMIT
from records.keys import DEFAULT_SCOPES

SCOPE_MEANINGS = {
    Scope.WRITE: "write facts",
    Scope.RECALL: "recall facts for an agent",
    Scope.READ: "list and explain facts",
    Scope.RESPOND: "contain and take out facts",
}
ROLES = [(str(role), str(role)) for role in Role]
REASON = forms.Textarea(attrs={"rows": 2})


class KeyForm(forms.Form):
    """A new API key: what it is for, what it may, how far it reaches, until when."""

    name = forms.CharField(label="What it is for", max_length=NAME_LIMIT)
    scopes = forms.MultipleChoiceField(
        label="May",
        choices=[(str(scope), f"{scope}: {SCOPE_MEANINGS[scope]}") for scope in Scope],
        initial=[str(scope) for scope in DEFAULT_SCOPES],
        widget=forms.CheckboxSelectMultiple,
    )
    partition = forms.CharField(
        label="Only this partition",
        max_length=NAME_LIMIT,
        required=False,
        help_text="Empty: the whole workspace.",
    )
    expires = forms.DateField(
        label="Expires",
        required=False,
        widget=forms.DateInput(attrs={"type": "date"}),
        help_text="The end of that day, UTC. Empty: never.",
    )

    def clean_expires(self) -> datetime | None:
        """Return the end of the day named."""
        day = self.cleaned_data.get("expires")
        if day is None:
            return None
        until = datetime.combine(day, time(23, 59, 59), tzinfo=UTC)
        if until <= timezone.now():
            raise forms.ValidationError("This day is over already.")
        return until


class InvitationForm(forms.Form):
    """Who is invited, and as what."""

    invited = forms.CharField(
        label="Name or e-mail",
        max_length=NAME_LIMIT,
        help_text="Only for your list; nothing is sent.",
    )
    role = forms.ChoiceField(
        label="Role",
        choices=[one for one in ROLES if one[0] != Role.ADMINISTRATOR],
        initial=str(Role.REVIEWER),
        help_text="An administrator is made of a member, by two people.",
    )


class RoleForm(forms.Form):
    """A member's new role, and why."""

    role = forms.ChoiceField(label="Role", choices=ROLES)
    reason = forms.CharField(label="Reason", max_length=1_000, widget=REASON)


class WorkspaceForm(forms.Form):
    """The name of a new workspace."""

    name = forms.CharField(label="Name", max_length=100)


SAVED_PAGES = ("records", "queue", "sessions")  # lists whose filters can be kept


class ViewForm(forms.Form):
    """A saved view: a name for a list's filters."""

    page = forms.ChoiceField(choices=[(one, one) for one in SAVED_PAGES])
    name = forms.CharField(label="Name", max_length=100)
    query = forms.CharField(max_length=2_000, strip=False)


class PolicyForm(forms.Form):
    """One version of a predicate's policy."""

    aliases = forms.CharField(
        label="Aliases",
        required=False,
        max_length=2_000,
        help_text="Other spellings, with commas between.",
    )
    description = forms.CharField(label="What it means", required=False, max_length=500)
    cardinality = forms.ChoiceField(
        label="Values at a time", choices=[(str(one), str(one)) for one in Cardinality]
    )
    normaliser = forms.ChoiceField(
        label="Compared as", choices=[(str(one), str(one)) for one in Normaliser]
    )
    ttl_days = forms.FloatField(
        label="Valid for, days",
        required=False,
        min_value=0.01,
        max_value=36_500,
        help_text="Empty: no end.",
    )
    half_life_days = forms.FloatField(
        label="Half-life, days",
        required=False,
        min_value=0.01,
        max_value=36_500,
        help_text="Empty: ages over a year.",
    )
    validators = forms.CharField(
        label="Validators",
        required=False,
        max_length=4_000,
        widget=forms.Textarea(attrs={"rows": 3, "spellcheck": "false", "class": "mono"}),
        help_text='A JSON list, such as [{"kind": "range", "min": 0}].',
    )
    dependents = forms.CharField(
        label="Dependents",
        required=False,
        max_length=2_000,
        help_text="Go stale when this changes; with commas between.",
    )
    immutable = forms.BooleanField(
        label="Immutable: another value is always contested", required=False
    )
    protected = forms.BooleanField(label="Protected: agents may not write it", required=False)
    sensitive = forms.BooleanField(label="Sensitive: held unless corroborated", required=False)
    needs_review = forms.BooleanField(label="Every write waits for a person", required=False)
    time_series = forms.BooleanField(
        label="A time series: each observation is a fact", required=False
    )
    reason = forms.CharField(label="Reason", max_length=1_000, widget=REASON)

    def clean_validators(self) -> tuple[dict[str, Any], ...]:
        """Return the validators; the error names the one that is malformed."""
        text = self.cleaned_data["validators"].strip() or "[]"
        try:
            found = json.loads(text)
        except ValueError as error:
            raise forms.ValidationError(f"This is not JSON: {error}.") from error
        if not isinstance(found, list) or not all(isinstance(one, dict) for one in found):
            raise forms.ValidationError("This must be a list of objects.")
        for place, one in enumerate(found, 1):
            if faults := spec_problems(one):
                raise forms.ValidationError(f"Validator {place}: {'; '.join(faults)}.")
        return tuple(found)

    def policy(self, live: Policy) -> Policy:
        """Return the live policy with what the form says instead."""
        values = self.cleaned_data
        named: dict[str, Any] = {name: _words(values[name]) for name in ("aliases", "dependents")}
        named |= {
            "cardinality": Cardinality(values["cardinality"]),
            "normaliser": Normaliser(values["normaliser"]),
        }
        for name in (
            "description", "ttl_days", "half_life_days", "validators", "immutable", "protected",
            "sensitive", "needs_review", "time_series",
        ):  # fmt: skip
            named[name] = values[name]
        return dataclasses.replace(live, known=True, **named)


def initial(policy: Policy) -> dict[str, Any]:
    """Return a policy as the form shows it."""
    return {
        "aliases": ", ".join(policy.aliases),
        "description": policy.description,
        "cardinality": str(policy.cardinality),
        "normaliser": str(policy.normaliser),
        "ttl_days": _days(policy.ttl_days),
        "half_life_days": _days(policy.half_life_days),
        "validators": json.dumps([dict(one) for one in policy.validators])
        if policy.validators
        else "",
        "dependents": ", ".join(policy.dependents),
        "immutable": policy.immutable,
        "protected": policy.protected,
        "sensitive": policy.sensitive,
        "needs_review": policy.needs_review,
        "time_series": policy.time_series,
    }


def _days(days: float | None) -> float | int | None:
    return int(days) if days is not None and days == int(days) else days


def _words(text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(word.strip() for word in text.split(",") if word.strip()))
