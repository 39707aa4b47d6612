"""What a scan is asked for, and which of its hits are sent to the queue."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django import forms
from django.http import QueryDict

from audits.forms.operations import AskedScope, read_scope
from records.access import Access
from records.scans import Rules

RULES_WORDS: dict[str, str] = {
    Rules.ACTIVE: "the rules that rule now",
    Rules.DRAFT: "the draft as it stands",
    Rules.SOFTENED: "the rules that rule now, with only what the draft makes milder",
    Rules.SHIPPED: "the shipped rules alone, as shipped",
}
KINDS = {"new": "new", "known": "known", "cleared": "cleared"}
MOST = 2_000  # of a sample: more is "all"
USUAL = 200


def read_new(query: QueryDict, *, access: Access) -> tuple[AskedScope, str, str]:
    """Read a new scan's scope and rules, and what is wrong with the rules. Inside a scope."""
    given = query.copy()
    rules = (given.pop("rules", [""]) or [""])[-1]
    asked = read_scope(given, access=access)
    if rules and rules not in set(Rules):
        return asked, str(Rules.ACTIVE), f"There are no rules “{rules[:40]}”."
    return asked, rules or str(Rules.ACTIVE), ""


class SendForm(forms.Form):
    """Which new hits are sent to the queue: of every rule or one, all of them or a sample."""

    rule = forms.ChoiceField(label="Rule", required=False)
    how = forms.ChoiceField(
        label="How many",
        choices=[
            ("severe", "the most severe, up to the number below"),
            ("random", "a random sample of the number below"),
            ("all", "all of them"),
        ],
    )
    most = forms.IntegerField(
        label="Number",
        min_value=1,
        max_value=MOST,
        initial=USUAL,
        help_text=f"At most {MOST:,}: reviewers decide one by one.",
    )

    def __init__(self, *args: Any, rules: Sequence[tuple[str, int]] = (), **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        picker = self.fields["rule"]
        assert isinstance(picker, forms.ChoiceField)
        picker.choices = [("", "every rule"), *((name, f"{name} ({n:,})") for name, n in rules)]
