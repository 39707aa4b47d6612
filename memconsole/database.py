"""How the three database roles become Django's three aliases.

Owns reading ``DATABASE_URL`` and its relatives, and the rule that only the
owner's alias migrates. Imports no Django, so that settings and the embedded
server's tests may use it. See docs/operations.md for the roles.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from memconsole.embedded.home import DataHome, StartError

OWNER = "memconsole_owner"
APP = "memconsole_app"
MAINTENANCE = "memconsole_maintenance"
ROLES = {"default": APP, "owner": OWNER, "maintenance": MAINTENANCE}
# Where each alias's log-in is looked for, before DATABASE_URL.
URL_VARIABLES = {
    "default": (),
    "owner": ("DATABASE_OWNER_URL", "DATABASE_ADMIN_URL"),
    "maintenance": ("DATABASE_MAINTENANCE_URL",),
}
DEFAULT_NAME = "memconsole"
SCHEMES = ("postgres", "postgresql")

Alias = dict[str, Any]


def is_embedded(environ: Mapping[str, str]) -> bool:
    """Return whether the database is the embedded one."""
    return not environ.get("DATABASE_URL", "").strip()


def database_aliases(environ: Mapping[str, str], home: DataHome) -> dict[str, Alias]:
    """Return Django's DATABASES for this environment; StartError names a bad variable."""
    if is_embedded(environ):
        return embedded_aliases(home, environ.get("MEMCONSOLE_DATABASE", DEFAULT_NAME))
    aliases = {}
    for alias, role in ROLES.items():
        given = (name for name in URL_VARIABLES[alias] if environ.get(name, "").strip())
        variable = next(given, "DATABASE_URL")
        aliases[alias] = _in_role(parse_url(variable, environ[variable].strip()), role)
    return aliases


def embedded_aliases(home: DataHome, name: str) -> dict[str, Alias]:
    """Return the aliases of database ``name`` on the embedded server.

    Web and workers log in as themselves; the owner has no log-in, so its alias
    is the superuser in that role.
    """
    place = {"NAME": name, "HOST": str(home.postgres_sockets), "PORT": "5432", "PASSWORD": ""}
    logins = {"default": APP, "owner": "postgres", "maintenance": MAINTENANCE}
    return {
        alias: _in_role(_alias(**place, USER=login), ROLES[alias])
        for alias, login in logins.items()
    }


def unreachable(error: Exception, environ: Mapping[str, str]) -> str:
    """Return what to do when ``error`` says that the database cannot be reached, else nothing.

    An error that the server itself answered with has a SQLSTATE, and is another matter.
    """
    cause = error.__cause__ or error
    if getattr(cause, "sqlstate", None):
        return ""
    said = str(cause).strip().partition("\n")[0]
    if not is_embedded(environ):
        return f"The database that DATABASE_URL names cannot be reached: {said}"
    home = DataHome.from_environ(environ)
    is_away = any(words in said for words in ("No such file", "Connection refused"))
    what = f"No database is running in {home.root}" if is_away else said
    return (
        f"{what}: start it with `make run` in another terminal. If it runs already, set"
        " MEMCONSOLE_HOME here to the folder that it printed as Data."
    )


def administrator_connection(
    environ: Mapping[str, str], aliases: Mapping[str, Alias]
) -> dict[str, Any]:
    """Return psycopg's arguments for the log-in that may create roles and the extension.

    ``DATABASE_ADMIN_URL`` names it; otherwise it is the owner alias's log-in
    without the role.
    """
    url = environ.get("DATABASE_ADMIN_URL", "").strip()
    if url and not is_embedded(environ):
        return connection_arguments(parse_url("DATABASE_ADMIN_URL", url))
    arguments = connection_arguments(aliases["owner"])
    arguments.pop("options", None)
    return arguments


def parse_url(variable: str, url: str) -> Alias:
    """Return the alias that ``postgresql://user:password@host:port/name?option=value`` names.

    ``?host=/folder`` names a Unix socket, as in libpq. StartError names the
    variable and never repeats the password.
    """
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise StartError(f"{variable} is not a URL: {error}.") from error
    if parts.scheme not in SCHEMES:
        raise StartError(
            f"{variable} must start with postgresql://, it starts with {parts.scheme or 'nothing'}."
        )
    name = unquote(parts.path.lstrip("/"))
    if not name:
        raise StartError(f"{variable} names no database: end it with /memconsole, for instance.")
    options: dict[str, Any] = dict(parse_qsl(parts.query))
    if "options" in options:
        raise StartError(f"{variable} may not carry 'options': MemConsole sets the role there.")
    return _alias(
        NAME=name,
        USER=unquote(parts.username or ""),
        PASSWORD=unquote(parts.password or ""),
        HOST=options.pop("host", "") or unquote(parts.hostname or ""),
        PORT=str(port or options.pop("port", "")),
        OPTIONS=options,
    )


def connection_arguments(alias: Alias) -> dict[str, Any]:
    """Return the arguments for ``psycopg.connect`` that reach an alias's database."""
    named = {
        "dbname": alias["NAME"],
        "user": alias["USER"],
        "password": alias["PASSWORD"],
        "host": alias["HOST"],
        "port": alias["PORT"],
    }
    return {key: value for key, value in named.items() if value} | dict(alias["OPTIONS"])


class OwnerMigrates:
    """Django's router: three aliases of one database, of which only the owner's migrates."""

    def allow_migrate(self, db: str, app_label: str, **hints: object) -> bool:
        """Return True for the owner's alias alone."""
        return db == "owner"

    def allow_relation(self, first: object, second: object, **hints: object) -> bool:
        """Return True: rows read through different aliases are rows of one database."""
        return True


def _alias(**named: Any) -> Alias:
    return {
        "ENGINE": "django.db.backends.postgresql",
        # A thread keeps its connection; a broken one is noticed before the next request uses it.
        "CONN_MAX_AGE": None,
        "CONN_HEALTH_CHECKS": True,
        "OPTIONS": {},
        **named,
    }


def _in_role(alias: Alias, role: str) -> Alias:
    options = {"connect_timeout": 10, "application_name": role, **alias["OPTIONS"]}
    if alias["USER"] != role:
        options["options"] = f"-c role={role}"
    return {**alias, "OPTIONS": options}
