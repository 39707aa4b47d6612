"""Keys, policies, jobs, people, profile and workspaces: what their pages do."""

from __future__ import annotations

import re
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.test import Client

from audits import people
from audits.domain import shortcuts
from audits.domain.roles import Role
from audits.models import Membership, User
from records import policies
from records.models import ApiKey, Event, JobRun, MemoryRecord, PredicatePolicy
from records.scope import workspace_scope

from .conftest import PASSWORD, Person, make_person, put, text, words


def events(person: Person, action: str) -> list[Event]:
    with workspace_scope(person.access.workspace_id):
        found = Event.objects.filter(workspace_id=person.access.workspace_id, action=action)
        return list(found.order_by("id"))


def test_key_is_shown_once_works_and_stops_when_revoked(admin: Person) -> None:
    made = admin.post("keys/new", {"name": "concierge", "scopes": ["write", "recall"]})
    secret = text(made).split("data-secret>")[1].split("<")[0]
    headers = {"Authorization": f"Bearer {secret}"}
    body = {"partition": "ada", "subject": "Ada", "predicate": "employer", "value": "Acme"}
    write = lambda: Client().post(  # noqa: E731
        "/api/v1/memories", body, content_type="application/json", headers=headers
    )
    assert write().status_code == 200
    listed = text(admin.get("keys"))
    assert "concierge" in listed
    assert secret[:11] in listed
    assert secret not in listed
    with workspace_scope(admin.access.workspace_id):
        key = ApiKey.objects.get(workspace_id=admin.access.workspace_id)
    assert admin.post(f"keys/{key.id}/revoke", {"reason": ""}).status_code == 422
    assert admin.post(f"keys/{key.id}/revoke", {"reason": "leaked"}).status_code == 302
    assert admin.post(f"keys/{key.id}/revoke", {"reason": "again"}).status_code == 409
    from records import keys

    keys._remembered.clear()  # what a process remembers of a key lasts two seconds
    assert write().status_code == 401
    (revoked,) = events(admin, "key.revoked")
    assert (revoked.actor, revoked.reason) == (admin.user.username, "leaked")


@pytest.mark.parametrize(
    "given",
    [
        {"name": "", "scopes": ["write"]},
        {"name": "x", "scopes": []},
        {"name": "x", "scopes": ["everything"]},
        {"name": "x", "scopes": ["write"], "expires": "2001-01-01"},
        {"name": "x", "scopes": ["write"], "partition": "y" * 201},
    ],
)
def test_malformed_key_is_422_and_made_by_nobody(admin: Person, given: dict[str, Any]) -> None:
    assert admin.post("keys/new", given).status_code == 422
    with workspace_scope(admin.access.workspace_id):
        assert not ApiKey.objects.filter(workspace_id=admin.access.workspace_id).exists()


def policy_form(page: Any) -> dict[str, str]:
    """Return a policy's form as the browser would send it back."""
    found = dict(re.findall(r'<input[^>]*name="(\w+)"[^>]*value="([^"]*)"', text(page)))
    found |= dict(
        re.findall(r'<select name="(\w+)".*?<option value="([^"]+)" selected', text(page), re.S)
    )
    found |= {"validators": "", "reason": "as agreed"}
    boxes = re.findall(r'<input type="checkbox" name="(\w+)"[^>]*?( checked)?>', text(page))
    for name, checked in boxes:
        found.pop(name, None)
        if checked:
            found[name] = "on"
    return found


