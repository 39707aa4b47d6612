"""Where poisoned sessions rank among good ones, through the real write path and the real job.

    .venv/bin/python -m bench.suspicion [--provenance FILE] [--set tune|held_out|fresh] [--seed N]

``--provenance`` loads a file of facts by session (JSON lines: tenant, session, text, subject,
session_label, session_kind) into a fresh workspace and prints the rank of each suspicious
session with its reasons. The generated sets are ``bench/sessions.py``'s; precision among the
first k and the area under the curve are printed, by kind and strength.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from time import perf_counter
from uuid import UUID

from bench import instance, sessions
from bench.instance import bars
from bench.sessions import Session

# isort: split
from audits import suspicion
from audits.jobs import SUSPICION
from records.access import Access, Actor, ActorKind
from records.domain import canonical
from records.items import Refused, WriteItem
from records.jobs.runs import perform
from records.models import SessionTotals
from records.queries import cursor
from records.schemas.items import read_item
from records.scope import workspace_scope
from records.workspaces import make_workspace
from records.write import write_facts

SETS = {"tune": sessions.TUNE, "held_out": sessions.HELD_OUT, "fresh": sessions.FRESH}
SEEDS = {"tune": 7, "held_out": 1_009, "fresh": 424_243}
SHAPES = {"value": "each text as value of the predicate note", "text": "each text alone"}


@dataclass
class Ranked:
    """One session where it stands."""

    session: Session
    score: int
    reasons: list[str]


def main() -> int:
    """Run the benchmark and print its figures; the exit code says whether the bars are met."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--provenance", type=Path)
    parser.add_argument("--set", choices=[*SETS, "none"], default="fresh")
    parser.add_argument("--seed", type=int)
    parser.add_argument("--top", type=int, default=12, help="how many to print with reasons")
    asked = parser.parse_args()
    code = 0
    with instance.database():
        if asked.provenance:
            for shape, words in SHAPES.items():
                ranked = rank(read_provenance(asked.provenance, shape))
                print(f"{asked.provenance.name}, {words}\n")
                report(ranked, asked.top)
        if asked.set != "none":
            made = sessions.make(SETS[asked.set], asked.seed or SEEDS[asked.set])
            ranked = rank(made)
            print(f"\nGenerated: {asked.set}\n")
            code = report(ranked, asked.top)
    return code


def read_provenance(path: Path, shape: str) -> list[Session]:
    """Return the sessions of a file of facts by session, in the file's order."""
    found: dict[tuple[str, str], Session] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        key = row["tenant"], row["session"]
        kind = row.get("session_kind") or "normal"
        session = found.setdefault(
            key, Session(key[1], key[0], kind, row["session_label"] == "suspicious", agent="")
        )
        fact = {"content": row["text"]}
        if shape == "value":
            fact = {"subject": row["subject"], "predicate": "note", "value": row["text"]}
        session.facts.append(fact)
    return list(found.values())


def rank(written: Sequence[Session]) -> list[Ranked]:
    """Write the sessions into a workspace of their own, score them, and return them ranked."""
    name = f"bench-{datetime.now(UTC):%H%M%S%f}"
    access = make_workspace(name, actor=Actor(ActorKind.COMMAND, "bench"))
    began = perf_counter()
    facts = sum(_write(session, access) for session in written)
    wrote = perf_counter()
    run = perform(SUSPICION, access.workspace_id, suspicion.score_sessions)
    assert run is not None
    scored = perf_counter()
    print(
        f"{len(written)} sessions, {facts:,} facts written in {wrote - began:.1f} s,"
        f" scored in {scored - wrote:.2f} s"
    )
    scores = _scores(access)
    ranked = [
        Ranked(
            one,
            *scores[
                canonical.session_id(
                    access.workspace_id, access.partition_id(one.partition), one.name
                )
            ],
        )
        for one in written
    ]
    return sorted(ranked, key=lambda one: -one.score)


