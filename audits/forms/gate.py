"""The forms of the gate's pages: a text to try, an own rule, a softening, replay and activation."""

from __future__ import annotations

from typing import Any

from django import forms

from records.domain.facts import Fact, GateContext, Outcome, Tier
from records.domain.gate.ruleset import SEVERITIES
from records.gate_replay import MOST_WRITES, WRITES
from records.gate_rules import LENGTH_LIMIT, PREFIX
from records.write import RECENT_TEXTS

OUTCOMES = (
    ("quarantine", "quarantine: a person decides"),
    ("reject", "reject: no person should have to see it"),
    ("allow", "allow: note it only"),
)
SCOPE_WORDS = (
    ("text", "the fact's own texts"),
    ("joined", "also subject, predicate and value read as one sentence"),
    ("evidence", "only the excerpt that came with a write"),
)
TALL = forms.Textarea(attrs={"rows": 3, "spellcheck": "false"})
MONO = forms.Textarea(attrs={"rows": 3, "spellcheck": "false", "class": "mono"})
LINES_LIMIT = 50_000


class TryForm(forms.Form):
    """A write as it would come in, judged and forgotten."""

    value = forms.CharField(
        label="Value",
        max_length=2_000,
        strip=False,
        widget=forms.Textarea(attrs={"rows": 4, "autocomplete": "off"}),
    )
    subject = forms.CharField(label="Subject", max_length=200, initial="user", required=False)
    predicate = forms.CharField(label="Predicate", max_length=200, initial="note", required=False)
    tier = forms.ChoiceField(
        label="Source is",
        choices=[(str(one), str(one)) for one in Tier],
        initial=str(Tier.STANDARD),
        required=False,
    )
    evidence = forms.CharField(
        label="Evidence",
        max_length=2_000,
        required=False,
        strip=False,
        widget=forms.Textarea(attrs={"rows": 2, "autocomplete": "off"}),
        help_text="The excerpt that the fact was drawn from.",
    )
    earlier = forms.CharField(
        label="What the session wrote before",
        max_length=8_000,
        required=False,
        widget=forms.Textarea(attrs={"rows": 2, "autocomplete": "off"}),
        help_text=f"One value a line, the last {RECENT_TEXTS} are read.",
    )
    others = forms.IntegerField(
        label="Other sessions that say the same", min_value=0, max_value=1_000, required=False
    )
    rules = forms.ChoiceField(
        label="Judged by",
        choices=[("active", "the rules that rule now"), ("draft", "the draft")],
        required=False,
    )

    def fact(self) -> Fact:
        """Return the fact that is tried."""
        values = self.cleaned_data
        value = values["value"]
        return Fact(
            subject=values["subject"] or "user",
            predicate=values["predicate"] or "note",
            value=value,
            content=value,
            evidence=values["evidence"],
        )

    def context(self) -> GateContext:
        """Return who says it, after what."""
        values = self.cleaned_data
        earlier = lines(values["earlier"])
        return GateContext(
            tier=Tier(values["tier"] or Tier.STANDARD),
            recent_texts=earlier[-RECENT_TEXTS:],
            session_writes=len(earlier),
            corroborating_sessions=values["others"] or 0,
        )


