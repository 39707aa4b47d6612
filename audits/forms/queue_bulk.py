"""What is asked before many held facts are decided at once: the frozen list, a reason, a count.

Owns the sealed list of ids and versions that a preview hands to its own run.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast
from uuid import UUID

from django import forms
from django.core import signing

from audits.domain.review import ADMISSIONS, NOTE_LIMIT, REASONS, Verb, missing
from records.domain.risk import Risk

SALT = "memconsole.queue.bulk"
TYPED_FROM = 1_000  # above it the count is typed, which proves that it was read
VERBS = {"reject": Verb.REJECT, "approve": Verb.APPROVE}


@dataclass(frozen=True, slots=True)
class Frozen:
    """What a preview showed: the operation, and each fact at its version."""

    operation: UUID
    verb: Verb
    items: Sequence[tuple[UUID, int]]
    high: int


def seal(frozen: Frozen, workspace_id: UUID) -> str:
    """Return the list as the preview's form carries it."""
    items = [[one.hex, version] for one, version in frozen.items]
    body = [workspace_id.hex, frozen.operation.hex, str(frozen.verb), frozen.high, items]
    return signing.dumps(body, salt=SALT, compress=True)


def open_seal(text: str, workspace_id: UUID) -> Frozen | None:
    """Return the list of a preview; ``None`` when it is not one of this workspace."""
    try:
        workspace, operation, verb, high, items = signing.loads(text, salt=SALT)
    except (signing.BadSignature, ValueError, TypeError):
        return None
    if workspace != workspace_id.hex:
        return None
    return Frozen(
        UUID(operation), Verb(verb), [(UUID(one), int(version)) for one, version in items], high
    )


class BulkForm(forms.Form):
    """The reason, the note and, above a thousand, the count."""

    reason = forms.ChoiceField(label="Reason", required=False, widget=forms.RadioSelect)
    note = forms.CharField(
        label="Note",
        max_length=NOTE_LIMIT,
        required=False,
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text="Kept with every decision.",
    )
    count = forms.IntegerField(
        label="How many facts are these?",
        required=False,
        help_text="Type the number above: it proves that it was read.",
    )

    def __init__(self, *args: Any, frozen: Frozen, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.frozen = frozen
        reasons = REASONS if frozen.verb is Verb.REJECT else ADMISSIONS
        field = cast(forms.ChoiceField, self.fields["reason"])
        field.choices = [(one.code, one.label) for one in reasons]
        if len(frozen.items) <= TYPED_FROM:
            del self.fields["count"]

    def clean(self) -> dict[str, Any]:
        """Insist on what the decision owes, and on the number."""
        given = cast(dict[str, Any], super().clean())
        risk = Risk.HIGH if self.frozen.high else Risk.LOW
        owed = missing(
            self.frozen.verb,
            risk=risk,
            reason=given.get("reason", ""),
            note=given.get("note", ""),
        )
        if owed and "reason" not in self.errors:
            self.add_error("reason", owed)
        if "count" in self.fields and given.get("count") != len(self.frozen.items):
            self.add_error("count", f"These are {len(self.frozen.items):,} facts.")
        return given
