"""Whether this process is alive, and whether it could answer a real request.

Owns ``/healthz`` and ``/readyz``; neither needs a key, so neither says more
than which part fails. Details go to the log.
"""

from __future__ import annotations

import logging
from collections.abc import Callable

from django.db import connections
from django.db.migrations.loader import MigrationLoader
from django.http import HttpRequest, JsonResponse
from django.views.decorators.http import require_safe

from memconsole.celery import app

logger = logging.getLogger(__name__)
BROKER_TIMEOUT_SECONDS = 2


@require_safe
def alive(request: HttpRequest) -> JsonResponse:
    """Answer 200 as long as the process answers at all."""
    return JsonResponse({"status": "ok"})


@require_safe
def ready(request: HttpRequest) -> JsonResponse:
    """Answer 200 when database, broker and migrations are there, else 503 naming the part."""
    parts = {name: _passes(name, check) for name, check in CHECKS.items()}
    failing = [name for name, passed in parts.items() if not passed]
    body = {
        "status": "unavailable" if failing else "ok",
        "failing": failing,
        "checks": {name: "ok" if passed else "failed" for name, passed in parts.items()},
    }
    return JsonResponse(body, status=503 if failing else 200)


def check_database() -> None:
    """Ask the database for one row, as the application's role."""
    with connections["default"].cursor() as cursor:
        cursor.execute("SELECT 1")


def check_broker() -> None:
    """Connect to the broker."""
    with app.connection_for_write(connect_timeout=BROKER_TIMEOUT_SECONDS) as connection:
        connection.ensure_connection(max_retries=1, timeout=BROKER_TIMEOUT_SECONDS)


def check_migrations() -> None:
    """Compare the migrations of the code with those applied; LookupError names what is missing.

    Passing is remembered: the code of a running process does not change, and
    migrations are only ever added.
    """
    global _migrated
    if _migrated:
        return
    loader = MigrationLoader(connections["default"])
    missing = loader.graph.nodes.keys() - loader.applied_migrations.keys()
    if missing:
        raise LookupError(f"not applied: {', '.join('.'.join(key) for key in sorted(missing))}")
    _migrated = True


_migrated = False
CHECKS: dict[str, Callable[[], None]] = {
    "database": check_database,
    "broker": check_broker,
    "migrations": check_migrations,
}


def _passes(name: str, check: Callable[[], None]) -> bool:
    try:
        check()
    except Exception as error:  # noqa: BLE001
        # Whatever it is, the answer is the same: this part does not work now.
        logger.error("The readiness check of %s failed: %s", name, error)
        return False
    return True
