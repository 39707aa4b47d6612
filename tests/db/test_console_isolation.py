"""What the database itself keeps of the console: members, invitations, views, search."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.db import IntegrityError, connection
from django.db.utils import ProgrammingError

from audits import people, throttle
from audits.access import places_of
from audits.domain.roles import Role
from audits.models import Invitation, Membership, SavedView, User
from records.access import Access
from records.domain.terms import query_terms
from records.scope import partition_scope, workspace_scope
from tests import factories

TABLES = (Membership, Invitation, SavedView)


def person() -> User:
    return User.objects.create_user(f"p-{uuid4().hex[:10]}", password="x" * 12)


def fill(access: Access) -> User:
    """Put one row into each of the console's tables."""
    user = person()
    people.add_member(user, Role.VIEWER, access=access)
    people.invite("somebody", Role.VIEWER, access=access)
    with workspace_scope(access.workspace_id):
        SavedView.objects.create(
            workspace_id=access.workspace_id, user=user, page="records", name="n", query="q"
        )
    return user


@pytest.mark.parametrize("table", TABLES)
def test_rows_are_seen_in_their_workspace_alone(
    access: Access, stranger: Access, table: Any
) -> None:
    """Without any filter in the code: row-level security by itself."""
    fill(access)
    fill(stranger)
    assert table.objects.count() == 0  # no scope
    for one in (access, stranger):
        with workspace_scope(one.workspace_id):
            assert set(table.objects.values_list("workspace_id", flat=True)) == {one.workspace_id}
    with partition_scope(access.workspace_id, [access.partition_id("ada")]):
        assert table.objects.count() == 0  # an agent's reach


def test_nobody_becomes_a_member_of_another_workspace(access: Access, stranger: Access) -> None:
    user = person()
    with (
        pytest.raises(ProgrammingError, match="row-level security"),
        workspace_scope(access.workspace_id),
    ):
        Membership.objects.create(
            workspace_id=stranger.workspace_id, user=user, role="administrator"
        )
    assert places_of(user.id) == ()


@pytest.mark.parametrize("table", ["membership", "invitation"])
def test_members_and_invitations_are_never_deleted(access: Access, table: str) -> None:
    fill(access)
    with (
        pytest.raises(ProgrammingError, match="permission denied"),
        workspace_scope(access.workspace_id),
        connection.cursor() as cursor,
    ):
        cursor.execute(f"DELETE FROM {table}")


def test_unknown_role_is_refused_by_the_database(access: Access) -> None:
    with pytest.raises(IntegrityError), workspace_scope(access.workspace_id):
        Membership.objects.create(workspace_id=access.workspace_id, user=person(), role="god")


def test_reach_is_ones_own_places_and_ends_with_the_membership(
    access: Access, stranger: Access
) -> None:
    user = fill(access)
    assert [place.id for place in places_of(user.id)] == [access.workspace_id]
    assert places_of(user.id, stranger.workspace) == places_of(user.id)
    other = person()
    people.add_member(other, Role.ADMINISTRATOR, access=access)
    people.remove_member(user.id, reason="left", access=access)
    assert places_of(user.id) == ()
    people.add_member(user, Role.AUDITOR, access=access)
    assert [place.role for place in places_of(user.id)] == [Role.AUDITOR]


def search(text: str) -> list[Any]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT memconsole_search(%s, NULL, 100)", [list(query_terms(text))])
        return [row[0] for row in cursor.fetchall()]


def test_search_finds_in_ones_own_workspace_and_needs_its_whole_reach() -> None:
    mine, theirs = factories.make_workspace(), factories.make_workspace()
    word = f"w{uuid4().hex}"
    found = factories.make_record(mine, word)
    factories.make_record(theirs, word)
    assert search(word) == []
    with workspace_scope(mine.workspace_id):
        assert search(word) == [found]
    with partition_scope(mine.workspace_id, [mine.partition_id("alice")]):
        assert search(word) == []


def test_failures_of_one_account_from_one_address_block_that_pair_alone() -> None:
    name, address = uuid4().hex, "10.7.7.7"
    for _ in range(throttle.PAIR_LIMIT - 1):
        throttle.count_failure(name, address)
    assert throttle.blocked_for(name, address) is None
    throttle.count_failure(name, address)
    wait = throttle.blocked_for(name, address)
    assert wait is not None
    assert timedelta(0) < wait <= throttle.WINDOW
    assert throttle.blocked_for(name, "10.7.7.8") is None
    throttle.forget_failures(name, address)
    assert throttle.blocked_for(name, address) is None
