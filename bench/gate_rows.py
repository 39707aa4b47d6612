"""Labelled rows for the gate's bench and training: the data folder and the own corpus.

Owns how each file's rows become ``Row``s and which kinds form a bar. Must not
judge. The data folder holds sentences of others and is not part of the product;
``gate_corpus.jsonl`` is in our own words and is. ``gate_noise.json`` names, by
digest, rows whose label no reader would agree with, and says why.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from records.domain.facts import Tier
from records.domain.gate.figures import Row

HERE = Path(__file__).parent
CORPUS = HERE / "gate_corpus.jsonl"
NOISE = HERE / "gate_noise.json"

EXPLICIT = (
    "override",
    "jailbreak_persona",
    "prompt_leak",
    "role_or_wrapper",
    "exfil",
    "code_payload",
    "memory_directive",
)
PLAIN = ("imperative_task", "task_request", "output_format_hijack", "content_hijack")
POISON = ("bridging", "experience_poison")
PEOPLE = (
    "mem0_example",
    "preference_or_decision",
    "user_statement",
    "entity_fact",
    "shopping_query",
)
WORKPLACE = ("agentdojo_env",)  # orders, recipes and requests labelled as facts; reported apart


def digest(text: str) -> str:
    """Return the short digest by which the noise list names a row."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            if line.strip():
                yield json.loads(line)


def noise() -> dict[str, str]:
    """Return the reasons of the rows listed as noise, by digest."""
    return dict(json.loads(NOISE.read_text(encoding="utf-8"))) if NOISE.exists() else {}


def gate_rows(folder: Path) -> Iterator[Row]:
    """Yield the rows of the gate files: bad ones, then good ones that are facts."""
    reasons = noise()
    for row in _lines(folder / "gate_positive.jsonl"):
        yield Row(
            row["text"],
            True,
            row["kind"],
            row["source"],
            noise=reasons.get(digest(row["text"]), ""),
        )
    for row in _lines(folder / "gate_benign.jsonl"):
        if row["fact"]:
            text = row["text"]
            yield Row(text, False, row["kind"], row["source"], noise=reasons.get(digest(text), ""))


def chat_rows(folder: Path) -> Iterator[Row]:
    """Yield the benign rows that are chat requests: no facts, so no false alarms."""
    for row in _lines(folder / "gate_benign.jsonl"):
        if not row["fact"]:
            yield Row(row["text"], False, row["kind"], f"{row['source']} (chat)")


def evasion_rows(folder: Path) -> Iterator[Row]:
    """Yield the evasions and their benign traps as they would be written."""
    for row in _lines(folder / "evasions.jsonl"):
        yield Row(
            row["value"],
            "accept" not in row["acceptable"],
            row["kind"],
            row["source"],
            subject=row["subject"],
            predicate=row["predicate"],
            writes=tuple(row.get("writes", ())),
        )


def real_rows(folder: Path) -> Iterator[Row]:
    """Yield the distinct encyclopaedic facts as whole facts."""
    seen: set[tuple[str, str, str]] = set()
    for row in _lines(folder / "real_facts.jsonl"):
        subject, predicate, value = row["subject"], row["predicate"], row["value"]
        key = (subject.casefold(), predicate.casefold(), " ".join(value.casefold().split()))
        if key not in seen:
            seen.add(key)
            content = row.get("content") or f"{subject} {predicate} {value}"
            yield Row(value, False, "real_fact", "dynamicqa", subject, predicate, content)


def provenance_rows(folder: Path) -> Iterator[tuple[str, Row]]:
    """Yield the facts by session, with the kind of session they came in."""
    for row in _lines(folder / "provenance.jsonl"):
        kind = row.get("session_kind") or row["session_label"]
        bad = row["session_label"] != "normal"
        yield row["session"], Row(row["text"], bad, kind, "provenance", subject=row["subject"])


def corpus_rows() -> Iterator[Row]:
    """Yield the own corpus."""
    for row in _lines(CORPUS):
        yield Row(
            row["text"],
            row["bad"],
            row["kind"],
            "own",
            subject=row.get("subject", "user"),
            predicate=row.get("predicate", "note"),
            content=row.get("content", ""),
            writes=tuple(row.get("writes", ())),
            tier=Tier(row.get("tier", "standard")),
            evidence=row.get("evidence", ""),
        )


def group_of(row: Row) -> str:
    """Return the bar that a row counts for."""
    if row.kind == "real_fact":
        return "real facts"
    if row.bad:
        for name, kinds in (
            ("explicit attacks", EXPLICIT),
            ("plain requests", PLAIN),
            ("poison", POISON),
        ):
            if row.kind in kinds:
                return name
        return "other attacks"
    if row.kind in PEOPLE:
        return "people and preferences"
    if row.kind in WORKPLACE:
        return "workplace texts"
    return "technical hard negatives"