class RuleForm(forms.Form):
    """One own rule. Lists are one entry a line."""

    id = forms.CharField(
        label="Name",
        max_length=64,
        help_text=f"{PREFIX} and small letters, digits, underscores. Kept when it is changed.",
    )
    reason = forms.CharField(
        label="What a reviewer reads",
        max_length=LENGTH_LIMIT,
        widget=forms.Textarea(attrs={"rows": 2}),
    )
    outcome = forms.ChoiceField(label="Outcome", choices=OUTCOMES, initial="quarantine")
    severity = forms.ChoiceField(
        label="Severity", choices=[(one, one) for one in SEVERITIES], initial="medium"
    )
    languages = forms.CharField(
        label="Languages",
        max_length=200,
        initial="en",
        help_text="Two letters each, with commas between.",
    )
    scope = forms.ChoiceField(label="Looks at", choices=SCOPE_WORDS, initial="text")
    quotable = forms.BooleanField(
        label="A report that quotes it is a fact", required=False, initial=True
    )
    phrases = forms.CharField(
        label="Phrases",
        max_length=LINES_LIMIT,
        required=False,
        widget=TALL,
        help_text="Taken literally as whole words; case, accents and blanks do not matter.",
    )
    patterns = forms.CharField(
        label="Patterns",
        max_length=LINES_LIMIT,
        required=False,
        widget=MONO,
        help_text="RE2, for folded text: lower case, no accents. {gap} is a few words.",
    )
    must = forms.CharField(label="Examples that must match", max_length=LINES_LIMIT, widget=TALL)
    must_not = forms.CharField(
        label="Examples that must not match",
        max_length=LINES_LIMIT,
        required=False,
        widget=TALL,
        help_text="Facts that look alike. Every example is run before the rule is saved.",
    )

    def clean_id(self) -> str:
        """Return the name with its prefix."""
        name = str(self.cleaned_data["id"]).strip()
        return name if name.startswith(PREFIX) else PREFIX + name

    def clean_languages(self) -> list[str]:
        """Return the codes; the error names the one that is none."""
        found = [one.strip().lower() for one in self.cleaned_data["languages"].split(",")]
        found = list(dict.fromkeys(one for one in found if one))
        for one in found:
            if not (one.isascii() and one.isalpha() and 2 <= len(one) <= 3):
                raise forms.ValidationError(f"{one[:20]!r} is no language of two or three letters.")
        return found

    def entry(self) -> dict[str, Any]:
        """Return the rule as it is kept."""
        values = self.cleaned_data
        return {
            **{name: values[name] for name in ("id", "outcome", "severity", "languages", "scope")},
            "reason": values["reason"].strip(),
            "quotable": values["quotable"],
            **{
                name: list(lines(values[name]))
                for name in ("phrases", "patterns", "must", "must_not")
            },
        }


class SoftenForm(forms.Form):
    """A shipped rule made milder, and why."""

    rule = forms.CharField(label="Shipped rule", max_length=100)
    outcome = forms.ChoiceField(
        label="From then on",
        choices=[
            (str(Outcome.QUARANTINE), "quarantine: a person decides"),
            (str(Outcome.ALLOW), "switched off: noted only"),
        ],
    )
    reason = forms.CharField(
        label="Reason", max_length=LENGTH_LIMIT, widget=forms.Textarea(attrs={"rows": 2})
    )


class ReplayForm(forms.Form):
    """On what the draft is replayed."""

    population = forms.ChoiceField(
        label="Replay on",
        choices=[("writes", "the last writes"), ("store", "all live facts, in the background")],
    )
    count = forms.IntegerField(
        label="How many writes",
        min_value=1,
        max_value=MOST_WRITES,
        initial=WRITES,
        required=False,
    )


class ActivateForm(forms.Form):
    """Why the draft should rule, and whether the live store is scanned by it at once."""

    reason = forms.CharField(
        label="Reason", max_length=1_000, widget=forms.Textarea(attrs={"rows": 2})
    )
    rescan = forms.BooleanField(
        label="Hold at once what the new rules find in old memory; otherwise a dry scan is proposed",
        required=False,
    )


def rule_initial(entry: dict[str, Any]) -> dict[str, Any]:
    """Return a kept rule as its form shows it."""
    shown = {name: entry[name] for name in ("id", "reason", "outcome", "severity", "scope")}
    shown |= {
        name: "\n".join(entry.get(name, ())) for name in ("phrases", "patterns", "must", "must_not")
    }
    return shown | {
        "languages": ", ".join(entry.get("languages", ())),
        "quotable": entry.get("quotable", True),
    }


def lines(text: str) -> tuple[str, ...]:
    """Return the lines that say something."""
    return tuple(line.strip() for line in text.splitlines() if line.strip())
