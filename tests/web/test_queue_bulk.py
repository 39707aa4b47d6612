"""Many at once: the preview is what runs, every fact is accounted for, and all of it can be undone."""

from __future__ import annotations

import re
from typing import Any
from uuid import UUID, uuid4

import pytest

from audits import review_bulk
from audits.domain.review import Verb
from audits.domain.roles import Role
from audits.forms import queue_bulk as forms
from audits.models import ReviewDecision, ReviewItem
from audits.queries import queue_bulk as queries
from records import curate
from records.access import Access
from records.domain.risk import Risk
from records.models import Event, MemoryRecord
from records.scope import workspace_scope

from .conftest import Person, make_person, text, words
from .queue_facts import contest, hold, open_fields


@pytest.fixture
def ann() -> Person:
    return make_person(role=Role.REVIEWER)


def statuses(access: Access, ids: list[UUID]) -> list[str]:
    with workspace_scope(access.workspace_id):
        found = dict(MemoryRecord.objects.filter(id__in=ids).values_list("id", "status"))
    return [found[one] for one in ids]


def count(page: Any, name: str) -> int:
    found = re.search(rf'data-count="{name}">([\d,]+)<', text(page))
    assert found is not None, name
    return int(found.group(1).replace(",", ""))


def frozen_of(page: Any) -> str:
    found = re.search(r'name="frozen" value="([^"]+)"', text(page))
    assert found is not None
    return found.group(1)


def run(person: Person, page: Any, **given: Any) -> Any:
    answer = person.post("queue/bulk", {"frozen": frozen_of(page), **given})
    return person.client.get(answer.headers["Location"]) if answer.status_code == 302 else answer


def test_button_preview_and_result_say_the_same_number(ann: Person) -> None:
    mine = [hold(ann.access, session="bad") for _ in range(7)]
    other = hold(ann.access, session="good")
    listed = ann.get("queue", session="bad", partition="ada")
    assert 'data-total="7"' in text(listed)
    assert "Decide all 7" in words(listed)
    preview = ann.get("queue/bulk", session="bad", partition="ada", verb="reject")
    assert count(preview, "change") == 7
    assert "Reject 7 facts" in words(preview)
    receipt = run(ann, preview, reason="untrusted")
    assert count(receipt, "changed") == 7
    assert set(statuses(ann.access, mine)) == {"rejected"}
    assert statuses(ann.access, [other]) == ["quarantined"]


def test_groups_add_up_and_what_is_left_alone_is_said(ann: Person) -> None:
    ben = make_person(ann.access, Role.REVIEWER)
    held = [hold(ann.access, session="bad") for _ in range(5)]
    gone = hold(ann.access, session="bad")
    curate.reject([gone], "false", access=ann.access)
    ben.get(f"queue/{held[0]}")
    page = ann.get("queue/bulk", session="bad", partition="ada")
    assert (count(page, "change"), count(page, "already"), count(page, "leased")) == (4, 1, 1)
    assert ben.user.username in words(page)
    assert "6 in all" in words(page)


def test_what_moves_between_preview_and_run_is_left_and_counted(ann: Person) -> None:
    ben = make_person(ann.access, Role.REVIEWER)
    held = [hold(ann.access) for _ in range(6)]
    preview = ann.get("queue/bulk")
    fields = open_fields(ben, held[0])
    ben.post(f"queue/{held[0]}/decide?risk=high", {**fields, "act": "reject:false"})
    ben.get(f"queue/{held[1]}")
    with workspace_scope(ann.access.workspace_id):
        MemoryRecord.objects.filter(id=held[2]).update(version=9)
    late = hold(ann.access)
    receipt = run(ann, preview, reason="false")
    assert count(receipt, "changed") == 3
    shown = words(receipt)
    for why in (
        "is rejected already 1",
        "open with a colleague 1",
        "has changed since the preview 1",
    ):
        assert why in shown, why
    after = statuses(ann.access, [*held, late])
    assert after == ["rejected", "quarantined", "quarantined", *["rejected"] * 3, "quarantined"]


