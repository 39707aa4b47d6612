"""The form of a workspace's thresholds, and why they change."""

from __future__ import annotations

from django import forms
from django.conf import settings

from audits.forms.acts import ReasonForm
from audits.thresholds import WORDS, Thresholds

MOST = 1_000_000
DAYS_MOST = 3_650


class ThresholdsForm(ReasonForm):
    """What needs a second person, and how long things are kept."""

    bulk = forms.IntegerField(
        label=WORDS["bulk"],
        min_value=0,
        max_value=MOST,
        help_text="0: every bulk eviction. Erasures always need one.",
    )
    high_risk = forms.BooleanField(label=WORDS["high_risk"], required=False)
    undo_days = forms.IntegerField(label=WORDS["undo_days"], min_value=1, max_value=DAYS_MOST)
    log_days = forms.IntegerField(label=WORDS["log_days"], min_value=1)

    field_order = ("bulk", "high_risk", "undo_days", "log_days", "reason")

    def clean_log_days(self) -> int:
        """Keep within what the installation keeps at all."""
        days = int(self.cleaned_data["log_days"])
        if days > settings.LOG_RETENTION_DAYS:
            raise forms.ValidationError(
                f"This installation keeps them for {settings.LOG_RETENTION_DAYS} days at most."
            )
        return days

    @property
    def wanted(self) -> Thresholds:
        """Return what was typed."""
        given = self.cleaned_data
        return Thresholds(**{name: given[name] for name in WORDS})
