"""Every shipped rule keeps the promises of its own examples."""

from __future__ import annotations

import pytest

from records.domain.gate import Rule, RuleError, Ruleset, default_ruleset
from records.domain.gate.engine import Engine, expand
from records.domain.gate.folding import fold

RULES = default_ruleset().rules


def _matches(rule: Rule, text: str) -> bool:
    macros = default_ruleset().macros
    engine = Engine([expand(pattern, macros=macros) for pattern in rule.patterns])
    return bool(engine.match(fold(text)))


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_rule_matches_its_examples_and_leaves_the_others(rule: Rule) -> None:
    assert rule.must, "a rule needs an example that it matches"
    for text in rule.must:
        assert _matches(rule, text), text
    for text in rule.must_not:
        assert not _matches(rule, text), text


def test_version_is_the_same_for_the_same_rules_and_changes_with_them() -> None:
    shipped = default_ruleset()
    again = Ruleset(shipped.rules, macros=shipped.macros, scorer=shipped.scorer)
    assert again.version == shipped.version
    own = {
        "id": "own.coffee",
        "reason": "Coffee is out.",
        "patterns": ["coffee"],
        "must": ["coffee"],
    }
    assert shipped.with_rules([own]).version != shipped.version


def test_own_rule_cannot_replace_a_shipped_one() -> None:
    shipped = default_ruleset()
    with pytest.raises(RuleError, match=shipped.rules[0].id):
        shipped.with_rules(
            [{"id": shipped.rules[0].id, "reason": "x", "patterns": ["x"], "outcome": "allow"}]
        )


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"severity": "huge"}, "severity"),
        ({"outcome": "maybe"}, "outcome"),
        ({"patterns": []}, "patterns"),
        ({"patterns": ["(open"]}, "own.rule"),
        ({"patterns": ["{no_such_macro}"]}, "no_such_macro"),
        ({"reason": " "}, "reason"),
        ({"colour": "red"}, "colour"),
        ({"id": "no spaces"}, "id"),
    ],
)
def test_broken_rule_is_refused_by_name(change: dict[str, object], word: str) -> None:
    entry = {"id": "own.rule", "reason": "why", "patterns": ["x"], **change}
    with pytest.raises(RuleError, match=word):
        default_ruleset().with_rules([entry])
