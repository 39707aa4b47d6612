"""The database and the server that tests run against; nothing here is mocked.

Each session has a database of its own on one embedded PostgreSQL (see
``server.py``). Tests commit for real and keep apart by making their own
workspaces: the application's role may not delete or truncate, so nothing is
rolled back. ``tests/unit`` needs none of this and starts none of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests import server

if TYPE_CHECKING:
    from pytest_django.plugin import DjangoDbBlocker

TESTS = Path(__file__).resolve().parent
WITH_DATABASE = {"db", "api", "web", "browser"}


@pytest.fixture(scope="session")
def django_db_setup(django_db_blocker: DjangoDbBlocker) -> Iterator[None]:
    """Set up a fresh database for this session, dropped at its end."""
    from django.core.management import call_command
    from django.db import connections

    with server.test_database(), django_db_blocker.unblock():
        call_command("setup_database", verbosity=0)
        yield
        connections.close_all()


@pytest.fixture(autouse=True)
def _database(request: pytest.FixtureRequest) -> Iterator[None]:
    """Open the database to every test outside ``unit``, and leave no connection behind."""
    if request.path.relative_to(TESTS).parts[0] not in WITH_DATABASE:
        yield
        return
    request.getfixturevalue("django_db_setup")
    blocker: DjangoDbBlocker = request.getfixturevalue("django_db_blocker")
    from django.db import connections

    with blocker.unblock():
        yield
        connections.close_all()


@pytest.fixture(scope="session")
def broker_url(django_db_setup: None) -> Iterator[str]:
    """Return the URL of a real broker, for tests that run real workers."""
    with server.broker() as url:
        yield url


@pytest.fixture(scope="session")
def live_server_url(django_db_setup: None) -> Iterator[str]:
    """Return the URL of the real web server, running against this session's database."""
    with server.web_server() as url:
        yield url
