"""A bulk operation page by page: preview, untick, run, receipt, undo; drift, cancel, second person."""

from __future__ import annotations

import json
import re
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from audits import incidents, operations
from audits.domain.incidents import ScopeKind, Severity
from audits.domain.roles import Role
from audits.forms.operations import PARTS as SCOPE_PARTS
from audits.forms.records import FILTERS as RECORD_FILTERS
from audits.models import Approval, Operation
from audits.operations import acting, running
from records import curate
from records.domain.canonical import session_id as id_of
from records.domain.risk import Risk
from records.models import Claim, Event, MemoryRecord, Workspace
from records.retrieve.recall import recall
from records.retrieve.request import RecallRequest
from records.scope import workspace_scope

from .conftest import Person, make_access, make_person, put, text, words
from .queue_facts import hold


@pytest.fixture
def responder() -> Person:
    return make_person(role=Role.RESPONDER)


def session_of(person: Person, name: str, partition: str = "ada") -> UUID:
    return id_of(person.access.workspace_id, person.access.partition_id(partition), name)


def statuses(person: Person) -> dict[str, str]:
    with workspace_scope(person.access.workspace_id):
        rows = MemoryRecord.objects.filter(workspace_id=person.access.workspace_id)
        return {row.value: row.status for row in rows}


def served(person: Person, query: str) -> set[str]:
    request = RecallRequest(partition="ada", query=query, session="reader")
    return {one.value for one in recall(request, access=person.access).items}


def preview(person: Person, **scope: Any) -> str:
    """Make a preview as a person does; return its path."""
    answer = person.post("operations/new", scope)
    assert answer.status_code == 302, text(answer)
    return str(answer.headers["Location"]).split(person.url(), 1)[1]


def count(page: Any, group: str) -> int:
    found = re.search(
        rf'data-group="{group}"><span class="tile-number" data-count="(\d+)"', text(page)
    )
    return int(found.group(1)) if found else 0


def page_text(page: Any) -> str:
    return text(page)


def digest_of(page: Any) -> str:
    found = re.search(r'name="digest" value="([0-9a-f]+)"', text(page))
    assert found is not None, words(page)
    return found.group(1)


def submit(person: Person, path: str, reason: str = "poison", **more: Any) -> Any:
    data = {"digest": digest_of(person.get(path)), "reason": reason, **more}
    return person.post(f"{path}/submit", data)


def work(person: Person) -> None:
    """Do what a worker does with what is queued."""
    running.perform_waiting(person.access.workspace_id)


def stored(path: str, person: Person) -> Operation:
    with workspace_scope(person.access.workspace_id):
        return Operation.objects.get(id=path.split("/")[1])


def settle(person: Person, **settings: Any) -> None:
    with workspace_scope(person.access.workspace_id):
        row = Workspace.objects.get(id=person.access.workspace_id)
        row.settings = {**row.settings, **settings}
        row.save(update_fields=["settings"])


def fill(person: Person, count: int, session: str = "bad") -> None:
    for i in range(count):
        put(person.access, f"thing {i}", predicate="owns", session=session)


def test_preview_is_exactly_what_runs_and_undo_brings_it_back(responder: Person) -> None:
    access = responder.access
    put(access, "Acme", session="good", confidence=0.7)
    put(access, "Evil", session="bad", confidence=0.9)
    put(access, "cashews", predicate="allergy", session="bad")
    put(access, "Leeds", predicate="city", session="bad")
    put(access, "Leeds", predicate="city", session="good")
    gone = put(access, "kiwi", predicate="allergy", session="bad")
    curate.retract([gone.id], "wrong", access=access)  # type: ignore[list-item]
    before = statuses(responder)
    assert before["Acme"] == "superseded"
    path = preview(responder, session=str(session_of(responder, "bad")))
    page = responder.get(path)
    counts = {one: count(page, one) for one in ("evict", "shared", "gone", "total")}
    assert counts == {"evict": 2, "shared": 1, "gone": 1, "total": 4}
    assert "1 good fact that was displaced would come back" in words(page)
    assert "Acme" in text(page).split("data-displaced")[1].split("</ul>")[0]
    assert statuses(responder) == before
    assert submit(responder, path).status_code == 302
    assert statuses(responder) == before, "it runs in the background, not in the request"
    work(responder)
    after = statuses(responder)
    assert {value for value, one in after.items() if one == "evicted"} == {"Evil", "cashews"}
    assert (after["Acme"], after["Leeds"]) == ("active", "active")
    receipt = responder.get(path)
    assert "Evicted 2 of 2 facts" in words(receipt)
    assert 'data-receipt="residue">0<' in text(receipt)
    assert not {"Evil", "cashews"} & served(responder, "Evil cashews")
    undo = responder.post(f"{path}/undo")
    assert undo.status_code == 302
    back = str(undo.headers["Location"]).split(responder.url(), 1)[1]
    assert "Restore 2 facts, let the claims on 1 count again" in words(responder.get(back))
    assert submit(responder, back, "was right").status_code == 302
    work(responder)
    assert statuses(responder) == before
    with workspace_scope(access.workspace_id):
        live = Claim.objects.filter(session_id=session_of(responder, "bad"), state="live")
        assert live.count() == 4
    assert "Undone by" in words(responder.get(path))
    again = responder.post(f"{path}/undo")
    empty = str(again.headers["Location"]).split(responder.url(), 1)[1]
    assert "There is nothing to restore" in words(responder.get(empty))


