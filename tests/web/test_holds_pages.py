"""Legal holds in the console: placed by one person, released by two, seen by everybody."""

from __future__ import annotations

from uuid import UUID, uuid4

from audits import approvals
from audits.access import actor_of
from audits.domain.roles import Role
from audits.models import Approval
from records import curate, holds
from records.access import Access
from records.models import LegalHold
from records.scope import workspace_scope

from .conftest import Person, make_person, put, text, words


def standing(person: Person) -> list[LegalHold]:
    with workspace_scope(person.access.workspace_id):
        found = LegalHold.objects.filter(
            workspace_id=person.access.workspace_id, released_at__isnull=True
        )
        return list(found)


def waiting(person: Person) -> Approval:
    with workspace_scope(person.access.workspace_id):
        return Approval.objects.get(workspace_id=person.access.workspace_id, state="waiting")


def as_access(person: Person, role: Role) -> Access:
    return Access(
        person.access.workspace_id, actor_of(person.user, role), workspace=person.access.workspace
    )


def place(person: Person, kind: str, target: object, reason: str = "case 7", **more: str) -> int:
    given = {"kind": kind, "target": str(target), "reason": reason, **more}
    return int(person.post("holds/new", given).status_code)


def test_hold_is_placed_by_id_or_name_and_listed_with_why_by_whom_and_since(admin: Person) -> None:
    made = put(admin.access)
    assert place(admin, "record", made.id) == 302
    assert place(admin, "partition", "ada") == 302
    assert place(admin, "session", "s1", partition="ada") == 302
    assert place(admin, "source", "conversation") == 302
    assert {one.kind for one in standing(admin)} == {"record", "partition", "session", "source"}
    page = words(admin.get("holds"))
    assert page.count("case 7") == 4
    assert admin.user.username in page
    assert "legal hold" in words(admin.get(f"records/{made.id}"))
    assert "legal hold" in words(admin.get("records"))
    only = words(admin.get("holds", kind="source"))
    assert only.count("case 7") == 1


def test_hold_is_refused_where_there_is_nothing_or_one_already_or_no_reason(admin: Person) -> None:
    made = put(admin.access)
    assert place(admin, "record", uuid4()) == 422
    assert place(admin, "session", "nobody", partition="ada") == 422
    assert place(admin, "session", "s1") == 422  # a name says nothing without its partition
    assert place(admin, "record", made.id, reason=" ") == 422
    assert place(admin, "record", made.id) == 302
    assert place(admin, "record", made.id) == 409
    assert len(standing(admin)) == 1


def test_release_waits_for_a_second_person_and_then_it_can_be_erased(admin: Person) -> None:
    made = put(admin.access)
    place(admin, "record", made.id)
    (hold,) = standing(admin)
    second = make_person(admin.access, Role.ADMINISTRATOR)
    assert admin.post(f"holds/{hold.id}/release", {"reason": ""}).status_code == 422
    assert admin.post(f"holds/{hold.id}/release", {"reason": "closed"}).status_code == 302
    assert len(standing(admin)) == 1
    assert "release asked for" in words(admin.get("holds"))
    assert admin.post(f"holds/{hold.id}/release", {"reason": "again"}).status_code == 409
    approvals.decide(
        waiting(admin).id, is_yes=True, reason="agreed",
        access=as_access(second, Role.ADMINISTRATOR), user_id=second.user.id,
    )  # fmt: skip
    assert standing(admin) == []
    assert words(admin.get("holds", state="released")).count("closed") == 1
    assert isinstance(made.id, UUID)
    assert curate.erase([made.id], "asked", access=admin.access).changed == [made.id]
    assert admin.post(f"holds/{hold.id}/release", {"reason": "late"}).status_code == 409


def test_foreign_hold_is_unknown_and_a_viewer_sees_holds_without_acts(
    admin: Person, stranger: Person
) -> None:
    made = put(admin.access)
    assert made.id is not None
    hold = holds.place("record", made.id, "case 7", access=admin.access)
    assert stranger.get(f"holds/{hold}/release").status_code == 404
    assert "case 7" not in text(stranger.get("holds"))
    assert place(stranger, "record", made.id) == 422
    viewer = make_person(admin.access, Role.VIEWER)
    page = text(viewer.get("holds"))
    assert "case 7" in page
    assert "/release" not in page
    assert "holds/new" not in page


def test_unknown_filters_become_warnings_and_pages_follow_one_another(admin: Person) -> None:
    page = words(admin.get("holds", state="gone", colour="red", after="nonsense"))
    assert "\u201cgone\u201d" in page
    assert "\u201ccolour\u201d" in page
    assert "place in the list" in page