def _write(session: Session, access: Access) -> int:
    more = {"partition": session.partition, "session": session.name}
    if session.agent:
        more["agent"] = session.agent
    items = [read_item({**fact, **more}) for fact in session.facts]
    good = [one for one in items if isinstance(one, WriteItem)]
    assert len(good) == len(items)
    results = write_facts(good, access=access)
    return sum(not isinstance(one, Refused) for one in results)


def _scores(access: Access) -> dict[UUID, tuple[int, list[str]]]:
    with workspace_scope(access.workspace_id):
        cur = cursor()
        cur.execute("SELECT session_id, score, reasons FROM session_suspicion")
        found = {}
        for session_id, score, reasons in cur:
            parts = json.loads(reasons) if isinstance(reasons, str) else reasons
            found[session_id] = (score, [f"{one['points']:>3}  {one['sentence']}" for one in parts])
        assert len(found) == SessionTotals.objects.count()
    return found


def report(ranked: Sequence[Ranked], top: int) -> int:
    """Print where the poisoned stand; return whether the bars are met."""
    bad = [one for one in ranked if one.session.is_bad]
    for place, one in enumerate(ranked, 1):
        if place <= top or (one.session.is_bad and len(bad) <= 10):
            what = one.session.kind.upper() if one.session.is_bad else one.session.kind
            print(
                f"{place:>4}. {one.score:>3}  {what} {one.session.strength or ''} {one.session.name}"
            )
            for reason in one.reasons[:4]:
                print(f"             {reason}")
    print(
        f"\npoisoned at ranks {[place for place, one in enumerate(ranked, 1) if one.session.is_bad]}"
    )
    first = len(bad)
    print(
        f"precision among the first {first}: {_precision(ranked, first):.2f}, "
        f"first 10: {_precision(ranked, min(10, first)):.2f}; AUC {auc(ranked):.3f}"
    )
    if len(bad) <= 10:
        return 0
    good = [one for one in ranked if not one.session.is_bad]
    for title, key, group in (
        ("kind", lambda one: one.session.kind, bad),
        ("strength", lambda one: str(one.session.strength), bad),
    ):
        by: dict[str, list[Ranked]] = defaultdict(list)
        for one in group:
            by[key(one)].append(one)
        for name, several in sorted(by.items()):
            print(
                f"  {title} {name:<12} AUC {auc([*several, *good]):.3f}  "
                f"median score {_median(one.score for one in several)}"
            )
    by = defaultdict(list)
    for one in good:
        by[one.session.kind].append(one)
    for name, several in sorted(by.items()):
        print(
            f"  good {name:<16} {len(several):>4} sessions, median score "
            f"{_median(one.score for one in several)}, highest {max(one.score for one in several)}"
        )
    whole = [one for one in bad if one.session.strength == 1.0]
    return bars(
        [
            ("AUC", auc(ranked), ">=", 0.88),
            ("AUC where everything is poison", auc([*whole, *good]), ">=", 0.95),
            ("precision among 10", _precision(ranked, 10), ">=", 0.9),
        ]
    )


def auc(ranked: Iterable[Ranked]) -> float:
    """Return how often a poisoned session scores above a good one; a tie counts half."""
    several = list(ranked)
    bad = [one.score for one in several if one.session.is_bad]
    good = [one.score for one in several if not one.session.is_bad]
    above = sum((b > g) + (b == g) / 2 for b in bad for g in good)
    return above / (len(bad) * len(good))


def _precision(ranked: Sequence[Ranked], first: int) -> float:
    """Return the share of poisoned among the first; of ties the good ones come first."""
    harsh = sorted(ranked, key=lambda one: (-one.score, one.session.is_bad))
    return sum(one.session.is_bad for one in harsh[:first]) / first


def _median(values: Iterable[int]) -> int:
    found = sorted(values)
    return found[len(found) // 2]


if __name__ == "__main__":
    sys.exit(main())
