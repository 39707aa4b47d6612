"""How DATABASE_URL and its relatives become aliases and roles."""

import os
import subprocess
import sys
from pathlib import Path

import psycopg
import pytest

from memconsole import database
from memconsole.embedded.home import DataHome, StartError

HOME = DataHome(Path("/srv/memconsole"))
URL = "postgresql://app%40team:s%3Acret@db.example:6432/memories?sslmode=require"


def test_one_url_serves_three_roles() -> None:
    aliases = database.database_aliases({"DATABASE_URL": URL}, HOME)

    assert {alias: values["OPTIONS"]["options"] for alias, values in aliases.items()} == {
        "default": "-c role=memconsole_app",
        "owner": "-c role=memconsole_owner",
        "maintenance": "-c role=memconsole_maintenance",
    }
    for values in aliases.values():
        assert values["USER"] == "app@team"
        assert values["PASSWORD"] == "s:cret"
        assert (values["HOST"], values["PORT"], values["NAME"]) == (
            "db.example",
            "6432",
            "memories",
        )
        assert values["OPTIONS"]["sslmode"] == "require"


def test_a_login_that_is_the_role_gets_no_role_option() -> None:
    environ = {
        "DATABASE_URL": "postgresql://memconsole_app:a@db/memories",
        "DATABASE_MAINTENANCE_URL": "postgresql://memconsole_maintenance:m@db/memories",
        "DATABASE_OWNER_URL": "postgresql://deployer:d@db/memories",
    }
    aliases = database.database_aliases(environ, HOME)

    assert "options" not in aliases["default"]["OPTIONS"]
    assert "options" not in aliases["maintenance"]["OPTIONS"]
    assert aliases["maintenance"]["PASSWORD"] == "m"
    assert aliases["owner"]["OPTIONS"]["options"] == "-c role=memconsole_owner"


def test_without_a_url_the_embedded_server_is_used() -> None:
    aliases = database.database_aliases({"DATABASE_URL": " "}, HOME)

    assert aliases["default"]["HOST"] == str(HOME.postgres_sockets)
    assert aliases["default"]["USER"] == "memconsole_app"
    assert aliases["maintenance"]["USER"] == "memconsole_maintenance"
    assert aliases["owner"]["OPTIONS"]["options"] == "-c role=memconsole_owner"


def test_the_administrator_is_the_owners_login_without_the_role() -> None:
    environ = {"DATABASE_URL": URL}
    arguments = database.administrator_connection(environ, database.database_aliases(environ, HOME))
    assert arguments["user"] == "app@team"
    assert "options" not in arguments

    environ["DATABASE_ADMIN_URL"] = "postgresql://root:r@db/memories"
    arguments = database.administrator_connection(environ, database.database_aliases(environ, HOME))
    assert (arguments["user"], arguments["password"]) == ("root", "r")


def test_a_socket_is_named_as_in_libpq() -> None:
    alias = database.parse_url("DATABASE_URL", "postgresql:///memories?host=/run/postgresql")
    assert (alias["HOST"], alias["NAME"], alias["USER"]) == ("/run/postgresql", "memories", "")


@pytest.mark.parametrize(
    ("url", "complaint"),
    [
        ("mysql://db/memories", "must start with postgresql://"),
        ("memories", "must start with postgresql://"),
        ("postgresql://db:notaport/memories", "is not a URL"),
        ("postgresql://user:hunter2@db/", "names no database"),
        ("postgresql://db/memories?options=-crole%3Dpostgres", "may not carry 'options'"),
    ],
)
def test_a_bad_url_is_refused_by_name_and_without_its_password(url: str, complaint: str) -> None:
    with pytest.raises(StartError, match=complaint) as refusal:
        database.database_aliases({"DATABASE_URL": url}, HOME)
    assert "DATABASE_URL" in str(refusal.value)
    assert "hunter2" not in str(refusal.value)


def test_only_the_owner_migrates() -> None:
    router = database.OwnerMigrates()
    assert [db for db in database.ROLES if router.allow_migrate(db, "records")] == ["owner"]


@pytest.mark.parametrize(
    "words", [("create_api_key",), ("import_facts", "records/sample/facts.jsonl")]
)
def test_a_command_without_its_database_says_what_to_do(
    words: tuple[str, ...], tmp_path: Path
) -> None:
    other = ("DATABASE_", "DJANGO_SETTINGS_MODULE")
    environ = {name: value for name, value in os.environ.items() if not name.startswith(other)}
    environ["MEMCONSOLE_HOME"] = str(tmp_path)
    command = [sys.executable, "manage.py", *words, "--workspace", "default"]
    done = subprocess.run(command, env=environ, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.startswith(f"memconsole: No database is running in {tmp_path}: start it")
    assert "MEMCONSOLE_HOME" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_an_error_that_the_server_answered_is_not_taken_for_its_absence() -> None:
    answered = psycopg.errors.DeadlockDetected("deadlock detected")
    assert database.unreachable(answered, {}) == ""


def test_an_unreachable_server_of_ones_own_is_named_by_its_variable() -> None:
    refused = psycopg.OperationalError("connection failed: Connection refused\nIs it running?")
    said = database.unreachable(refused, {"DATABASE_URL": "postgresql://u:secret@h/d"})
    assert said.startswith("The database that DATABASE_URL names cannot be reached: connection")
    assert "secret" not in said
