"""The schema's promises, read from the catalogue as it really is."""

from __future__ import annotations

import pytest
from django.db import connection, connections

from records.domain.facts import Cardinality, HoldReason, Outcome, Status

NO_ROWS_OF_A_WORKSPACE = {
    # The framework's own, and people: they hold no memory and no workspace.
    "django_migrations",
    "login_failure",
    "django_content_type",
    "django_session",
    "auth_permission",
    "auth_group",
    "auth_group_permissions",
    "audits_user",
    "audits_user_groups",
    "audits_user_user_permissions",
}


def rows(sql: str, *parameters: object) -> list[tuple[object, ...]]:
    with connections["owner"].cursor() as cursor:
        cursor.execute(sql, parameters)
        return list(cursor.fetchall())


def test_every_table_forces_row_level_security() -> None:
    found = rows(
        """SELECT relname FROM pg_class JOIN pg_namespace n ON n.oid = relnamespace
           WHERE nspname = 'public' AND relkind IN ('r', 'p') AND NOT relispartition
             AND NOT (relrowsecurity AND relforcerowsecurity)"""
    )
    assert {str(name) for (name,) in found} <= NO_ROWS_OF_A_WORKSPACE


def test_partitions_of_a_log_cannot_be_read_around_the_parents_policy() -> None:
    found = rows(
        """SELECT c.relname FROM pg_class c WHERE c.relispartition AND c.relkind = 'r'
             AND (has_table_privilege('memconsole_app', c.oid, 'SELECT')
                  OR has_table_privilege('memconsole_app', c.oid, 'INSERT'))"""
    )
    assert found == []
    assert rows("SELECT 1 FROM pg_class WHERE relispartition AND relkind = 'r'")


@pytest.mark.parametrize("table", ["memory_record", "claim", "event", "recall", "serve", "fence"])
def test_the_application_may_delete_no_history(table: str) -> None:
    for right in ("DELETE", "TRUNCATE"):
        (answer,) = rows("SELECT has_table_privilege('memconsole_app', %s, %s)", table, right)[0]
        assert answer is False


def test_the_application_owns_nothing_and_is_no_superuser() -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT rolsuper, rolbypassrls, current_user FROM pg_roles WHERE rolname = current_user"
        )
        assert cursor.fetchone() == (False, False, "memconsole_app")
    assert rows("SELECT 1 FROM pg_tables WHERE tableowner = 'memconsole_app'") == []


def constraint(name: str) -> str:
    ((text,),) = rows(
        "SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE conname = %s", name
    )
    return str(text)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("memory_record_status_check", list(Status)),
        ("memory_record_hold_check", list(HoldReason)),
        ("memory_record_verdict_check", list(Outcome)),
        ("memory_record_cardinality_check", list(Cardinality)),
    ],
)
def test_the_database_knows_the_same_words_as_the_code(name: str, words: list[str]) -> None:
    text = constraint(name)
    assert {w for w in text.split("'")[1::2] if w} == set(words)


def test_every_foreign_key_between_scoped_tables_carries_the_workspace() -> None:
    found = rows(
        """SELECT c.conname, array_agg(a.attname::text) FROM pg_constraint c
           JOIN pg_attribute a ON a.attrelid = c.conrelid AND a.attnum = ANY (c.conkey)
           JOIN pg_class target ON target.oid = c.confrelid
           WHERE c.contype = 'f' AND target.relname NOT IN ('workspace')
             AND EXISTS (SELECT 1 FROM pg_attribute w WHERE w.attrelid = c.confrelid
                         AND w.attname = 'workspace_id')
           GROUP BY c.conname"""
    )
    assert found
    assert [name for name, columns in found if "workspace_id" not in list(columns)] == []
