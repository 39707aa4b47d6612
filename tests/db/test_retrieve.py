"""Recall answers with the best facts, says why, and logs what it served."""

from __future__ import annotations

import json
import math
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest

from records.access import Access
from records.domain import canonical, ranking
from records.items import BadRequest, NotFound
from records.retrieve import RecallAnswer, RecallRequest, recall
from tests import factories as make

NOW = datetime.now(UTC)


def ask(access: Access, query: str, **asked: Any) -> RecallAnswer:
    return recall(RecallRequest("alice", query, **asked), access=access)


def values(answer: RecallAnswer) -> list[str]:
    return [item.value for item in answer.items]


@pytest.fixture
def access() -> Access:
    make.make_record(other := make.make_workspace(), "the other workspace's secret")
    make.make_record(other, "Acme", subject="Alice", predicate="employer")
    return make.make_workspace()


def test_the_best_answer_comes_first_with_all_that_its_score_is_made_of(access: Access) -> None:
    record_id = make.make_record(access, "Acme", confidence=0.9)
    make.make_record(access, "Berlin", predicate="city")
    make.make_record(access, "jazz", predicate="likes", subject="Bob")
    first = ask(access, "Who is Alice's employer?").items[0]
    assert first.id == record_id
    assert (first.subject, first.predicate, first.value) == ("Alice", "employer", "Acme")
    assert first.content == "Alice employer: Acme"
    assert (first.current, first.why_not_current) == (True, ())
    assert list(first.factors) == [
        "similarity", "text", "confidence", "validity", "age", "corroboration",
    ]  # fmt: skip
    assert first.factors["text"] == 1.0
    assert first.score == pytest.approx(ranking.Factors(**first.factors).score, rel=1e-6)
    assert first.provenance["sessions"] == ["s1"]
    assert first.provenance["sources"] == ["conversation"]
    assert first.provenance["seen_count"] == 1


def test_the_database_computes_the_documented_score(access: Access) -> None:
    rows: dict[str, dict[str, Any]] = {
        "plain": {},
        "old": {"seen": NOW - timedelta(days=100)},
        "ancient": {"seen": NOW - timedelta(days=3_000)},
        "half": {"seen": NOW - timedelta(days=10), "half_life_days": 20.0},
        "halved": {"seen": NOW - timedelta(days=400), "half_life_days": 1.0},
        "tomorrow": {"last_seen": NOW + timedelta(days=1)},
        "expired": {"valid_until": NOW - timedelta(days=1)},
        "later": {"valid_from": NOW + timedelta(days=2), "order_at": NOW},
        "recheck": {"recheck_at": NOW},
        "unlisted": {"unlisted_at": NOW},
        "backed": {"corroboration": 3},
        "chorus": {"corroboration": 8},
        "voiceless": {"corroboration": 0},
        "doubtful": {"confidence": 0.15},
    }
    for value, columns in rows.items():
        make.make_record(access, value, **columns)
    now = datetime.now(UTC)
    answer = recall(RecallRequest("alice", "Alice employer", top_k=50), access=access, now=now)
    found = {item.value: item for item in answer.items}
    assert found.keys() == rows.keys()
    for value, columns in rows.items():
        seen = columns.get("last_seen") or columns.get("seen") or now
        item, factors = found[value], found[value].factors
        half_life = columns.get("half_life_days")
        assert factors["age"] == pytest.approx(
            ranking.age_factor(seen, at=now, half_life_days=half_life),
            abs=1e-5,
        )
        assert factors["corroboration"] == pytest.approx(
            ranking.corroboration_factor(columns.get("corroboration", 1))
        )
        assert factors["validity"] == ranking.validity_factor(item.why_not_current)
        assert factors["confidence"] == pytest.approx(columns.get("confidence", 0.8))
        assert item.score == pytest.approx(ranking.Factors(**factors).score, rel=1e-5)
    reasons = {value: item.why_not_current for value, item in found.items() if not item.current}
    assert reasons == {
        "expired": ("expired",),
        "later": ("not_yet_valid",),
        "recheck": ("recheck",),
        "unlisted": ("unlisted",),
    }


def test_words_are_weighed_by_how_rare_they_are_here(access: Access) -> None:
    for number in range(9):
        make.make_record(access, f"book {number}", predicate="owns", embed=False)
    make.make_record(access, "zither", predicate="owns", embed=False)
    answer = ask(access, "owns zither", top_k=10)
    assert values(answer)[0] == "zither"
    common = ranking.rarity(10, 10)
    rare = ranking.rarity(1, 10)
    assert answer.items[1].factors["text"] == pytest.approx(common / (common + rare))


@pytest.mark.parametrize(
    ("question", "value"),
    [
        ("XK-4471-B", "order XK-4471-B"),
        ("ravi@old.example", "ravi@old.example"),
        ("東京", "東京に住んでいる"),
        ("ресторан", "любимый ресторан Пушкин"),
        ("Þorsteinn", "Þorsteinn Bachmann"),
        ("café", "the cafe on the corner"),
        ("2.9.1", "version 2.9.1"),
    ],
)
def test_names_and_codes_are_found_though_no_embedding_sees_them(
    access: Access, question: str, value: str
) -> None:
    make.make_record(access, value, predicate="note", embed=False)
    for other in ("tea", "the sea", "a long walk", "北京"):
        make.make_record(access, other, predicate="likes")
    assert values(ask(access, question))[0] == value