def test_numbers_of_the_preview_add_up_in_words(responder: Person) -> None:
    fill(responder, 7)
    page = words(responder.get(preview(responder, session=str(session_of(responder, "bad")))))
    assert "7 will be evicted = 7 in all. 7 would be changed." in page


def test_fact_that_comes_after_the_preview_stops_it_and_says_plus_one(responder: Person) -> None:
    fill(responder, 3)
    path = preview(responder, session=str(session_of(responder, "bad")))
    put(responder.access, "one more", predicate="owns", session="bad")
    submit(responder, path, "my reason", note="my note")
    work(responder)
    page = responder.get(path)
    assert "+1 new" in words(page)
    assert set(statuses(responder).values()) == {"active"}
    again = responder.post(f"{path}/again")
    new = responder.get(str(again.headers["Location"]).split(responder.url(), 1)[1])
    assert count(new, "evict") == 4
    assert "my reason" in text(new)
    assert "my note" in text(new)


def test_unticked_rows_stay_and_every_other_row_goes(responder: Person) -> None:
    fill(responder, 60)
    path = preview(responder, session=str(session_of(responder, "bad")))
    page = responder.get(f"{path}/rows", group="evict")
    shown = re.findall(r'name="shown" value="([^"]+)"', text(page))
    assert len(shown) == 50
    left = shown[:4]
    kept = responder.post(f"{path}/tick", {"shown": shown, "tick": shown[4:]}, htmx=True)
    assert 'data-asked="56"' in text(kept)
    cursor = re.search(r"after=([^&\"]+)", text(page))
    assert cursor is not None
    second = responder.client.get(responder.url(f"{path}/rows?group=evict&after={cursor.group(1)}"))
    rest = re.findall(r'name="shown" value="([^"]+)"', page_text(second))
    assert len(rest) == 10
    responder.post(f"{path}/tick", {"shown": rest, "tick": rest[1:]})
    left.append(rest[0])
    assert "Evict 55 facts?" in words(responder.get(path))
    submit(responder, path)
    work(responder)
    with workspace_scope(responder.access.workspace_id):
        rows = MemoryRecord.objects.filter(workspace_id=responder.access.workspace_id)
        alive = {str(one.id) for one in rows if one.status == "active"}
    assert alive == set(left)


def test_old_digest_is_refused_and_what_was_typed_stays(responder: Person) -> None:
    fill(responder, 3)
    path = preview(responder, session=str(session_of(responder, "bad")))
    old = digest_of(responder.get(path))
    shown = re.findall(r'name="shown" value="([^"]+)"', text(responder.get(f"{path}/rows")))
    responder.post(f"{path}/tick", {"shown": shown, "tick": shown[1:]})
    answer = responder.post(f"{path}/submit", {"digest": old, "reason": "my reason"})
    assert answer.status_code == 409
    assert "my reason" in text(answer)
    assert stored(path, responder).state == "preview"


def test_missing_reason_is_named_and_nothing_is_queued(responder: Person) -> None:
    fill(responder, 1)
    path = preview(responder, session=str(session_of(responder, "bad")))
    answer = submit(responder, path, "  ")
    assert answer.status_code == 422
    assert stored(path, responder).state == "preview"


