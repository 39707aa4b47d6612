"""What is asked for a sample, and for a verdict."""

from __future__ import annotations

import secrets
from typing import Any

from django import forms

from audits.domain.sampling import MOST_SIZE, Verdict, Weighting
from records.items import NAME_LIMIT, VALUE_LIMIT

SEEDS = 2**53  # a seed that JSON and spreadsheets keep whole


class DrawForm(forms.Form):
    """A new sample."""

    size = forms.IntegerField(label="How many facts", min_value=1, max_value=MOST_SIZE, initial=100)
    weighting = forms.ChoiceField(
        label="Likelier to be drawn",
        choices=[
            (Weighting.UNIFORM, "every fact alike"),
            (Weighting.SERVES, "what agents were given most in the last 30 days"),
            (Weighting.RISK, "what there is least reason to trust"),
        ],
    )
    predicate = forms.CharField(
        label="Only this predicate", required=False, max_length=NAME_LIMIT, empty_value=None
    )
    partition = forms.CharField(
        label="Only this partition", required=False, max_length=NAME_LIMIT, empty_value=None
    )
    recheck = forms.IntegerField(
        label="Looked at twice, %",
        min_value=0,
        max_value=100,
        initial=10,
        help_text="A second person looks at these without seeing the first one's verdict.",
    )
    seed = forms.IntegerField(
        label="Seed",
        required=False,
        min_value=0,
        max_value=SEEDS - 1,
        help_text="The same seed draws the same facts from the same memory; empty: a random one.",
    )

    def clean_seed(self) -> int:
        """Make a seed where none was given."""
        given: Any = self.cleaned_data["seed"]
        return int(given) if given is not None else secrets.randbelow(SEEDS)


class VerdictForm(forms.Form):
    """What a person found."""

    verdict = forms.ChoiceField(choices=[(str(one), str(one)) for one in Verdict])
    value = forms.CharField(required=False, max_length=VALUE_LIMIT)
