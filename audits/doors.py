"""Logging in and out: who comes, who is refused, and what the trail says of it.

Owns the order of throttle, check and event. Passwords and unknown names never
reach an event or a log: people type passwords into the name's field.
"""

from __future__ import annotations

from datetime import timedelta

from django.contrib.auth import authenticate, login, logout
from django.db import transaction
from django.http import HttpRequest

from audits import leases, throttle
from audits.access import actor_of, client_address, places_of
from audits.leases import Reviewer
from audits.models import User
from records import denials, events
from records.events import Happening
from records.scope import workspace_scope


class TooManyAttemptsError(Exception):
    """The account or the address has failed too often; ``wait`` is how long it lasts."""

    def __init__(self, wait: timedelta) -> None:
        super().__init__("too many failed log-ins")
        self.wait = wait


def log_in(request: HttpRequest, username: str, password: str) -> User | None:
    """Log a person in and return them; ``None`` when name and password do not fit.

    Raises ``TooManyAttemptsError`` before the password is looked at.
    """
    address = client_address(request)
    request_id = getattr(request, "request_id", "")
    wait = throttle.blocked_for(username, address)
    if wait is not None:
        _refused("throttled", address, request_id)
        raise TooManyAttemptsError(wait)
    found = authenticate(request, username=username, password=password)
    if found is None:
        throttle.count_failure(username, address)
        _refused("wrong name or password", address, request_id)
        return None
    throttle.forget_failures(username, address)
    welcome(request, found)
    return found


def welcome(request: HttpRequest, user: User) -> None:
    """Begin the session of a person who has proven who they are, and put it on record."""
    with transaction.atomic():
        login(request, user, backend="django.contrib.auth.backends.ModelBackend")
        events.append_outside(
            [
                Happening(
                    "person.logged_in", "person", user.id, details={"from": client_address(request)}
                )
            ],
            actor=actor_of(user),
            request_id=getattr(request, "request_id", ""),
        )


def log_out(request: HttpRequest) -> None:
    """End the session on the server, so that its cookie opens nothing any more.

    What the person had open in review queues is free for colleagues at once.
    """
    user = request.user
    if user.is_authenticated:
        for place in places_of(user.id):
            with workspace_scope(place.id):
                leases.release_all(Reviewer(user.id, user.get_username()))
    with transaction.atomic():
        if user.is_authenticated:
            events.append_outside(
                [Happening("person.logged_out", "person", user.id)],
                actor=actor_of(user),
                request_id=getattr(request, "request_id", ""),
            )
        logout(request)


def _refused(why: str, address: str, request_id: str) -> None:
    denials.deny_stranger(
        "login.refused", address=address, request_id=request_id, details={"why": why}
    )