def test_large_set_asks_for_its_count_and_a_second_person(
    responder: Person, monkeypatch: Any
) -> None:
    from audits.domain import operations as rules

    monkeypatch.setattr(rules, "BULK_THRESHOLD", 3)
    approver = make_person(responder.access, Role.APPROVER)
    fill(responder, 5)
    path = preview(responder, session=str(session_of(responder, "bad")))
    page = words(responder.get(path))
    assert "needs a second person, because it changes more than 3 facts" in page
    assert submit(responder, path).status_code == 422
    assert submit(responder, path, count="4").status_code == 422
    assert submit(responder, path, count="5").status_code == 302
    work(responder)
    assert set(statuses(responder).values()) == {"active"}
    waiting = responder.get(path)
    assert "A second person must agree: Evict 5 facts" in words(waiting)
    approval = stored(path, responder).approval_id
    mine = responder.get(f"approvals/{approval}")
    assert 'name="answer"' not in text(mine)
    denied = responder.post(f"approvals/{approval}/decide", {"answer": "approve"})
    assert denied.status_code == 403
    assert "5 facts" in words(approver.get("approvals"))
    theirs = approver.get(f"approvals/{approval}")
    assert count(theirs, "evict") == 5
    assert 'name="answer"' in text(theirs)
    done = approver.post(f"approvals/{approval}/decide", {"answer": "approve"})
    assert done.status_code == 302
    work(responder)
    assert set(statuses(responder).values()) == {"evicted"}
    assert f"approved by {approver.user.username}" in words(responder.get(path))
    twice = approver.post(f"approvals/{approval}/decide", {"answer": "approve"})
    assert twice.status_code == 409


def test_requester_with_the_role_is_denied_by_direct_post_and_on_record() -> None:
    first = make_person(role=Role.APPROVER)
    make_person(first.access, Role.APPROVER)
    settle(first, four_eyes={"bulk": 1})
    fill(first, 3)
    path = preview(first, session=str(session_of(first, "bad")))
    submit(first, path)
    approval = stored(path, first).approval_id
    page = first.get(f"approvals/{approval}")
    assert 'name="answer"' not in text(page)
    answer = first.post(f"approvals/{approval}/decide", {"answer": "approve", "reason": "mine"})
    assert answer.status_code == 403
    with workspace_scope(first.access.workspace_id):
        assert Event.objects.filter(action="approval.denied", outcome="denied").exists()
        assert Approval.objects.filter(requested_by_id=first.user.id, state="waiting").exists()


def test_only_eligible_person_may_agree_alone_with_a_reason_and_an_event() -> None:
    alone = make_person(role=Role.ADMINISTRATOR)
    settle(alone, four_eyes={"bulk": 1})
    fill(alone, 3)
    path = preview(alone, session=str(session_of(alone, "bad")))
    submit(alone, path)
    approval = stored(path, alone).approval_id
    assert "There is nobody else who could agree" in words(alone.get(f"approvals/{approval}"))
    assert alone.post(f"approvals/{approval}/decide", {"answer": "approve"}).status_code == 422
    answer = alone.post(
        f"approvals/{approval}/decide", {"answer": "approve", "reason": "nobody else is here"}
    )
    assert answer.status_code == 302
    work(alone)
    assert set(statuses(alone).values()) == {"evicted"}
    with workspace_scope(alone.access.workspace_id):
        assert Event.objects.filter(action="approval.alone").count() == 1


def test_refusal_needs_a_reason_and_ends_it(responder: Person) -> None:
    approver = make_person(responder.access, Role.APPROVER)
    settle(responder, four_eyes={"bulk": 1})
    fill(responder, 3)
    path = preview(responder, session=str(session_of(responder, "bad")))
    submit(responder, path)
    approval = stored(path, responder).approval_id
    assert approver.post(f"approvals/{approval}/decide", {"answer": "refuse"}).status_code == 422
    approver.post(f"approvals/{approval}/decide", {"answer": "refuse", "reason": "too many"})
    page = words(responder.get(path))
    assert "Refused: nothing was changed" in page
    assert "too many" in page
    assert set(statuses(responder).values()) == {"active"}


def test_drift_since_the_request_stands_on_the_approval(responder: Person) -> None:
    approver = make_person(responder.access, Role.APPROVER)
    settle(responder, four_eyes={"bulk": 1})
    fill(responder, 3)
    path = preview(responder, session=str(session_of(responder, "bad")))
    submit(responder, path)
    put(responder.access, "one more", predicate="owns", session="bad")
    assert "+1 new" in words(approver.get(f"{path}/drift", htmx=True))


