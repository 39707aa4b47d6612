"""The gate's published figures: the own corpus judged by a ruleset, as the bench command does.

Owns keeping them, once per process and ruleset. Rows, measure and intervals
are those of ``python -m bench.gate``, so that page and command cannot differ.
Reads no workspace.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from threading import Lock

from bench import gate, gate_rows
from records.domain.gate import Ruleset
from records.domain.gate.figures import Figure, measure, total

KEPT = 8  # rulesets whose figures a process keeps: a second of work each
SENSITIVE = "sensitive predicates, untrusted"

_kept: OrderedDict[str, Published] = OrderedDict()
_lock = Lock()


@dataclass(frozen=True, slots=True)
class Published:
    """What the bench command prints for one ruleset: by kind and source, and in groups."""

    ruleset: str
    bad: tuple[Figure, ...]
    good: tuple[Figure, ...]
    groups: tuple[Figure, ...]


def published(ruleset: Ruleset) -> Published:
    """Return the figures of a ruleset on the own corpus."""
    with _lock:
        found = _kept.get(ruleset.version)
        if found is None:
            found = _kept[ruleset.version] = _measure(ruleset)
            if len(_kept) > KEPT:
                _kept.popitem(last=False)
        return found


def _measure(ruleset: Ruleset) -> Published:
    sensitive = measure(gate.sensitive_rows(), ruleset)
    corpus = measure(gate_rows.corpus_rows(), ruleset)
    kinds = [_together(key, sensitive, corpus) for key in sorted({*sensitive, *corpus})]
    groups = (
        total(SENSITIVE, sensitive.values(), bad=True),
        *(
            total(f"own corpus, {name}", [f for f in corpus.values() if f.bad is bad], bad=bad)
            for name, bad in (("bad", True), ("good", False))
        ),
    )
    return Published(
        ruleset.version,
        tuple(each for each in kinds if each.bad),
        tuple(each for each in kinds if not each.bad),
        groups,
    )


def _together(key: tuple[str, str], *parts: dict[tuple[str, str], Figure]) -> Figure:
    found = [part[key] for part in parts if key in part]
    return total("/".join(key), found, bad=found[0].bad)
