"""Requests of data subjects: found, previewed, agreed to by two, done, certified, and kept out."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.core.management import call_command

from audits import approvals, jobs, subjects
from audits.domain.roles import Role
from audits.models import Approval, Membership, SubjectRequest, User
from audits.operations.running import perform_waiting
from audits.queries.subjects import find_partitions, find_subject
from audits.seals import seal_now
from audits.subjects import Wanted, certificate
from audits.subjects.finishing import finish_requests
from audits.subjects.requests import digest_of
from audits.verify import verify_trail
from records import holds
from records.access import Access, Actor, ActorKind
from records.items import BadRequest, Conflict, NotFound
from records.jobs import runs
from records.models import Event, MemoryRecord, Recall
from records.retrieve import RecallRequest, recall
from records.scope import workspace_scope

from .conftest import make_access
from .test_erasure_everywhere import NOW, destroy, found, mark, named, put, spread  # noqa: F401
from .trail import own_keys  # noqa: F401


class Team:
    """A workspace with two people who may answer requests of data subjects."""

    def __init__(self) -> None:
        self.access = make_access()
        self.ann, self.bob = (self._member() for _ in range(2))

    def _member(self) -> User:
        user = User.objects.create_user(f"u-{uuid4().hex[:8]}")
        with workspace_scope(self.access.workspace_id):
            Membership.objects.create(
                workspace_id=self.access.workspace_id, user=user, role=str(Role.ADMINISTRATOR)
            )
        return user

    def as_user(self, user: User) -> Access:
        return replace(
            self.access, actor=Actor(ActorKind.USER, user.username, str(Role.ADMINISTRATOR))
        )

    def request(self, **wanted: Any) -> SubjectRequest:
        return subjects.make_request(
            Wanted(**{"kind": "erasure", **wanted}),
            access=self.as_user(self.ann),
            user_id=self.ann.id,
        )

    def ask(self, request: SubjectRequest, count: int) -> SubjectRequest:
        return subjects.erase(
            request.id, reason="letter of 3 March", typed_count=count,
            access=self.as_user(self.ann), user_id=self.ann.id,
        )  # fmt: skip

    def answer(self, *, is_yes: bool = True) -> None:
        with workspace_scope(self.access.workspace_id):
            waiting = Approval.objects.get(
                workspace_id=self.access.workspace_id, state="waiting", target_kind="operation"
            )
        approvals.decide(
            waiting.id, is_yes=is_yes, reason="checked the letter",
            access=self.as_user(self.bob), user_id=self.bob.id,
        )  # fmt: skip

    def finish(self) -> None:
        """Let the jobs do what they do by themselves within a minute."""
        perform_waiting(self.access.workspace_id)
        self.job()
        destroy()
        seal_now(self.access.workspace_id)
        self.job()

    def job(self) -> None:
        runs.perform(jobs.SUBJECTS, self.access.workspace_id, finish_requests)

    def load(self, request: SubjectRequest) -> SubjectRequest:
        with workspace_scope(self.access.workspace_id):
            return SubjectRequest.objects.get(id=request.id)


@pytest.fixture
def team() -> Team:
    return Team()


def partition_of(team: Team, name: str) -> dict[str, Any]:
    return {"partition_id": team.access.partition_id(name), "partition": name}


def test_partition_is_erased_everywhere_certified_and_the_chain_verifies(
    team: Team,
    mark: str,  # noqa: F811
) -> None:
    user = f"user-{mark}"
    spread(team.access, mark, user)
    bystander = put(team.access, "Northwind", partition="bob", subject="Bob", session="b1")
    request = team.request(**partition_of(team, user))
    assert request.counts["records"] == 5
    assert request.counts["beside"]["recalls"] == 2
    assert request.counts["quotes"]["incidents"] == 1
    team.ask(request, 5)
    assert team.load(request).state == "waiting"
    assert found(mark) != []
    team.answer()
    team.finish()
    done = team.load(request)
    assert done.state == "done"
    assert found(mark) == []
    said = done.certificate
    assert certificate.is_genuine(said)
    assert said["records"]["erased"] == 5
    assert said["agreed"]["by"] == team.bob.username
    assert said["requested"]["by"] == team.ann.username
    assert None not in said["events"]["positions"]
    assert mark not in json.dumps(said)
    with workspace_scope(team.access.workspace_id):
        about = Wanted("erasure", partition=user)
        assert said["about"]["digest"] == digest_of(about, team.access.workspace_id)
        event = Event.objects.get(action="subject.erased", target_id=request.id)
        assert event.details["certificate"] == certificate.digest(said)
        assert MemoryRecord.objects.get(id=bystander.id).value == "Northwind"
    seal_now(team.access.workspace_id)
    assert verify_trail(team.access.workspace_id).is_whole


def test_certificate_that_was_touched_is_not_genuine(team: Team) -> None:
    put(team.access, "Acme")
    request = team.request(**partition_of(team, "ada"))
    team.ask(request, 1)
    team.answer()
    team.finish()
    said = team.load(request).certificate
    assert certificate.is_genuine(said)
    for touched in (
        {**said, "finished_at": "2020-01-01T00:00:00.000000Z"},
        {**said, "records": {**said["records"], "erased": 2}},
        {**said, "key": "nobody"},
        {**said, "signature": "no"},
    ):
        assert not certificate.is_genuine(touched)


def test_erased_facts_do_not_come_back_with_the_next_import(team: Team, tmp_path: Path) -> None:
    file = tmp_path / "facts.jsonl"
    facts = [
        {"partition": "ada", "subject": "Ada", "predicate": "employer", "value": "Acme"},
        {"partition": "ada", "subject": "Ada", "predicate": "allergy", "value": "peanuts"},
    ]
    file.write_text("".join(json.dumps(one) + "\n" for one in facts))

    def load() -> None:
        call_command("import_facts", str(file), workspace=team.access.workspace, verbosity=0)

    load()
    request = team.request(**partition_of(team, "ada"))
    team.ask(request, 2)
    team.answer()
    team.finish()
    load()
    with workspace_scope(team.access.workspace_id):
        rows = MemoryRecord.objects.filter(workspace_id=team.access.workspace_id)
        assert {one.status for one in rows} == {"erased"}
        assert len(rows) == 2
    answer = recall(
        RecallRequest("ada", "allergy peanuts"), access=team.access, now=datetime.now(UTC)
    )
    assert answer.items == ()
    # What was never erased is still written.
    put(team.access, "Helio")
    with workspace_scope(team.access.workspace_id):
        assert MemoryRecord.objects.filter(value="Helio", status="active").count() == 1


def test_what_a_hold_keeps_is_named_and_keeps_its_partition_s_name(team: Team) -> None:
    kept = put(team.access, "Acme")
    gone = put(team.access, "peanuts", predicate="allergy")
    assert kept.id is not None
    hold = holds.place("record", kept.id, "case 7", access=team.access)
    request = team.request(**partition_of(team, "ada"))
    team.ask(request, 1)
    team.answer()
    team.finish()
    said = team.load(request).certificate
    assert said["records"]["erased"] == 1
    assert said["holds"]["records_kept"] == 1
    assert [one["hold"] for one in said["holds"]["holds"]] == [str(hold)]
    with workspace_scope(team.access.workspace_id):
        assert MemoryRecord.objects.get(id=kept.id).value == "Acme"
        assert MemoryRecord.objects.get(id=gone.id).status == "erased"
        assert find_partitions("ada", workspace_id=team.access.workspace_id)[0]["name"] == "ada"


def test_nothing_is_erased_without_the_second_person_the_count_and_a_reason(team: Team) -> None:
    put(team.access, "Acme")
    request = team.request(**partition_of(team, "ada"))
    with pytest.raises(BadRequest):
        team.ask(request, 2)
    with pytest.raises(BadRequest):
        subjects.erase(
            request.id, reason=" ", typed_count=1, access=team.as_user(team.ann),
            user_id=team.ann.id,
        )  # fmt: skip
    team.ask(request, 1)
    with pytest.raises(Conflict):
        team.ask(request, 1)
    team.finish()
    assert team.load(request).state == "waiting"
    team.answer(is_yes=False)
    team.finish()
    assert team.load(request).state == "refused"
    with workspace_scope(team.access.workspace_id):
        assert MemoryRecord.objects.get(workspace_id=team.access.workspace_id).value == "Acme"
    again = subjects.preview_again(request.id, access=team.as_user(team.ann), user_id=team.ann.id)
    assert again.state == "preview"


def test_subject_is_found_by_its_key_and_the_rest_is_left_to_a_person(team: Team) -> None:
    own = put(team.access, "Acme", subject="Grace Hopper")
    put(team.access, "Acme Two", subject="grace  HOPPER", partition="bob", session="b1")
    other = put(team.access, "blue", predicate="colour", subject="Grace Hopper-Smith")
    mention = put(team.access, "Grace Hopper", predicate="manager", subject="Bob")
    put(team.access, "Northwind", subject="Charles")
    with workspace_scope(team.access.workspace_id):
        everywhere = find_subject("Grace Hopper", None, workspace_id=team.access.workspace_id)
        here = find_subject(
            "grace hopper", team.access.partition_id("ada"), workspace_id=team.access.workspace_id
        )
    assert everywhere.partitions == [("ada", 1), ("bob", 1)]
    assert [row["id"] for row in here.own] == [own.id]
    assert [row["id"] for row in everywhere.mentions] == [mention.id]
    assert [one["record_ids"] for one in everywhere.spellings] == [[other.id]]


def test_subject_in_a_shared_partition_goes_and_the_others_stay(team: Team, mark: str) -> None:  # noqa: F811
    subject = f"Grace {mark}"
    one = put(team.access, "Acme", subject=subject, partition="team", session="t1")
    two = put(team.access, "Helio", subject="Charles", partition="team", session="t1")
    recall(RecallRequest("team", "Charles Helio", top_k=1), access=team.access, now=NOW)
    mention = put(team.access, subject, subject="Charles", predicate="manager", partition="team")
    recall(RecallRequest("team", f"who employs {subject}?"), access=team.access, now=NOW)
    request = team.request(subject=subject, record_ids=(one.id, mention.id))
    team.ask(request, 2)
    team.answer()
    team.finish()
    assert team.load(request).state == "done"
    assert found(mark) == []
    with workspace_scope(team.access.workspace_id):
        assert MemoryRecord.objects.get(id=two.id).value == "Helio"
        asked = Recall.objects.filter(workspace_id=team.access.workspace_id)
        assert sorted(one.query for one in asked) == ["", "Charles Helio"]


def test_request_of_another_workspace_is_unknown(team: Team) -> None:
    put(team.access, "Acme")
    request = team.request(**partition_of(team, "ada"))
    foreign = Team()
    with pytest.raises(NotFound):
        subjects.erase(
            request.id, reason="mine", typed_count=1, access=foreign.as_user(foreign.ann),
            user_id=foreign.ann.id,
        )  # fmt: skip


@pytest.mark.parametrize(
    "wanted",
    [
        Wanted("gossip", partition_id=UUID(int=1), partition="ada"),
        Wanted("erasure"),
        Wanted("erasure", subject="Ada"),
        Wanted("access", subject="Ada", record_ids=tuple(UUID(int=n) for n in range(10_001))),
    ],
)
def test_request_that_names_nobody_or_too_many_is_refused(team: Team, wanted: Wanted) -> None:
    with pytest.raises(BadRequest):
        subjects.make_request(wanted, access=team.access, user_id=team.ann.id)
