"""An agent that stores what it has just been told renews nothing."""

from __future__ import annotations

from datetime import timedelta

from records.access import Access
from records.items import WriteItem
from records.models import Claim, MemoryRecord
from records.retrieve import RecallRequest, recall
from records.scope import workspace_scope

from .test_write import NOW, fact, put, record

SOON = NOW + timedelta(hours=1)


def tell(access: Access, session: str) -> None:
    answer = recall(RecallRequest("ada", "Acme", session=session), access=access, now=NOW)
    assert answer.items


def test_fact_served_to_a_session_is_echoed_by_it_and_reinforced_by_others(access: Access) -> None:
    first = put(access, fact(valid_until=NOW + timedelta(days=1)))
    tell(access, "s2")
    echo = put(access, fact(session="s2"), SOON)
    assert (echo.decision, echo.id, echo.seen_count) == ("echoed", first.id, 1)
    fresh = put(access, fact(session="s3"), SOON)
    assert (fresh.decision, fresh.seen_count) == ("reinforced", 2)


def test_echo_of_an_expired_fact_does_not_renew_it(access: Access) -> None:
    old = put(access, fact(valid_until=NOW + timedelta(minutes=5)))
    tell(access, "s2")
    assert put(access, fact(session="s2"), SOON).decision == "echoed"
    assert record(access, old).valid_until == NOW + timedelta(minutes=5)


def test_sentence_served_and_stored_again_as_text_is_an_echo(access: Access) -> None:
    first = put(access, fact())
    sentence = record(access, first).content
    tell(access, "s2")
    again = WriteItem(partition="ada", content=f"  {sentence.upper()} ", session="s2")
    assert put(access, again, SOON).decision == "echoed"
    other = WriteItem(partition="ada", content="Ada moved to Hull", session="s2")
    assert put(access, other, SOON).decision == "added"
    with workspace_scope(access.workspace_id):
        assert MemoryRecord.objects.count() == 2
        assert Claim.objects.get(record_id=first.id, session__external_id="s2").echoes == 1


def test_source_that_names_its_fact_again_is_no_echo(access: Access) -> None:
    item = fact(source="hr", source_key="emp/42", session="s2")
    put(access, item)
    tell(access, "s2")
    assert put(access, item, SOON).decision == "reinforced"


def test_day_later_the_same_word_counts_again(access: Access) -> None:
    put(access, fact())
    tell(access, "s2")
    assert put(access, fact(session="s2"), NOW + timedelta(hours=25)).decision == "reinforced"