def test_cancelled_run_tells_the_truth_and_can_be_resumed_or_undone(
    responder: Person, monkeypatch: Any
) -> None:
    fill(responder, 10)
    path = preview(responder, session=str(session_of(responder, "bad")))
    submit(responder, path)
    monkeypatch.setattr(running, "BATCH", 4)
    act = acting.act

    def cancel_after_one(*args: Any, **named: Any) -> Any:
        done = act(*args, **named)
        assert responder.post(f"{path}/cancel").status_code == 302
        return done

    monkeypatch.setattr(running, "act", cancel_after_one)
    work(responder)
    page = responder.get(path)
    assert "Cancelled after 4 of 10 facts" in words(page)
    assert "Not reached" in words(page)
    assert sorted(statuses(responder).values()).count("evicted") == 4
    assert "Undo" in words(page)
    monkeypatch.setattr(running, "act", act)
    assert responder.post(f"{path}/retry").status_code == 302
    work(responder)
    assert set(statuses(responder).values()) == {"evicted"}
    assert "Evicted 10 of 10 facts" in words(responder.get(path))


def test_undo_lists_what_has_changed_since_with_its_reason(responder: Person) -> None:
    fill(responder, 5)
    path = preview(responder, session=str(session_of(responder, "bad")))
    submit(responder, path)
    work(responder)
    put(responder.access, "thing 0", predicate="owns", session="other")  # held: fenced for review
    with workspace_scope(responder.access.workspace_id):
        held = MemoryRecord.objects.filter(
            workspace_id=responder.access.workspace_id, status="quarantined"
        ).first()
    assert held is not None
    undo = responder.post(f"{path}/undo")
    back = str(undo.headers["Location"]).split(responder.url(), 1)[1]
    assert count(responder.get(back), "anew") == 1
    submit(responder, back)
    work(responder)
    page = responder.get(back)
    assert "Restored 4 of 4 facts" in words(page)
    assert "stored anew since" in words(page)


def test_receipt_downloads_whole_as_json(responder: Person) -> None:
    fill(responder, 3)
    path = preview(responder, session=str(session_of(responder, "bad")))
    assert responder.get(f"{path}/receipt").status_code == 404
    submit(responder, path)
    work(responder)
    answer = responder.get(f"{path}/receipt")
    told = json.loads(b"".join(answer.streaming_content))
    assert told["changed"] == 3
    assert told["residue"]["by_id"] == 0
    assert {one["outcome"] for one in told["targets"]} == {"evicted"}
    assert len(told["targets"]) == 3
    assert "thing 0" not in json.dumps(told)


def test_progress_polls_while_it_runs_and_fetches_the_page_when_it_ended(responder: Person) -> None:
    fill(responder, 3)
    path = preview(responder, session=str(session_of(responder, "bad")))
    submit(responder, path)
    queued = text(responder.get(f"{path}/progress", htmx=True))
    assert 'hx-trigger="every 1s"' in queued
    assert "<html" not in queued
    work(responder)
    ended = responder.get(f"{path}/progress", htmx=True)
    assert 'hx-trigger="load"' in text(ended)
    assert "Ended" in ended.headers["HX-Trigger"]


def test_list_shows_what_ran_and_its_filters_are_named_when_wrong(
    responder: Person, stranger: Person
) -> None:
    fill(responder, 3)
    path = preview(responder, session=str(session_of(responder, "bad")))
    assert "Nothing has been changed in bulk yet" in words(responder.get("operations"))
    submit(responder, path)
    work(responder)
    assert "session bad" in words(responder.get("operations"))
    assert "session bad" not in words(stranger.get("operations"))
    assert "No operation matches" in words(responder.get("operations", kind="erase"))
    assert "session bad" in words(responder.get("operations", mine="yes"))
    for query in ("kind=x", "state=preview", "incident=7", "colour=red"):
        page = page_text(responder.client.get(f"{responder.url('operations')}?{query}"))
        assert f"\u201c{query.split('=')[0]}\u201d" in page


