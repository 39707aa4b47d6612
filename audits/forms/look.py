"""How the console looks and listens to one person."""

from __future__ import annotations

from django import forms

THEMES = ("system", "light", "dark")
DENSITIES = ("compact", "comfortable")


class LookForm(forms.Form):
    """Theme and density, either or both; what is missing stays."""

    theme = forms.ChoiceField(required=False, choices=[(one, one) for one in THEMES])
    density = forms.ChoiceField(required=False, choices=[(one, one) for one in DENSITIES])