@pytest.mark.parametrize("verb", ["reject", "approve"])
def test_operation_sent_twice_decides_once_and_undoes_whole(ann: Person, verb: str) -> None:
    held = [contest(ann.access) for _ in range(3)]
    reason = {"reason": "false"} if verb == "reject" else {}
    preview = ann.get("queue/bulk", verb=verb)
    answers = [ann.post("queue/bulk", {"frozen": frozen_of(preview), **reason}) for _ in range(2)]
    assert answers[0].headers["Location"] == answers[1].headers["Location"]
    with workspace_scope(ann.access.workspace_id):
        assert ReviewDecision.objects.count() == 3
        assert Event.objects.filter(action="review.decided_in_bulk").count() == 1
        assert ReviewItem.objects.filter(lease_token__isnull=False).count() == 0
    done = "rejected" if verb == "reject" else "active"
    assert set(statuses(ann.access, held)) == {done}
    operation = answers[0].headers["Location"].rsplit("/", 1)[1]
    colleague = make_person(ann.access, Role.REVIEWER)
    assert colleague.post(f"queue/bulk/{operation}/undo").status_code == 404
    assert colleague.get(f"queue/bulk/{operation}").status_code == 404
    last = ann.post("queue/undo")  # the last decision was one of many: its receipt asks first
    assert last.headers["Location"].endswith(operation)
    assert ann.post(f"queue/bulk/{operation}/undo").status_code == 302
    assert set(statuses(ann.access, held)) == {"quarantined"}
    receipt = words(ann.get(f"queue/bulk/{operation}"))
    assert "3 decided at once, 3 undone" in receipt
    assert "Undo" not in receipt.split("Receipt", 2)[2].split("Queue")[0].replace("Undone", "")


def test_high_risk_facts_owe_a_reason_before_they_are_approved(ann: Person) -> None:
    held = [hold(ann.access, risk=Risk.HIGH), hold(ann.access)]
    preview = ann.get("queue/bulk", verb="approve")
    assert "1 high risk: a reason is owed" in words(preview)
    refused = run(ann, preview)
    assert refused.status_code == 422
    assert set(statuses(ann.access, held)) == {"quarantined"}
    assert run(ann, refused, reason="false_alarm").status_code == 200
    assert set(statuses(ann.access, held)) == {"active"}


def test_many_need_the_number_typed(ann: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forms, "TYPED_FROM", 2)
    held = [hold(ann.access) for _ in range(3)]
    preview = ann.get("queue/bulk")
    assert "How many facts are these?" in words(preview)
    for wrong in ("", "2", "three"):
        refused = run(ann, preview, reason="false", count=wrong)
        assert refused.status_code == 422, wrong
    assert set(statuses(ann.access, held)) == {"quarantined"}
    assert count(run(ann, preview, reason="false", count="3"), "changed") == 3


def test_selected_facts_and_forged_lists(ann: Person, stranger: Person) -> None:
    held = [hold(ann.access) for _ in range(3)]
    preview = ann.client.get(f"{ann.url('queue/bulk')}?id={held[0]}&id={held[2]}")
    assert count(preview, "change") == 2
    for person, frozen in ((stranger, frozen_of(preview)), (ann, "forged"), (ann, "")):
        page = person.post("queue/bulk", {"frozen": frozen, "reason": "false"})
        assert page.status_code == 409
        assert "nothing was changed" in words(page)
    assert set(statuses(ann.access, held)) == {"quarantined"}
    assert count(run(ann, preview, reason="false"), "changed") == 2
    assert statuses(ann.access, held) == ["rejected", "quarantined", "rejected"]


def test_what_is_too_much_at_once_is_said_and_goes_on_later(
    ann: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(queries.MOST, Verb.REJECT, 4)
    monkeypatch.setattr(review_bulk, "UNDO_MOST", 3)
    held = [hold(ann.access) for _ in range(6)]
    preview = ann.get("queue/bulk")
    assert "Only the first 4 run at once" in words(preview)
    receipt = run(ann, preview, reason="false")
    assert count(receipt, "changed") == 4
    assert statuses(ann.access, held) == ["rejected"] * 4 + ["quarantined"] * 2
    path = receipt.request["PATH_INFO"].split(ann.access.workspace + "/")[1]
    ann.post(f"{path}/undo")
    assert "Undo again for what is left" in words(ann.get(path))
    ann.post(f"{path}/undo")
    assert set(statuses(ann.access, held)) == {"quarantined"}


def test_selecting_nothing_never_means_everything(ann: Person) -> None:
    hold(ann.access)
    answer = ann.get("queue/bulk", selected="1")
    assert answer.headers["Location"].endswith("/queue")
    assert "nothing was selected" in words(ann.get("queue"))


def test_nothing_to_decide_offers_no_button(ann: Person) -> None:
    page = ann.get("queue/bulk", risk="high")
    assert "Nothing would change" in words(page)
    assert 'name="frozen"' not in text(page)
    assert ann.get(f"queue/bulk/{uuid4()}").status_code == 404
