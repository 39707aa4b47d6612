"""How far facts went, said: the sentences follow the numbers, the buckets follow the span."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from audits.domain.radius import (
    Evidence,
    Radius,
    Use,
    bucket_for,
    sentence,
    taint_sentence,
    use_sentence,
)

NOW = datetime(2026, 5, 4, 12, tzinfo=UTC)


def radius(**more: object) -> Radius:
    base: dict[str, object] = {
        "facts": 412,
        "served_facts": 61,
        "serves": 287,
        "recalls": 200,
        "sessions": 41,
        "partitions": 1,
        "unnamed": 0,
        "first_at": NOW - timedelta(days=3),
        "last_at": NOW - timedelta(minutes=4),
        "is_capped": False,
    }
    return Radius(**{**base, **more})  # type: ignore[arg-type]


def test_sentence_of_the_console_contract() -> None:
    said = "61 of 412 facts were served 287 times to 41 sessions, last 4 m ago."
    assert sentence(radius(), now=NOW) == said


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"partitions": 3}, "to 41 sessions in 3 partitions"),
        ({"unnamed": 2}, "to 41 sessions and 2 times without one"),
        ({"sessions": 0, "unnamed": 287}, "287 times without a session"),
        ({"is_capped": True, "facts": 50_000}, "of 50,000 or more facts"),
        ({"serves": 0}, "None of the 412 facts has been served."),
        ({"facts": 1, "serves": 0}, "This fact has not been served."),
        ({"facts": 0}, "There are no facts"),
        ({"facts": 1, "served_facts": 1, "serves": 1, "sessions": 1}, "1 of 1 fact was served 1 "),
    ],
)
def test_sentence_says_what_is_special(changes: dict[str, object], said: str) -> None:
    assert said in sentence(radius(**changes), now=NOW)


@given(
    facts=st.integers(1, 10**6),
    serves=st.integers(1, 10**6),
    sessions=st.integers(1, 10**6),
    minutes=st.integers(0, 10**6),
)
def test_every_number_of_the_sentence_is_the_one_counted(
    facts: int, serves: int, sessions: int, minutes: int
) -> None:
    counted = radius(
        facts=facts,
        served_facts=facts,
        serves=serves,
        sessions=sessions,
        last_at=NOW - timedelta(minutes=minutes),
    )
    head = sentence(counted, now=NOW).split(", last ")[0]
    found = [int(one.replace(",", "")) for one in re.findall(r"\d[\d,]*", head)]
    assert found == [facts, facts, serves, sessions]


def test_taint_sentence_tells_the_depth() -> None:
    assert taint_sentence((), 0) == "Nobody who was served wrote anything afterwards."
    assert taint_sentence((1, 0), 1) == "1 record was written afterwards by 1 session."
    said = "5 records were written afterwards by 2 sessions, 2 of them by way of another record."
    assert taint_sentence((3, 1, 1), 2) == said


@pytest.mark.parametrize(
    ("use", "answer"),
    [
        (Use("active", 0, 0, 0, 0, 0), "No: no recall"),
        (Use("active", 4, 2, 0, 0, 0), "No: it was current each of the 4 times"),
        (Use("active", 4, 2, 3, 0, 0), "Yes: 3 of its 4 serves"),
        (Use("evicted", 4, 2, 0, 0, 0), "Yes: it was served 4 times to 2 sessions before it was"),
        (Use("evicted", 4, 2, 0, 0, 1), "and 1 time since."),
        (Use("quarantined", 1, 1, 0, 0, 0), "Perhaps: it was served 1 time before it was held"),
        (Use("superseded", 4, 2, 0, 0, 0), "No: none of its 4 serves"),
        (Use("superseded", 4, 2, 0, 2, 0), "Yes: 2 of its 4 serves came when its successor"),
    ],
)
def test_question_of_the_record_chart_is_answered(use: Use, answer: str) -> None:
    assert answer in use_sentence(use)


@given(st.timedeltas(timedelta(0), timedelta(days=4_000)))
def test_no_span_has_more_bars_than_a_person_can_tell_apart(span: timedelta) -> None:
    width = {
        "hour": timedelta(hours=1),
        "day": timedelta(days=1),
        "week": timedelta(days=7),
        "month": timedelta(days=28),
    }[bucket_for(NOW - span, NOW).unit]
    assert span / width <= 150
    assert bucket_for(None, None).unit == "hour"


def test_stronger_evidence_comes_first() -> None:
    assert sorted(Evidence) == [Evidence.REPEATS, Evidence.ALIKE, Evidence.AFTER]
    assert all(one.word and one.meaning for one in Evidence)