def test_a_word_past_the_indexed_terms_of_a_long_text_is_found(access: Access) -> None:
    words = " ".join(f"word{number}" for number in range(300))
    make.make_record(access, "diary", predicate="note", content=f"{words} xylophone", embed=False)
    make.make_record(access, "short", predicate="note", embed=False)
    rows = make.select(access, "SELECT cardinality(terms), more_terms FROM memory_record", [])
    assert {count for count, more in rows if more} == {160}
    answer = ask(access, "xylophone")
    assert values(answer) == ["diary"]
    assert answer.items[0].factors["text"] == 1.0


def test_a_record_without_embedding_is_found_by_its_words_only(access: Access) -> None:
    make.make_record(access, "Acme", embed=False)
    assert ask(access, "employer").items[0].factors["similarity"] == 0.0
    assert values(ask(access, "zebra")) == []


def test_a_cosine_below_zero_is_zero_and_promotes_nothing(access: Access) -> None:
    vector = [1.0, 0.0, 0.0]
    same: dict[str, Any] = {"embed": False, "embedding_model": None}
    model = make.caller_number(access, 3)
    for value, against, extra in (
        ("away", [-1.0, 0.0, 0.0], {}),
        ("away and expired", [-1.0, 0.0, 0.0], {"valid_until": NOW - timedelta(days=1)}),
        ("near", [0.9, 0.1, 0.0], {}),
        ("across", [0.0, 1.0, 0.0], {}),
    ):
        columns = same | {"embedding": make.vector(against), "embedding_model": model} | extra
        make.make_record(access, value, **columns)
    answer = ask(access, "zebra", embedding=vector)
    assert values(answer) == ["near"]
    assert 0 < answer.items[0].factors["similarity"] <= 1


def test_a_query_meets_only_vectors_of_its_own_model(access: Access) -> None:
    model = make.caller_number(access, 256)
    make.make_record(access, "ours", predicate="note", content="zeppelin")
    make.make_record(
        access,
        "theirs",
        predicate="note",
        content="airship",
        embed=False,
        embedding=make.vector([1.0] * 256),
        embedding_model=model,
    )
    found = {item.value: item.factors for item in ask(access, "zeppelin airship").items}
    assert found["theirs"]["similarity"] == 0.0
    assert found["ours"]["similarity"] > 0.3
    with_vector = ask(access, "zeppelin airship", embedding=[2.0] * 256)
    found = {item.value: item.factors for item in with_vector.items}
    assert found["theirs"]["similarity"] == pytest.approx(1.0, abs=2e-3)
    assert found["ours"]["similarity"] > 0.3


def test_equal_scores_are_settled_by_seen_count_then_last_seen_then_id(access: Access) -> None:
    same: dict[str, Any] = {
        "predicate": "note",
        "content": "tie",
        "embed": False,
        "half_life_days": None,
    }
    # Older than the floor of age, so that last seen does not move the score.
    ancient = NOW - timedelta(days=900)
    first = make.make_record(access, "a", seen=ancient, **same)
    second = make.make_record(access, "b", seen=ancient, **same)
    later = make.make_record(access, "c", seen=ancient + timedelta(days=1), **same)
    often = make.make_record(access, "d", seen=ancient, **same)
    make.make_tally(
        access, often, seen_count=5, first_seen=ancient, last_seen=ancient, sessions=1, sources=0
    )
    answer = ask(access, "tie", top_k=3)
    assert len({item.score for item in answer.items}) == 1
    assert [item.id for item in answer.items] == [often, later, min(first, second)]


def test_the_limit_comes_after_every_filter(access: Access) -> None:
    for number in range(30):
        make.make_record(
            access, f"expired {number}", confidence=1.0, valid_until=NOW - timedelta(days=1)
        )
    make.make_record(access, "live", confidence=0.2)
    make.make_record(access, "backed", confidence=0.1, corroboration=2)
    make.make_record(access, "trusted", confidence=0.1, trust=2)
    assert values(ask(access, "Alice employer", top_k=1, current_only=True)) == ["live"]
    assert values(ask(access, "Alice employer", top_k=1, corroborated_only=True)) == ["backed"]
    assert values(ask(access, "Alice employer", top_k=1, min_trust="trusted")) == ["trusted"]


def test_min_score_leaves_out_what_is_worth_less(access: Access) -> None:
    make.make_record(access, "good", confidence=0.9)
    make.make_record(access, "poor", confidence=0.05)
    now = datetime.now(UTC)  # a score falls with every second

    def found(min_score: float) -> list[str]:
        asked = RecallRequest("alice", "Alice employer", min_score=min_score)
        return values(recall(asked, access=access, now=now))

    all_of_them = recall(RecallRequest("alice", "Alice employer"), access=access, now=now)
    good, poor = (item.score for item in all_of_them.items)
    assert found((good + poor) / 2) == ["good"]
    assert found(good) == ["good"]
    assert found(poor) == ["good", "poor"]


