"""Coming in and going out: log-in, throttle, events, invitations."""

from __future__ import annotations

from datetime import timedelta
from uuid import uuid4

import pytest
from django.db import connections
from django.test import Client
from django.utils import timezone

from audits import people, throttle
from audits.domain.roles import Role
from audits.models import LoginFailure, User

from .conftest import PASSWORD, Person, make_access, make_person, text, words


def outside_events(action: str, *, actor: str = "") -> list[tuple[str, str, str]]:
    """Read events that belong to no workspace, which only maintenance can."""
    with connections["maintenance"].cursor() as cursor:
        cursor.execute(
            """SELECT actor, outcome, details::text FROM event
               WHERE workspace_id IS NULL AND action = %s AND (%s = '' OR actor = %s)""",
            [action, actor, actor],
        )
        return list(cursor.fetchall())


def log_in(username: str, password: str = PASSWORD, *, address: str = "", **more: str) -> object:
    client = Client(REMOTE_ADDR=address or f"10.0.0.{uuid4().int % 250}")
    return client.post("/login", {"username": username, "password": password, **more})


def test_name_and_password_open_the_console_and_leave_an_event(admin: Person) -> None:
    client = Client()
    answer = client.post(
        "/login", {"username": admin.user.username, "password": PASSWORD, "next": admin.url()}
    )
    assert (answer.status_code, answer.headers["Location"]) == (302, admin.url())
    assert client.get(admin.url()).status_code == 200
    assert len(outside_events("person.logged_in", actor=admin.user.username)) == 1


def test_wrong_password_is_refused_told_and_counted(admin: Person) -> None:
    address = f"10.9.{uuid4().int % 250}.7"
    answer = log_in(admin.user.username, "wrong", address=address)
    assert answer.status_code == 422  # type: ignore[attr-defined]
    assert "do not fit" in text(answer)  # type: ignore[arg-type]
    ((_, outcome, details),) = outside_events("login.refused", actor=address)
    assert outcome == "denied"
    assert admin.user.username not in details
    assert "wrong name or password" in details


def test_unknown_name_and_wrong_password_get_the_same_answer(admin: Person) -> None:
    known = log_in(admin.user.username, "wrong", address="10.1.1.1")
    unknown = log_in(f"nobody-{uuid4().hex}", "wrong", address="10.1.1.2")
    assert words(known).split("user name")[0] == words(unknown).split("user name")[0]  # type: ignore[arg-type]


def test_right_password_is_refused_after_too_many_wrong_ones(admin: Person) -> None:
    address = f"10.8.{uuid4().int % 250}.9"
    for _ in range(throttle.PAIR_LIMIT):
        assert log_in(admin.user.username, "wrong", address=address).status_code == 422  # type: ignore[attr-defined]
    blocked = log_in(admin.user.username, address=address)
    assert blocked.status_code == 429
    assert "Try again in" in text(blocked)
    # From elsewhere the person still comes in: guessing locks nobody out.
    assert log_in(admin.user.username, address="10.3.3.3").status_code == 302  # type: ignore[attr-defined]
    LoginFailure.objects.filter(key__contains=address).update(
        since=timezone.now() - throttle.WINDOW - timedelta(seconds=1)
    )
    assert log_in(admin.user.username, address=address).status_code == 302  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "target", ["https://evil.example/", "//evil.example", "javascript:alert(1)", "/\\evil.example"]
)
def test_log_in_never_leads_to_another_site(admin: Person, target: str) -> None:
    answer = log_in(admin.user.username, next=target)
    assert answer.headers["Location"] == "/"  # type: ignore[attr-defined]


def test_log_out_ends_the_session_on_the_server(admin: Person) -> None:
    old = admin.client.cookies["sessionid"].value
    assert admin.client.get("/logout").status_code == 405
    assert admin.client.post("/logout").status_code == 302
    thief = Client()
    thief.cookies["sessionid"] = old
    assert thief.get(admin.url()).status_code == 302
    assert len(outside_events("person.logged_out", actor=admin.user.username)) == 1


def test_without_a_session_pages_lead_to_the_log_in_and_pieces_say_so(admin: Person) -> None:
    stranger = Client()
    answer = stranger.get(admin.url("records"), {"status": "active"})
    assert answer.status_code == 302
    assert answer.headers["Location"].startswith("/login?next=/w/")
    assert "%3Fstatus%3Dactive" in answer.headers["Location"]
    piece = stranger.get(admin.url("records"), headers={"HX-Request": "true"})
    assert piece.status_code == 401
    assert b"another tab" in piece.content


def test_invitation_makes_an_account_and_a_member_once() -> None:
    access = make_access()
    boss = make_person(access, Role.ADMINISTRATOR)
    made = boss.post("people/invite", {"invited": "Rosa", "role": "reviewer"})
    link = text(made).split('id="invitation-link">')[1].split("<")[0]
    path = link.split("testserver")[1]
    guest = Client()
    assert "Rosa" not in text(guest.get(path))
    assert "reviewer" in text(guest.get(path))
    name = f"rosa-{uuid4().hex[:6]}"
    weak = guest.post(path, {"username": name, "password": "short"})
    assert weak.status_code == 422
    assert "at least 12 characters" in text(weak)
    assert guest.post(path, {"username": name, "password": PASSWORD}).status_code == 302
    assert guest.get(boss.url("records")).status_code == 200
    assert guest.get(boss.url("keys")).status_code == 403
    again = Client().post(path, {"username": f"{name}2", "password": PASSWORD})
    assert again.status_code == 410
    assert not User.objects.filter(username=f"{name}2").exists()


def test_invitation_of_a_person_who_has_an_account(stranger: Person) -> None:
    boss = make_person(role=Role.ADMINISTRATOR)
    token = people.invite("you", Role.AUDITOR, access=boss.access)
    assert stranger.client.post(f"/join/{token}").status_code == 302
    assert stranger.client.get(boss.url("records")).status_code == 200


def test_revoked_invitation_opens_nothing(admin: Person) -> None:
    token = people.invite("you", Role.VIEWER, access=admin.access)
    found = people.find_invitation(token)
    assert found is not None
    assert admin.post(f"invitations/{found.id}/revoke").status_code == 302
    assert Client().get(f"/join/{token}").status_code == 410
    assert Client().get("/join/unknown").status_code == 404


def test_closed_account_opens_nothing(admin: Person) -> None:
    User.objects.filter(id=admin.user.id).update(is_active=False)
    assert admin.client.get(admin.url()).status_code == 302
