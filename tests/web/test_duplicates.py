"""The pages of possible duplicates: the list, a group with its preview, merge, apart, undo."""

from __future__ import annotations

import re
from uuid import UUID

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from audits import duplicates, jobs
from audits.domain.roles import Role
from audits.models import DuplicatePair
from records.access import Access
from records.items import WriteItem, Written
from records.jobs.runs import perform
from records.models import Event, MemoryRecord, RecordMerge
from records.scope import workspace_scope
from records.write import write_fact

from .conftest import Person, make_person, text

RED = ("red bicycles", "bicycles that are red")


@pytest.fixture
def responder() -> Person:
    return make_person(role=Role.RESPONDER)


def write(access: Access, value: str, session: str, partition: str = "ada") -> UUID:
    found = write_fact(
        WriteItem(partition=partition, subject="Ada", predicate="likes", value=value, session=session),
        access=access,
    )  # fmt: skip
    assert isinstance(found, Written)
    assert found.id is not None
    return found.id


def group(person: Person, partition: str = "ada") -> tuple[UUID, UUID]:
    """Make one group: the first is said by two sessions, the other by one."""
    kept = write(person.access, RED[0], "s-1", partition)
    write(person.access, RED[0], "s-2", partition)
    other = write(person.access, RED[1], "s-3", partition)
    search(person)
    return kept, other


def search(person: Person) -> None:
    perform(jobs.DUPLICATES, person.access.workspace_id, duplicates.find_duplicates)


def fields(page: str, action: str) -> dict[str, list[str]]:
    """Return the hidden fields of the form that posts to ``action``."""
    form = page.split(f'action="{action}')[1].split("</form>")[0]
    found: dict[str, list[str]] = {}
    for name, value in re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', form):
        if name != "csrfmiddlewaretoken":
            found.setdefault(name, []).append(value)
    return found


def status(person: Person, record_id: UUID) -> str:
    with workspace_scope(person.access.workspace_id):
        return MemoryRecord.objects.get(id=record_id).status


def test_list_shows_a_group_with_its_columns_and_no_other_workspaces(
    responder: Person, stranger: Person
) -> None:
    kept, other = group(responder)
    page = text(responder.get("duplicates"))
    row = page.split("<tbody>")[1].split("</tr>")[0]
    assert f"/duplicates/{min(kept, other)}" in row
    assert 'data-label="Copies" class="numeric">2<' in row
    assert 'data-label="Seen" class="numeric">3<' in row
    assert "most say it: 2 independent" in row
    assert "<ins>" in row
    theirs = text(stranger.get("duplicates"))
    assert "Nothing seems to be remembered twice" in theirs
    foreign = responder.client.get(f"/w/{stranger.access.workspace}/duplicates/{kept}")
    assert foreign.status_code == 404
    assert stranger.get(f"duplicates/{min(kept, other)}").status_code == 404


@pytest.mark.parametrize(
    ("query", "shown"),
    [
        ("partition=ada", True),
        ("partition=nobody", False),
        ("predicate=likes", True),
        ("predicate=employer", False),
        ("kind=alike", True),
        ("kind=same", False),
        ("state=apart", False),
    ],
)
def test_filters_of_the_list(responder: Person, query: str, shown: bool) -> None:
    group(responder)
    page = text(responder.get(f"duplicates?{query}"))
    assert ("data-row" in page) is shown
    if not shown:
        assert "Nothing matches these filters" in page


@pytest.mark.parametrize("query", ["color=red", "state=gone", "kind=x", "after=nonsense"])
def test_what_the_url_cannot_say_becomes_a_warning(responder: Person, query: str) -> None:
    group(responder)
    page = text(responder.get(f"duplicates?{query}"))
    assert 'role="alert"' in page
    assert "data-row" in page