def test_policy_change_is_previewed_then_versioned(admin: Person) -> None:
    for value in ("cashews", "kiwi"):
        put(admin.access, value, predicate="shoe_brand")
    listed = text(admin.get("policies"))
    unknown = listed.split("Without a policy")[1].split("Ruled")[0]
    assert "shoe_brand" in unknown
    assert ">2</a>" in unknown
    form = policy_form(admin.get("policies/edit/shoe_brand")) | {
        "cardinality": "one",
        "ttl_days": "30",
    }
    preview = admin.post("policies/edit/shoe_brand", form)
    assert preview.status_code == 200
    assert 'data-touched="2"' in text(preview)
    assert "1 slot holds several live values" in words(preview)
    assert 'data-effect="superseded">1<' in text(preview)
    with workspace_scope(admin.access.workspace_id):
        assert not PredicatePolicy.objects.filter(
            workspace_id=admin.access.workspace_id, predicate="shoe_brand"
        ).exists()
    blind = admin.post("policies/edit/shoe_brand", form | {"apply": "1"})
    assert blind.status_code == 409
    shown = form | {"digest": policy_form(preview)["digest"], "apply": "1"}
    done = admin.post("policies/edit/shoe_brand", shown)
    assert done.status_code == 302
    with workspace_scope(admin.access.workspace_id):
        live = policies.book(admin.access.workspace_id).resolve("shoe_brand")
        active = MemoryRecord.objects.filter(predicate="shoe_brand", status="active")
        assert active.count() == 1
    assert (str(live.cardinality), live.ttl_days, live.version) == ("one", 30.0, 1)
    assert "as agreed" in words(admin.get("policies/of/shoe_brand"))
    assert [event.reason for event in events(admin, "policy.changed")] == ["as agreed"]


def test_policy_changed_by_somebody_else_meanwhile_is_a_conflict(admin: Person) -> None:
    form = policy_form(admin.get("policies/edit/employer")) | {"ttl_days": "11"}
    colleague = make_person(admin.access, Role.ADMINISTRATOR)
    theirs = form | {"ttl_days": "12"}
    preview = colleague.post("policies/edit/employer", theirs)
    theirs |= {"digest": policy_form(preview)["digest"], "apply": "1"}
    first = colleague.post("policies/edit/employer", theirs)
    assert first.status_code == 302
    late = admin.post("policies/edit/employer", form | {"apply": "1"})
    assert late.status_code == 409
    assert 'value="11' in text(late)
    mine = policy_form(late) | {"ttl_days": "11"}
    mine |= {"digest": policy_form(admin.post("policies/edit/employer", mine))["digest"]}
    again = admin.post("policies/edit/employer", mine | {"apply": "1"})
    assert again.status_code == 302


@pytest.mark.parametrize(
    "wrong",
    [
        {"validators": "not json"},
        {"validators": '[{"kind": "magic"}]'},
        {"ttl_days": "-1"},
        {"ttl_days": "nan"},
        {"cardinality": "few"},
        {"reason": ""},
    ],
)
def test_malformed_policy_is_422(admin: Person, wrong: dict[str, str]) -> None:
    form = policy_form(admin.get("policies/edit/employer")) | wrong | {"apply": "1"}
    assert admin.post("policies/edit/employer", form).status_code == 422
    with workspace_scope(admin.access.workspace_id):
        assert policies.book(admin.access.workspace_id).resolve("employer").version == 1


def test_job_is_started_once(admin: Person) -> None:
    assert "Facts that fade" in words(admin.get("jobs"))
    assert admin.post("jobs/rescan/start").status_code == 302
    assert "is queued" in words(admin.get("jobs"))
    assert admin.post("jobs/rescan/start").status_code == 302
    assert "Nothing was started" in words(admin.get("jobs"))
    with workspace_scope(admin.access.workspace_id):
        runs = JobRun.objects.filter(workspace_id=admin.access.workspace_id, job="rescan")
        assert [run.requested_by for run in runs] == [f"user:{admin.user.username}"]
    for name in ("unknown", "partitions"):
        assert admin.post(f"jobs/{name}/start").status_code == 404


def test_role_is_changed_and_a_member_leaves(admin: Person) -> None:
    member = make_person(admin.access, Role.VIEWER)
    path = f"people/{member.user.id}"
    changed = admin.post(f"{path}/role", {"role": "responder", "reason": "on call"})
    assert changed.status_code == 302
    assert member.get("keys").status_code == 403
    assert "responder" in text(member.get(""))
    assert admin.post(f"{path}/remove", {"reason": "left"}).status_code == 302
    assert member.get("").status_code == 404
    (event,) = events(admin, "member.removed")
    assert (event.actor, event.reason, event.target_id) == (
        admin.user.username,
        "left",
        member.user.id,
    )


