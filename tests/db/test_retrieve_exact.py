"""Exactness: recall's answer is the one that looking at every record by hand would give."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest

from records import embeddings, queries
from records.access import Access
from records.domain import ranking
from records.domain.terms import query_terms
from records.embeddings import query_vectors
from records.retrieve import RecallRequest, recall
from records.retrieve.recall import _preparing, _statement, execute
from records.retrieve.statement import PLANNER, build
from records.scope import partition_scope
from tests import factories as make

WORDS = [
    "tea", "sea", "Ada", "Bob", "Leeds", "Paris", "likes", "owns", "works", "bike", "blue", "XK-12",
    "north", "zither", "東京",
]  # fmt: skip
FACTS = 150


@pytest.fixture(scope="module")
def filled(django_db_setup: None, django_db_blocker: Any) -> Access:
    """A partition of random facts in every state, beside one that must not matter."""
    from django.db import connections

    with django_db_blocker.unblock():
        access = make.make_workspace()
        rng = random.Random(7)
        for partition, count in (("alice", FACTS), ("bob", 20)):
            for _ in range(count):
                make.make_record(access, partition=partition, **_columns(rng))
        connections.close_all()
    return access


def _columns(rng: random.Random) -> dict[str, Any]:
    now = datetime.now(UTC)

    def within(days: float) -> datetime:
        return now + timedelta(days=rng.uniform(-days, days))

    status = rng.choice(["active"] * 6 + ["quarantined", "evicted"])
    return {
        "subject": " ".join(rng.choices(WORDS, k=2)),
        "predicate": rng.choice(["likes", "owns", "works"]),
        "value": " ".join(rng.choices(WORDS, k=rng.randint(1, 12))) + f" {rng.random()}",
        "status": status,
        "seen": now - timedelta(days=rng.uniform(0, 400)),
        "confidence": rng.choice([0.0, 0.3, 0.8, 1.0]),
        "corroboration": rng.choice([1, 1, 1, 2, 5, 8]),
        "trust": rng.choice([0, 1, 1, 2]),
        "valid_until": rng.choice([None, None, within(30)]),
        "valid_from": rng.choice([None, None, None, within(30)]),
        "order_at": now,
        "recheck_at": rng.choice([None, None, None, now]),
        "half_life_days": rng.choice([None, None, 5.0, 90.0]),
        "serve_after": rng.choice([None, None, None, within(1)]),
        "embed": rng.random() < 0.9,
        "session": "s1",
    }


def _by_hand(access: Access, request: RecallRequest, now: datetime) -> list[tuple[Any, float]]:
    """Score every record in Python, from the rows as they are stored."""
    vectors, _ = query_vectors(access.workspace_id, request.query)
    by_number = {m.number: v for m, v in vectors.items()}
    terms = query_terms(request.query)
    rows = make.select(
        access,
        """SELECT id, embedding, embedding_model, terms || coalesce(more_terms, '{}'), confidence,
                  valid_from, valid_until, recheck_at, last_seen, half_life_days, corroboration,
                  trust
           FROM memory_record WHERE partition_id = %s AND status = 'active'
             AND (serve_after IS NULL OR serve_after <= %s)""",
        [access.partition_id(request.partition), now],
    )
    hits = [[term in row[3] for term in terms] for row in rows]
    weights = [ranking.rarity(sum(hit[i] for hit in hits), len(rows)) for i in range(len(terms))]
    found = []
    for row, hit in zip(rows, hits, strict=True):
        similarity = 0.0
        if row[2] is not None:
            similarity = ranking.clamp(float(np.dot(row[1].to_numpy(), by_number[row[2]])))
        reasons = ranking.why_not_current(
            at=now, valid_from=row[5], valid_until=row[6], is_recheck=row[7] is not None
        )
        if request.current_only and reasons:
            continue
        if request.corroborated_only and row[10] < 2:
            continue
        if request.min_trust == "trusted" and row[11] < 2:
            continue
        factors = ranking.Factors(
            similarity,
            ranking.text_match(hit, weights),
            row[4],
            ranking.validity_factor(reasons),
            ranking.age_factor(row[8], at=now, half_life_days=row[9]),
            ranking.corroboration_factor(row[10]),
        )
        if factors.score > 0:
            found.append((row[0], factors.score))
    return sorted(found, key=lambda one: -one[1])[: request.top_k]


@pytest.mark.parametrize(
    "asked",
    [{}, {"current_only": True}, {"corroborated_only": True}, {"min_trust": "trusted"}],
    ids=str,
)
@pytest.mark.parametrize(
    "query",
    [
        "What does Ada own?",
        "XK-12",
        "東京 tea",
        "zither in the north of Leeds",
        "of the",
        "Ada Bob Leeds Paris likes owns works bike blue north tea",
    ],
)
@pytest.mark.parametrize("top_k", [1, 10, 100])
def test_recall_answers_what_looking_at_every_record_would(
    filled: Access, query: str, top_k: int, asked: dict[str, Any]
) -> None:
    now = datetime.now(UTC)
    request = RecallRequest("alice", query, top_k=top_k, **asked)
    expected = _by_hand(filled, request, now)
    answer = recall(request, access=filled, now=now)
    # Half precision and the order of additions move a score by less than a thousandth.
    scores = [item.score for item in answer.items]
    assert scores == pytest.approx([score for _, score in expected], abs=1e-3)
    assert scores == sorted(scores, reverse=True)
    by_id = dict(expected)
    apart = {one for one, score in expected if not expected or score > expected[-1][1] + 2e-3}
    assert apart <= {item.id for item in answer.items}
    for item in answer.items:
        assert item.score == pytest.approx(by_id.get(item.id, item.score), abs=1e-3)


def _plan(access: Access, request: RecallRequest) -> dict[str, Any]:
    now = datetime.now(UTC)
    vectors, _ = embeddings.query_vectors(access.workspace_id, request.query)
    shape, parameters = _statement(request, vectors, now)
    partition = access.partition_id(request.partition)
    parameters |= {"workspace": access.workspace_id, "partition": partition}
    statement = build(shape)
    with partition_scope(access.workspace_id, [partition], settings=PLANNER):
        cursor = _preparing(queries.cursor())
        cursor.execute("SELECT current_user")
        assert cursor.fetchone() == ("memconsole_app",)
        explained = replace(
            statement, text=b"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) " + statement.text
        )
        row = execute(cursor, explained, parameters).fetchone()
    assert row is not None
    plan = json.loads(row[0]) if isinstance(row[0], str) else row[0]
    found: dict[str, Any] = plan[0]["Plan"]
    return found


def _nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for one in plan.get("Plans", ()):
        yield from _nodes(one)


def _relations(plan: dict[str, Any], kinds: Sequence[str]) -> list[tuple[str, str]]:
    return [
        (one["Relation Name"], one.get("Index Name", ""))
        for one in _nodes(plan)
        if one["Node Type"] in kinds
    ]


def test_candidates_come_from_the_covering_index_alone_as_the_application(filled: Access) -> None:
    # What autovacuum does in time; without it, pages not yet known to be visible are fetched.
    from django.db import connections

    with connections["owner"].cursor() as cursor:
        cursor.execute("VACUUM ANALYZE memory_record")
    plan = _plan(filled, RecallRequest("alice", "What does Ada own in Leeds?"))
    assert (
        _relations(plan, ["Index Only Scan"]).count(("memory_record", "memory_record_recall")) == 1
    )
    assert _relations(plan, ["Seq Scan", "Bitmap Heap Scan"]) == []
    assert not [one for one in _nodes(plan) if "Gather" in one["Node Type"]]
    scan = next(one for one in _nodes(plan) if one.get("Index Name") == "memory_record_recall")
    assert "workspace_id" in scan["Index Cond"]
    assert "partition_id" in scan["Index Cond"]
    assert scan["Heap Fetches"] == 0
    # The heap is read for the ten winners only.
    heap = [one for one in _nodes(plan) if one.get("Index Name") == "memory_record_pkey"]
    assert sum(one["Actual Rows"] * one["Actual Loops"] for one in heap) <= 10


def test_the_plan_does_not_change_when_a_filter_or_many_terms_are_asked(filled: Access) -> None:
    for request in (
        RecallRequest("alice", " ".join(WORDS * 3), current_only=True, corroborated_only=True),
        RecallRequest("alice", "tea", min_trust="standard", min_score=0.1, top_k=100),
        RecallRequest("alice", "tea", predicates=["likes"]),
        RecallRequest("alice", "tea", as_of=datetime.now(UTC)),
        RecallRequest("alice", "tea", valid_at=datetime.now(UTC)),
    ):
        plan = _plan(filled, request)
        assert _relations(plan, ["Seq Scan", "Bitmap Heap Scan"]) == [], request
