"""The policies a new workspace starts with.

Owns reading ``starter_policies.json``, which people are meant to read and
change. An alias is a true synonym: it shares the predicate's slot, so that
"home city" belongs to ``city`` but "birthplace" never does. Must not merge with
a workspace's own policies; what a workspace has set stays.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

from records.domain.facts import Cardinality, Normaliser, Policy

_FILE = Path(__file__).with_name("starter_policies.json")
_TUPLES = ("aliases", "validators", "dependents")


@cache
def load_starter_policies() -> tuple[Policy, ...]:
    """Return the starter policies in the order of the file."""
    content = json.loads(_FILE.read_text(encoding="utf-8"))
    return tuple(_policy(entry) for section in content["sections"] for entry in section["policies"])


def _policy(entry: dict[str, Any]) -> Policy:
    fields = dict(entry)
    for name in _TUPLES:
        fields[name] = tuple(fields.get(name, ()))
    fields["cardinality"] = Cardinality(fields["cardinality"])
    fields["normaliser"] = Normaliser(fields.get("normaliser", "text"))
    return Policy(**fields)
