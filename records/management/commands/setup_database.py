"""Create the roles, the extension and the database, then migrate. Safe to repeat and to race.

Owns everything that needs the administrator's log-in, and the grants on the
framework's own tables. Tables of ``records`` and ``audits`` grant for
themselves in their migrations. Read docs/operations.md for the roles.
"""

from __future__ import annotations

from typing import Any

import psycopg
from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError
from django.db import connections
from psycopg import sql

LOCK = 0x6D656D63  # "memc"
MINIMUM_VERSION = 160000
ROLE_ATTRIBUTES = {"owner": "NOLOGIN", "default": "LOGIN", "maintenance": "LOGIN BYPASSRLS"}
FRAMEWORK_GRANTS = {
    "django_migrations": "SELECT",
    "django_content_type": "SELECT",
    "auth_permission": "SELECT",
    "auth_group": "SELECT",
    "auth_group_permissions": "SELECT",
    "django_session": "SELECT, INSERT, UPDATE, DELETE",
}

Connection = psycopg.Connection[tuple[Any, ...]]


class Command(BaseCommand):
    """Bring a PostgreSQL server from nothing to a migrated database."""

    help = "Create roles, the vector extension and the database where missing, then migrate."
    requires_system_checks: list[str] = []

    def handle(self, *args: Any, **options: Any) -> None:
        """Run every step; each one finds what an earlier run has done."""
        try:
            # Roles belong to the whole server, so the lock does too: two databases
            # of one server set up at once would race for them.
            with connect_to_server() as server:
                server.execute("SELECT pg_advisory_lock(%s)", [LOCK])
                require_version(server)
                create_roles(server)
                create_database(server)
                with connect(database_name()) as database:
                    create_extension(database)
                    grant_schema(database)
                migrate(verbosity=options["verbosity"])
                grant_framework_tables()
        except psycopg.Error as error:
            raise CommandError(f"The database cannot be set up: {error}") from error
        finally:
            connections["owner"].close()


def database_name() -> str:
    """Return the database that this process uses."""
    return str(connections["default"].settings_dict["NAME"])


def connect(database: str) -> Connection:
    """Return an autocommit connection of the administrator."""
    arguments = settings.ADMINISTRATOR_CONNECTION | {"dbname": database}
    return psycopg.connect(**arguments, autocommit=True)


def connect_to_server() -> Connection:
    """Return a connection that serves the whole server: some grant only their own database."""
    try:
        return connect("postgres")
    except psycopg.OperationalError:
        return connect(database_name())


def require_version(server: Connection) -> None:
    """Refuse a server older than the SQL that the migrations use."""
    if server.info.server_version < MINIMUM_VERSION:
        raise CommandError(
            f"PostgreSQL {server.info.server_version // 10000} is too old:"
            " MemConsole needs version 16 or later."
        )


def create_roles(server: Connection) -> None:
    """Create the missing roles and let the log-ins in use become them.

    A role that logs in by itself gets the password of its URL when it is made;
    the password of an existing role is not touched.
    """
    for alias, role in settings.DATABASE_ROLES.items():
        login = connections[alias].settings_dict
        if not _exists(server, "SELECT 1 FROM pg_roles WHERE rolname = %s", role):
            statement = sql.SQL("CREATE ROLE {} " + ROLE_ATTRIBUTES[alias]).format(
                sql.Identifier(role)
            )
            if login["USER"] == role and login["PASSWORD"]:
                statement += sql.SQL(" PASSWORD {}").format(sql.Literal(login["PASSWORD"]))
            server.execute(statement)
        for member in {login["USER"] or server.info.user, server.info.user} - {role}:
            if member in settings.DATABASE_ROLES.values():
                # It would undo the separation that the roles are for.
                raise CommandError(
                    f"The role {member} may not become {role}: DATABASE_URL logs in as {member}, so"
                    " set DATABASE_ADMIN_URL or DATABASE_OWNER_URL, and DATABASE_MAINTENANCE_URL."
                )
            _grant_role(server, role, to=member)
    # Partitions and indexes belong to the owner; the maintenance worker makes
    # them by SET ROLE, and never holds the owner's rights otherwise.
    _grant_role(server, settings.DATABASE_ROLES["owner"], to=settings.DATABASE_ROLES["maintenance"])


def create_database(server: Connection) -> None:
    """Create the database, owned by the schema's owner, where it is missing."""
    name = database_name()
    if _exists(server, "SELECT 1 FROM pg_database WHERE datname = %s", name):
        return
    owner = settings.DATABASE_ROLES["owner"]
    server.execute(
        sql.SQL("CREATE DATABASE {} OWNER {}").format(sql.Identifier(name), sql.Identifier(owner))
    )


def create_extension(database: Connection) -> None:
    """Create the vector extension, which some servers leave to a superuser."""
    if _exists(database, "SELECT 1 FROM pg_extension WHERE extname = %s", "vector"):
        return
    try:
        database.execute("CREATE EXTENSION vector")
    except psycopg.Error as error:
        raise CommandError(
            f"The extension 'vector' cannot be created ({error.diag.message_primary}): install"
            " pgvector 0.8 or later on the server and run CREATE EXTENSION vector as a superuser."
        ) from error


def grant_schema(database: Connection) -> None:
    """Let the owner create in schema public, and nobody else."""
    role = settings.DATABASE_ROLES["owner"]
    if _exists(database, "SELECT 1 WHERE has_schema_privilege(%s, 'public', 'CREATE')", role):
        return
    owner = sql.Identifier(role)
    database.execute("REVOKE CREATE ON SCHEMA public FROM PUBLIC")
    database.execute(sql.SQL("GRANT USAGE, CREATE ON SCHEMA public TO {}").format(owner))


def migrate(*, verbosity: int) -> None:
    """Apply the migrations as the schema's owner."""
    call_command("migrate", database="owner", interactive=False, verbosity=verbosity)


def grant_framework_tables() -> None:
    """Let the processes use Django's own tables, as far as each is needed."""
    roles = sql.SQL(", ").join(
        sql.Identifier(settings.DATABASE_ROLES[alias]) for alias in ("default", "maintenance")
    )
    with connections["owner"].cursor() as cursor:
        for table, rights in FRAMEWORK_GRANTS.items():
            statement = sql.SQL(f"GRANT {rights} ON {{}} TO {{}}")
            cursor.execute(statement.format(sql.Identifier(table), roles))


def _grant_role(server: Connection, role: str, *, to: str) -> None:
    """Let ``to`` become ``role`` by SET ROLE, without inheriting its rights."""
    able = "SELECT 1 FROM pg_roles WHERE rolname = %s AND pg_has_role(%s, rolname, 'SET')"
    if _exists(server, able, role, to):
        return
    server.execute(
        sql.SQL("GRANT {} TO {} WITH INHERIT FALSE, SET TRUE").format(
            sql.Identifier(role), sql.Identifier(to)
        )
    )


def _exists(connection: Connection, query: str, *parameters: str) -> bool:
    return connection.execute(query, parameters).fetchone() is not None