def test_list_counts_claims_and_offers_no_undo_of_what_is_undone(responder: Person) -> None:
    put(responder.access, "Acme", session="bad")
    put(responder.access, "Acme", session="good")
    path = preview(responder, session=str(session_of(responder, "bad")))
    submit(responder, path)
    work(responder)
    (row,) = re.findall(r"<tr data-row.*?</tr>", text(responder.get("operations")), re.DOTALL)
    assert 'data-label="Changed" class="numeric">0 <span class="muted">and 1 claim<' in row
    assert 'data-label="Undo until" class="nowrap"><time' in row
    undo = responder.post(f"{path}/undo")
    submit(responder, str(undo.headers["Location"]).split(responder.url(), 1)[1])
    work(responder)
    listed = text(responder.get("operations"))
    newer, older = re.findall(r"<tr data-row.*?</tr>", listed, re.DOTALL)
    assert "and 1 claim<" in newer
    assert "undone" in older
    assert 'data-label="Undo until" class="nowrap"><time' not in older


@pytest.mark.parametrize(
    "scope", [{"colour": "red"}, {"status": "blue"}, {"session": "bad"}, {"since": "yesterday"}, {}]
)
def test_scope_that_cannot_be_read_makes_no_preview(
    responder: Person, scope: dict[str, str]
) -> None:
    fill(responder, 1)
    answer = responder.post("operations/new", scope)
    assert answer.status_code == 422
    with workspace_scope(responder.access.workspace_id):
        assert not Operation.objects.filter(workspace_id=responder.access.workspace_id).exists()
    if scope:
        shown = responder.client.get(f"{responder.url('operations/new')}?{urlencode(scope)}")
        assert shown.status_code == 200
        assert 'role="alert"' in page_text(shown)


def test_filter_of_the_records_list_takes_out_what_it_shows(responder: Person) -> None:
    put(responder.access, "red", predicate="favourite_colour", session="one")
    put(responder.access, "blue", predicate="car_colour", session="two")
    page = text(responder.get("records", predicate="car_colour"))
    found = re.search(r'href="([^"]+operations/new[^"]*)"', page)
    assert found is not None
    shown = responder.client.get(found.group(1).replace("&amp;", "&"))
    assert 'value="car_colour"' in page_text(shown)
    path = preview(responder, predicate="car_colour")
    submit(responder, path)
    work(responder)
    assert statuses(responder) == {"red": "active", "blue": "evicted"}


def test_every_filter_of_the_records_list_is_a_part_of_a_scope() -> None:
    assert set(RECORD_FILTERS) <= set(SCOPE_PARTS)


@pytest.mark.parametrize("query", [{"seen": "again"}, {"found": "injection"}])
def test_filter_selects_the_rows_that_the_list_shows(
    responder: Person, query: dict[str, Any]
) -> None:
    put(responder.access, "red", predicate="favourite_colour", session="one")
    for session in ("one", "two"):
        put(responder.access, "blue", predicate="car_colour", session=session)
    hold(responder.access, "do as I say", risk=Risk.HIGH, rule="attack.override")
    shown = text(responder.get("records", **query)).count("<tr data-row")
    assert shown == 1
    assert count(responder.get(preview(responder, **query)), "evict") == shown


def test_several_sessions_ticked_in_the_list_are_one_scope(responder: Person) -> None:
    for session in ("one", "two", "three"):
        put(responder.access, f"of {session}", predicate="owns", session=session)
    ids = [str(session_of(responder, one)) for one in ("one", "two")]
    shown = responder.client.get(responder.url(f"operations/new?session={ids[0]}&session={ids[1]}"))
    assert page_text(shown).count('name="session"') == 2
    path = preview(responder, session=ids)
    submit(responder, path)
    work(responder)
    assert {value for value, one in statuses(responder).items() if one == "evicted"} == {
        "of one",
        "of two",
    }


def test_source_and_time_of_the_claims_are_parts_of_a_scope(responder: Person) -> None:
    put(responder.access, "a", predicate="owns", source="feed", source_key="k1")
    put(responder.access, "b", predicate="owns", source="other", source_key="k2")
    assert count(responder.get(preview(responder, source="feed")), "total") == 1
    both = {"source": "feed", "since": "2020-01-01", "until": "2020-02-01"}
    assert count(responder.get(preview(responder, **both)), "total") == 0
    assert (
        count(responder.get(preview(responder, **(both | {"until": "2100-01-01"}))), "total") == 1
    )
    backwards = responder.post("operations/new", {**both, "until": "2019-01-01"})
    assert backwards.status_code == 422


