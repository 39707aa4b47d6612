"""The gate: is a write a short declarative fact, and may its source say so.

Owns the verdict on one write, as a pure function of fact, context, policy and
ruleset. Must not touch Django, the database or the clock. Start with
``judge.py``; ``docs/gate.md`` tells the whole story.
"""

from records.domain.gate.judge import check, with_findings, worst
from records.domain.gate.ruleset import Rule, RuleError, Ruleset, default_ruleset
from records.domain.gate.scanner import views_of

__all__ = [
    "Rule",
    "RuleError",
    "Ruleset",
    "check",
    "default_ruleset",
    "views_of",
    "with_findings",
    "worst",
]
