"""The forms of notifications: a channel, a rule."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any
from uuid import UUID

from django import forms

from audits.domain.notices import ABOUT, QUIET_DEFAULT, QUIET_MOST, Channel, Kind
from audits.notices.channels import CHAT_SERVICES
from audits.notices.managing import Told

CHANNELS = {
    Channel.EMAIL: "E-mail",
    Channel.WEBHOOK: "Webhook",
    Channel.CHAT: "Chat service",
}
ADDRESS_HELP = (
    "E-mail: addresses with commas between. Webhook: its URL. Chat service: an Apprise URL of"
    f" {', '.join(CHAT_SERVICES.values())}, such as slack://TokenA/TokenB/TokenC."
    " It is encrypted, and not shown again."
)


class ChannelForm(forms.Form):
    """A new channel, or a change of one."""

    name = forms.CharField(label="Name", max_length=100)
    kind = forms.ChoiceField(
        label="By", choices=[(str(one), title) for one, title in CHANNELS.items()]
    )
    address = forms.CharField(
        label="Address",
        max_length=2_000,
        help_text=ADDRESS_HELP,
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
    )
    is_active = forms.BooleanField(label="Switched on", required=False, initial=True)

    def for_change(self) -> ChannelForm:
        """Return the form as it changes what there is: the kind stays, the address may."""
        del self.fields["kind"]
        self.fields["address"].required = False
        self.fields["address"].label = "New address"
        self.fields["address"].help_text = "Empty: it stays what it is. It is not shown again."
        return self


class RuleForm(forms.Form):
    """What to be told of, by which channel, and how often at most."""

    kind = forms.ChoiceField(
        label="When", choices=[(str(kind), about.title) for kind, about in ABOUT.items()]
    )
    channel = forms.ChoiceField(label="Tell")
    threshold = forms.FloatField(label="Number", required=False)
    quiet_minutes = forms.IntegerField(
        label="Then quiet for, minutes",
        min_value=0,
        max_value=QUIET_MOST,
        initial=QUIET_DEFAULT,
        help_text="One notice per target in this time; then one that counts the rest. 0: never.",
    )
    is_active = forms.BooleanField(label="Switched on", required=False, initial=True)

    def __init__(
        self,
        *args: Any,
        channels: Iterable[tuple[UUID, str]],
        fixed: Kind | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **kwargs)
        self.fixed = fixed
        choice = self.fields["channel"]
        assert isinstance(choice, forms.ChoiceField)
        choice.choices = [(str(one), name) for one, name in channels]
        self.fields["threshold"].help_text = _numbers(fixed)
        if fixed is not None:
            del self.fields["kind"]
            if ABOUT[fixed].number:
                self.fields["threshold"].label = ABOUT[fixed].number
            else:
                del self.fields["threshold"]

    def told(self) -> Told:
        """Return what the form says; a number that was left out is the kind's usual one."""
        given = self.cleaned_data
        kind = self.fixed or Kind(given["kind"])
        threshold = given.get("threshold")
        if threshold is None and ABOUT[kind].number:
            threshold = ABOUT[kind].default
        return Told(
            kind,
            UUID(given["channel"]),
            threshold,
            given["quiet_minutes"],
            is_active=given["is_active"],
        )


def _numbers(fixed: Kind | None) -> str:
    if fixed is not None:
        about = ABOUT[fixed]
        return f"From {about.least:g} to {about.most:g}." if about.number else ""
    each = [
        f"{about.title}: {about.number.lower()}, usually {about.default:g}"
        for about in ABOUT.values()
        if about.number
    ]
    return f"{'. '.join(each)}. The others need none. Empty: the usual one."
