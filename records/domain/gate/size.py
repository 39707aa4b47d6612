"""Length: a fact is short.

Owns the lengths from which a text is no longer read as one fact. Must not cut
anything; a person decides about what is held.
"""

from __future__ import annotations

from collections.abc import Iterator

from records.domain.facts import Fact, Finding, Outcome

# The API refuses longer content; the gate also judges imports, and 8 kB of one "fact" is a
# document or padding around something else.
LONGEST_FACT = 4_000


def findings(fact: Fact) -> Iterator[Finding]:
    """Yield a finding for each text that is too long to be one fact."""
    for name, text in (("value", fact.value), ("content", fact.content)):
        if len(text) > LONGEST_FACT:
            yield Finding(
                rule="shape.too_long",
                outcome=Outcome.QUARANTINE,
                severity="medium",
                field=name,
                view="raw",
                span=(LONGEST_FACT, len(text)),
                matched="",
                reason=f"{len(text)} characters are too long for one fact; "
                f"at most {LONGEST_FACT} are read as one.",
            )