def test_preview_is_what_the_merge_does_and_undo_takes_it_back(responder: Person) -> None:
    kept, other = group(responder)
    cluster = min(kept, other)
    page = text(responder.get(f"duplicates/{cluster}"))
    assert "2 → 3 times" in page
    assert 'data-count="leaving">1<' in page
    action = f"/w/{responder.access.workspace}/duplicates/{cluster}/merge"
    sent = fields(page, action)
    assert sent["keep"] == [str(kept)]
    refused = responder.post(f"duplicates/{cluster}/merge", sent)
    assert refused.status_code == 422
    assert status(responder, other) == "active"
    done = responder.post(f"duplicates/{cluster}/merge", {**sent, "reason": "one bike"})
    assert done.status_code == 302
    assert status(responder, other) == "superseded"
    with workspace_scope(responder.access.workspace_id):
        (merge,) = RecordMerge.objects.all()
        (event,) = Event.objects.filter(action="record.merged")
        assert (event.reason, event.actor) == ("one bike", responder.user.username)
        assert merge.after["seen_count"] == 3
    again = write(responder.access, RED[1], "s-4")
    assert again == kept
    assert "data-row" in text(responder.get("duplicates?state=merged"))
    shown = text(responder.get(f"duplicates/{cluster}?state=merged"))
    assert f"/duplicates/merges/{merge.id}" in shown
    record = text(responder.get(f"records/{other}"))
    assert ">merged<" in record
    assert f"/duplicates/merges/{merge.id}" in record
    assert "1 other wording, merged into this one" in text(responder.get(f"records/{kept}"))
    made = text(responder.get(f"duplicates/merges/{merge.id}"))
    assert RED[1] in made
    undone = responder.post(f"duplicates/merges/{merge.id}/undo", {"reason": "two bikes"})
    assert undone.status_code == 302
    assert status(responder, other) == "active"
    assert "This merge has ended" in text(responder.get(f"duplicates/merges/{merge.id}"))


def test_another_choice_is_previewed_by_its_url(responder: Person) -> None:
    kept, other = group(responder)
    page = text(responder.get(f"duplicates/{min(kept, other)}?keep={other}"))
    assert "1 → 3 times" in page
    sent = fields(page, f"/w/{responder.access.workspace}/duplicates/{min(kept, other)}/merge")
    assert (sent["keep"], sent["merge"]) == ([str(other)], [str(kept)])


def test_what_moved_on_since_it_was_shown_is_not_merged(responder: Person) -> None:
    kept, other = group(responder)
    cluster = min(kept, other)
    page = text(responder.get(f"duplicates/{cluster}"))
    sent = fields(page, f"/w/{responder.access.workspace}/duplicates/{cluster}/merge")
    stale = {**sent, "version": [f"{kept}:9", f"{other}:1"], "reason": "same"}
    answer = responder.post(f"duplicates/{cluster}/merge", stale)
    assert answer.status_code == 409
    assert "Nothing was changed" in text(answer)
    assert "same" in text(answer).split("<textarea")[1]
    assert status(responder, other) == "active"


def test_a_reviewer_keeps_apart_and_may_not_merge() -> None:
    reviewer = make_person(role=Role.REVIEWER)
    kept, other = group(reviewer)
    cluster = min(kept, other)
    page = text(reviewer.get(f"duplicates/{cluster}"))
    assert f"duplicates/{cluster}/merge" not in page
    refused = reviewer.post(f"duplicates/{cluster}/merge", {"keep": kept, "merge": other})
    assert refused.status_code == 403
    sent = fields(page, f"/w/{reviewer.access.workspace}/duplicates/{cluster}/apart")
    assert reviewer.post(f"duplicates/{cluster}/apart", sent).status_code == 302
    assert "Nothing seems to be remembered twice" in text(reviewer.get("duplicates"))
    search(reviewer)
    with workspace_scope(reviewer.access.workspace_id):
        assert DuplicatePair.objects.get().state == "apart"
    apart = text(reviewer.get(f"duplicates/{cluster}?state=apart"))
    assert "Suggest again" in apart
    assert reviewer.post(f"duplicates/{cluster}/again", sent).status_code == 302
    assert "data-row" in text(reviewer.get("duplicates"))


def test_ratio_is_said_and_zero(responder: Person) -> None:
    from audits import measures

    group(responder)
    assert "Not measured yet" in text(responder.get("duplicates"))
    perform(jobs.MEASURES, responder.access.workspace_id, measures.measure)
    page = text(responder.get("duplicates"))
    assert 'data-ratio="0"' in page
    assert "None of 2 live facts repeats another one" in page


def test_pages_need_few_queries_however_many_rows(responder: Person) -> None:
    counts = []
    for number in (1, 6):
        for i in range(number):
            group(responder, f"p{number}-{i}")
        with CaptureQueriesContext(
            connection,
        ) as caught:
            page = text(responder.get("duplicates"))
        assert page.count("<tr data-row>") == (1 if number == 1 else 7)
        counts.append(len([q for q in caught if "set_config" not in q["sql"]]))
    assert counts[0] == counts[1]
    assert counts[1] <= 12  # with the session's, the person's and the shell's own


def test_hostile_values_stay_text(responder: Person) -> None:
    write(responder.access, "<script>alert(1)</script> red bikes", "s-1")
    write(responder.access, "red bikes <script>alert(1)</script>", "s-2")
    search(responder)
    page = text(responder.get("duplicates"))
    assert "<script>alert(1)" not in page