def test_predicates_may_be_named_in_any_spelling_and_by_an_alias(access: Access) -> None:
    make.make_record(access, "engineer", predicate="job_title")
    make.make_record(access, "Acme")
    make.make_policy(access, "job_title", aliases=["role"])
    for name in ("Job Title", "job-title", "role"):
        assert values(ask(access, "Alice", predicates=[name])) == ["engineer"]
    assert values(ask(access, "Alice", predicates=["nothing"])) == []


def test_what_was_served_is_logged_before_the_answer(access: Access) -> None:
    make.make_record(access, "Acme")
    make.make_record(access, "Globex", valid_until=NOW - timedelta(days=1))
    answer = ask(access, "Alice employer", session="chat 1", current_only=False, min_score=0.01)
    partition = access.partition_id("alice")
    session = canonical.session_id(access.workspace_id, partition, "chat 1")
    ((*row, parameters, served, micros),) = make.select(
        access,
        """SELECT partition_id, session_id, actor, query, parameters::text, served_count, micros
           FROM recall WHERE id = %s""",
        [answer.recall_id],
    )
    assert row == [partition, session, "key:test", "Alice employer"]
    assert json.loads(parameters) == {"top_k": 10, "session": "chat 1", "min_score": 0.01}
    assert served == len(answer.items) == 2
    assert micros > 0
    rows = make.select(
        access,
        """SELECT record_id, rank, score, current, session_id FROM serve
           WHERE recall_id = %s ORDER BY rank""",
        [answer.recall_id],
    )
    assert [(r[0], r[1], r[3], r[4]) for r in rows] == [
        (item.id, place, item.current, session) for place, item in enumerate(answer.items, 1)
    ]
    assert [r[2] for r in rows] == pytest.approx([item.score for item in answer.items])


def test_an_empty_answer_is_logged_too(access: Access) -> None:
    make.make_partition(access)
    answer = ask(access, "anything")
    assert answer.items == ()
    assert make.select(
        access, "SELECT served_count, session_id FROM recall WHERE id = %s", [answer.recall_id]
    ) == [(0, None)]


def test_unknown_and_unreachable_partitions_are_the_same(access: Access) -> None:
    make.make_record(access, "Acme", partition="bob")
    bound = Access(access.workspace_id, access.actor, partition="alice")
    make.make_partition(access, "alice")
    assert recall(RecallRequest("bob", "employer"), access=access).items
    errors = []
    for name, who in (("bob", bound), ("nobody", bound), ("nobody", access)):
        with pytest.raises(NotFound) as caught:
            recall(RecallRequest(name, "employer"), access=who)
        errors.append(str(caught.value))
    assert len(set(errors)) == 1
    assert make.select(access, "SELECT count(*) FROM recall", []) == [(1,)]


@pytest.mark.parametrize(
    ("field", "asked"),
    [
        ("partition", {"partition": ""}),
        ("partition", {"partition": "p" * 201}),
        ("query", {"query": " \u200b "}),
        ("query", {"query": "a\0b"}),
        ("query", {"query": "a\ud800b"}),
        ("query", {"query": "q" * 4_001}),
        ("session", {"session": ""}),
        ("top_k", {"top_k": 0}),
        ("top_k", {"top_k": 101}),
        ("min_trust", {"min_trust": "much"}),
        ("min_score", {"min_score": math.nan}),
        ("min_score", {"min_score": -0.1}),
        ("predicates", {"predicates": ["p"] * 51}),
        ("predicates", {"predicates": ["p" * 201]}),
        ("as_of", {"as_of": datetime(2026, 1, 1)}),  # noqa: DTZ001 - naive on purpose
        ("valid_at", {"valid_at": datetime(2026, 1, 1)}),  # noqa: DTZ001 - naive on purpose
        ("as_of", {"as_of": NOW + timedelta(days=1)}),
        ("valid_at", {"valid_at": NOW + timedelta(days=1)}),
        ("embedding", {"embedding": []}),
        ("embedding", {"embedding": [1.0, math.nan]}),
        ("embedding", {"embedding": [1.0, math.inf]}),
        ("embedding", {"embedding": [0.0, 0.0]}),
        ("embedding", {"embedding": [1.0] * 4_097}),
    ],
)
def test_a_malformed_request_names_its_field(
    access: Access, field: str, asked: dict[str, Any]
) -> None:
    make.make_partition(access)
    with pytest.raises(BadRequest) as caught:
        recall(
            RecallRequest(**({"partition": "alice", "query": "q"} | asked)),
            access=access,
        )
    assert [error.field for error in caught.value.errors] == [field]


def test_a_workspace_that_does_not_exist_has_nothing(access: Access) -> None:
    stranger = Access(uuid4(), access.actor)
    with pytest.raises(NotFound):
        recall(RecallRequest("alice", "employer"), access=stranger)