def test_incident_alone_means_all_it_lists_and_beside_others_where_the_act_belongs(
    responder: Person,
) -> None:
    fill(responder, 2)
    put(responder.access, "other", predicate="owns", session="good")
    opened = incidents.open_incident(
        incidents.Details("Poisoned", Severity.HIGH),
        [incidents.Part(ScopeKind.SESSION, session_of(responder, "bad"))],
        access=responder.access,
    )
    path = preview(responder, incident=str(opened.id))
    page = responder.get(path)
    assert count(page, "evict") == 2
    assert f"#{opened.number}" in words(page)
    submit(responder, path, incident=str(opened.id))
    work(responder)
    assert statuses(responder)["other"] == "active"
    assert stored(path, responder).incident_id == opened.id
    beside = preview(responder, incident=str(opened.id), session=str(session_of(responder, "good")))
    assert count(responder.get(beside), "evict") == 1
    assert stored(beside, responder).incident_id == opened.id


def test_foreign_operation_and_approval_answer_like_unknown_ones(
    responder: Person, stranger: Person
) -> None:
    fill(responder, 1)
    path = preview(responder, session=str(session_of(responder, "bad")))
    for suffix in ("", "/rows", "/drift", "/exposure", "/progress", "/receipt"):
        assert stranger.get(path + suffix).status_code == 404
    for verb in ("submit", "cancel", "retry", "undo", "tick", "again", "seen"):
        assert stranger.post(f"{path}/{verb}").status_code == 404
    foreign = preview(stranger, session=str(session_of(responder, "bad")))
    assert "There is nothing to evict" in words(stranger.get(foreign))


def test_pages_cost_eight_statements_whatever_their_rows(responder: Person) -> None:
    fill(responder, 30)
    path = preview(responder, session=str(session_of(responder, "bad")))
    paths = [path, f"{path}/rows", f"{path}/progress", f"{path}/exposure", "operations"]
    submit(responder, path)
    work(responder)
    for one in [*paths, "approvals", "four-eyes", "operations/new"]:
        with CaptureQueriesContext(connection) as caught:
            assert responder.get(one, htmx=one.endswith("progress")).status_code == 200
        asked = [one["sql"] for one in caught if one["sql"] not in ("BEGIN", "COMMIT")]
        assert len(asked) <= 8, (one, asked)


def test_colleagues_are_told_of_a_bulk_act_until_they_say_that_they_have_seen_it(
    responder: Person,
) -> None:
    colleague = make_person(responder.access, Role.ADMINISTRATOR)
    viewer = make_person(responder.access, Role.VIEWER)
    fill(responder, 3)
    path = preview(responder, session=str(session_of(responder, "bad")))
    submit(responder, path)
    work(responder)
    notice = f"{responder.user.username} evicted 3 facts"
    assert notice in words(colleague.get("records"))
    assert notice not in words(responder.get("records"))
    assert notice not in words(viewer.get("records"))
    assert colleague.post(f"{path}/seen").status_code == 302
    assert notice not in words(colleague.get("records"))


def test_erase_preview_names_what_is_on_hold_and_asks_for_the_count() -> None:
    approver = make_person(role=Role.APPROVER)
    fill(approver, 3)
    from records import holds

    with workspace_scope(approver.access.workspace_id):
        kept = MemoryRecord.objects.filter(
            workspace_id=approver.access.workspace_id, value="thing 1"
        ).get()
    holds.place("record", kept.id, "court", access=approver.access)
    made = operations.preview(
        "erase",
        operations_scope(session_of(approver, "bad")),
        access=approver.access,
        user_id=approver.user.id,
    )
    page = approver.get(f"operations/{made.id}")
    assert (count(page, "erase"), count(page, "hold"), count(page, "total")) == (2, 1, 3)
    section = text(page).split('id="group-hold"')[1].split("</section>")[0]
    assert "thing 1" in section
    assert 'data-count-is="2"' in text(page)
    assert "needs a second person, because what is erased is gone for good" in words(page)
    responder = make_person(approver.access, Role.RESPONDER)
    assert responder.post(f"operations/{made.id}/submit", {}).status_code == 403


def operations_scope(*sessions: UUID) -> Any:
    from audits.domain.scope import Scope

    return Scope(session_ids=tuple(sessions))


def test_workspaces_are_apart(responder: Person) -> None:
    other = make_person(make_access(), Role.RESPONDER)
    fill(other, 2)
    fill(responder, 2)
    path = preview(responder, session=str(session_of(responder, "bad")))
    submit(responder, path)
    work(responder)
    assert set(statuses(other).values()) == {"active"}
