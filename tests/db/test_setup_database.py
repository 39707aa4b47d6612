"""Setting up a database: each alias in its role, twice, at once, and without a superuser."""

import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psycopg
import pytest
from django.db import ProgrammingError, connections

from memconsole.embedded.home import DataHome
from memconsole.embedded.postgres import TEST_TUNING, Postgres
from tests.server import plain_environment

CODE = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Postgres]:
    """A server on which no role exists yet."""
    home = DataHome(tmp_path_factory.mktemp("server"))
    home.prepare()
    server = Postgres(home)
    server.start_detached(TEST_TUNING)
    yield server
    server.stop()


def url(server: Postgres, user: str, name: str, password: str = "") -> str:
    return f"postgresql://{user}:{password}@/{name}?host={server.home.postgres_sockets}"


def setup(server: Postgres, **environ: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "manage.py", "setup_database", "--verbosity", "0"],
        cwd=CODE,
        env=plain_environment(MEMCONSOLE_HOME=str(server.home.root), **environ),
        capture_output=True,
        text=True,
    )


def test_each_alias_acts_in_its_role() -> None:
    for alias, role in (
        ("default", "memconsole_app"),
        ("owner", "memconsole_owner"),
        ("maintenance", "memconsole_maintenance"),
    ):
        with connections[alias].cursor() as cursor:
            cursor.execute("SELECT current_user")
            assert cursor.fetchone() == (role,)


def test_the_application_owns_nothing_and_makes_nothing() -> None:
    with connections["owner"].cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM pg_class JOIN pg_roles r ON r.oid = relowner"
            " WHERE rolname <> 'memconsole_owner' AND relnamespace = 'public'::regnamespace"
            # What the extension brought belongs to who created it.
            " AND NOT EXISTS (SELECT FROM pg_depend WHERE objid = pg_class.oid AND deptype = 'e')"
        )
        assert cursor.fetchone() == (0,)
    for alias in ("default", "maintenance"):
        with (
            connections[alias].cursor() as cursor,
            pytest.raises(ProgrammingError, match="permission denied"),
        ):
            cursor.execute("CREATE TABLE mine (id int)")


def test_the_application_cannot_become_another_role() -> None:
    for role in ("memconsole_owner", "memconsole_maintenance", "postgres"):
        with (
            connections["default"].cursor() as cursor,
            pytest.raises(ProgrammingError, match="permission denied to set role"),
        ):
            cursor.execute(f"SET ROLE {role}")


def test_maintenance_becomes_the_owner_only_by_saying_so() -> None:
    with connections["maintenance"].cursor() as cursor:
        with pytest.raises(ProgrammingError, match="must be owner"):
            cursor.execute("DROP TABLE django_session")
        cursor.execute("SET ROLE memconsole_owner")
        cursor.execute("SELECT current_user")
        assert cursor.fetchone() == ("memconsole_owner",)


def test_two_at_once_and_one_more_later_agree(server: Postgres) -> None:
    environ = {"DATABASE_URL": url(server, "postgres", "raced")}
    with ThreadPoolExecutor(2) as pool:
        outcomes = [*pool.map(lambda _: setup(server, **environ), range(2))]
    outcomes.append(setup(server, **environ))

    assert [outcome.stderr for outcome in outcomes if outcome.returncode] == []
    with server.connect("raced") as connection:
        assert connection.execute("SELECT count(*) > 0 FROM django_migrations").fetchone() == (
            True,
        )


def test_the_applications_own_login_needs_an_administrator_beside_it(server: Postgres) -> None:
    environ = {"DATABASE_URL": url(server, "memconsole_app", "separate", "s3cret")}
    refused = setup(server, **environ)
    assert refused.returncode != 0

    environ["DATABASE_ADMIN_URL"] = url(server, "postgres", "separate")
    refused = setup(server, **environ)
    assert refused.returncode != 0
    assert "memconsole_app may not become memconsole_maintenance" in refused.stderr

    environ["DATABASE_MAINTENANCE_URL"] = url(server, "memconsole_maintenance", "separate", "m")
    outcome = setup(server, **environ)
    assert outcome.returncode == 0, outcome.stderr
    with psycopg.connect(environ["DATABASE_URL"]) as connection, pytest.raises(psycopg.Error):
        connection.execute("SET ROLE memconsole_owner")


def test_a_login_that_is_no_superuser_sets_up_what_it_may(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    home = DataHome(tmp_path_factory.mktemp("managed"))
    home.prepare()
    server = Postgres(home)
    server.start_detached(TEST_TUNING)
    try:
        with server.connect("postgres") as connection:
            connection.execute("CREATE ROLE deployer LOGIN CREATEROLE CREATEDB BYPASSRLS")
        environ = {"DATABASE_URL": url(server, "deployer", "managed")}
        refused = setup(server, **environ)
        assert refused.returncode != 0
        assert "run CREATE EXTENSION vector as a superuser" in refused.stderr
        assert "Traceback" not in refused.stderr

        with server.connect("managed") as connection:
            connection.execute("CREATE EXTENSION vector")
        for _ in range(2):
            outcome = setup(server, **environ)
            assert outcome.returncode == 0, outcome.stderr
    finally:
        server.stop()
