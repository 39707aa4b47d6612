"""The forms of coming in: log-in, and the account of somebody invited."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib.auth.password_validation import validate_password
from django.contrib.auth.validators import UnicodeUsernameValidator
from django.core.exceptions import ValidationError

NAME = forms.TextInput(attrs={"autocomplete": "username", "autocapitalize": "none"})


class LogInForm(forms.Form):
    """A name and a password; whether they fit is not the form's to say."""

    username = forms.CharField(label="User name", max_length=150, widget=NAME)
    password = forms.CharField(
        label="Password",
        max_length=1_000,
        strip=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "current-password"}),
    )


class JoinForm(forms.Form):
    """The name and password of a new account."""

    username = forms.CharField(
        label="User name", max_length=150, widget=NAME, validators=[UnicodeUsernameValidator()]
    )
    password = forms.CharField(
        label="Password",
        max_length=1_000,
        strip=False,
        help_text="At least 12 characters.",
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
    )

    def clean(self) -> dict[str, Any]:
        """Hold the password to the rules that accounts have."""
        values = super().clean() or {}
        password = values.get("password")
        if password:
            try:
                validate_password(password)
            except ValidationError as error:
                self.add_error("password", error)
        return values