def test_last_administrator_stays(admin: Person) -> None:
    for verb, given in (("role", {"role": "viewer"}), ("remove", {})):
        answer = admin.post(f"people/{admin.user.id}/{verb}", {"reason": "x", **given})
        assert answer.status_code == 409
        assert "only administrator" in text(answer)
    with workspace_scope(admin.access.workspace_id):
        member = Membership.objects.get(workspace_id=admin.access.workspace_id)
    assert (member.role, member.removed_at) == ("administrator", None)


def test_member_of_another_workspace_cannot_be_touched(admin: Person, stranger: Person) -> None:
    for verb in ("role", "remove"):
        answer = admin.post(f"people/{stranger.user.id}/{verb}", {"reason": "x", "role": "viewer"})
        assert answer.status_code == 404
    assert stranger.get("keys").status_code == 200


def test_look_is_kept_and_drawn_by_the_server(admin: Person) -> None:
    assert 'data-theme="system"' in text(admin.get(""))
    answer = admin.client.post("/profile/look", {"theme": "dark", "next": admin.url("records")})
    assert answer.headers["Location"] == admin.url("records")
    assert admin.client.post("/profile/look", {"density": "comfortable"}).status_code == 302
    page = text(admin.get(""))
    assert 'data-theme="dark"' in page
    assert 'data-density="comfortable"' in page
    assert admin.client.post("/profile/look", {"theme": "neon"}).status_code == 422


def test_keys_can_be_switched_off_and_given_others(admin: Person) -> None:
    keys = {f"key-{one.id}": one.key for one in shortcuts.SHORTCUTS} | {"shortcuts_on": "on"}
    assert admin.client.post("/profile/keys", keys | {"key-approve": "+"}).status_code == 302
    assert '"approve": "+"' in text(admin.get("records"))
    clash = admin.client.post("/profile/keys", keys | {"key-approve": "j"})
    assert clash.status_code == 422
    assert "is the key of another act" in text(clash)
    off = {name: value for name, value in keys.items() if name != "shortcuts_on"}
    assert admin.client.post("/profile/keys", off).status_code == 302
    assert 'data-shortcuts="off"' in text(admin.get("records"))


def test_password_change_ends_the_other_sessions(admin: Person) -> None:
    other = Client()
    other.force_login(User.objects.get(id=admin.user.id))
    given = {
        "old_password": PASSWORD,
        "new_password1": "another-long-passphrase",
        "new_password2": "another-long-passphrase",
    }
    wrong = admin.client.post("/profile/password", given | {"old_password": "no"})
    assert wrong.status_code == 422
    assert admin.client.post("/profile/password", given).status_code == 302
    assert admin.get("").status_code == 200
    assert other.get(admin.url()).status_code == 302


def test_who_runs_the_installation_enters_and_makes_workspaces(admin: Person) -> None:
    boss = make_person()
    User.objects.filter(id=boss.user.id).update(is_superuser=True)
    assert boss.client.get(admin.url("keys")).status_code == 200
    name = f"team {uuid4().hex[:6]}"
    made = boss.client.post("/workspaces/new", {"name": name})
    assert made.status_code == 302
    assert boss.client.get(made.headers["Location"]).status_code == 200
    again = boss.client.post("/workspaces/new", {"name": name})
    assert again.status_code == 422
    assert "of this name" in text(again)


def test_workspace_whose_name_is_no_path_is_reached_by_its_id(admin: Person) -> None:
    from audits.access import places_of

    from .conftest import make_access

    access = make_access(f"a/b {uuid4().hex[:6]}")
    people.add_member(admin.user, Role.VIEWER, access=access)
    place = next(one for one in places_of(admin.user.id) if one.id == access.workspace_id)
    assert UUID(place.slug) == access.workspace_id
    assert admin.client.get(f"/w/{place.slug}/records").status_code == 200


def test_workspace_switch_lists_ones_own_places_only(admin: Person, stranger: Person) -> None:
    people.add_member(admin.user, Role.VIEWER, access=stranger.access)
    page = text(admin.get(""))
    assert f'href="/w/{stranger.access.workspace}/"' in page
    assert admin.access.workspace not in text(stranger.get(""))
