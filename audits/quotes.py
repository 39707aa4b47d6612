"""What people wrote that quotes a fact which is being erased, and filters that name it.

Owns the list of columns of ``audits`` (and of ``records``' typed reasons) that
may hold such words. Notes on an erased record go whole; elsewhere only the
quoted name or value is replaced, so that an incident's story stays readable.
A phrase that a fact outside the erasure says too identifies nobody and stays.
Registered with ``records.erasing`` by ``apps.py``; runs inside the erasure's
transaction. Reasons in the audit trail itself cannot be changed by anybody.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote_plus
from uuid import UUID

import psycopg

from records import events
from records.access import Access
from records.domain import quotes
from records.domain.quotes import Phrases
from records.domain.terms import query_terms
from records.erasing import Going
from records.events import Happening
from records.queries import Row

PIECE = 1_000
SHORTEST_LIMIT = 60  # characters that each of these columns takes at least
ELSEWHERE_MOST = 50  # facts looked at to see whether somebody else says the phrase, too


@dataclass(frozen=True, slots=True)
class Held:
    """One table's columns of typed text: plain, JSON, or the query of a URL."""

    table: str
    title: str
    plain: tuple[str, ...] = ()
    json: tuple[str, ...] = ()
    query: tuple[str, ...] = ()

    @property
    def columns(self) -> tuple[str, ...]:
        """Every column, in the order in which a row is read."""
        return (*self.plain, *self.json, *self.query)


HELD = (
    Held("incident", "incidents", ("title", "summary", "cause", "lessons", "waived_reason")),
    Held("incident_scope", "scopes of incidents", ("text",)),
    Held("incident_task", "tasks of incidents", ("title",)),
    Held("incident_note", "notes of incidents", ("text",)),
    Held("session_note", "notes on sessions", ("text",)),
    Held("review_note", "notes on records", ("text",)),
    Held("review_decision", "notes of reviewers", ("note",), ("answer",)),
    Held(
        "operation", "operations", ("title", "reason", "note"), ("scope", "options", "receipt")
    ),
    Held("approval", "approvals", ("summary", "reason", "decided_reason")),
    Held("legal_hold", "legal holds", ("reason", "release_reason")),
    Held("subject_request", "subject requests", ("reason",), ("counts",)),
    Held("saved_view", "saved views", ("name",), query=("query",)),
    Held("export", "exports", (), ("manifest",), ("query",)),
    Held("session", "reasons of suspended sessions", ("suspended_reason",)),
    Held("source", "reasons of suspended sources", ("suspended_reason",)),
    Held("fence", "reasons of fences", ("reason",)),
    Held("import_run", "imports", (), ("options",)),
    Held("sample_batch", "samples", (), ("scope",)),
    Held("scan", "scans", ("scope_title",), ("scope", "rules", "softened")),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Quote:
    """One row that quotes what is being erased: where it is, and which words."""

    held: Held
    id: UUID
    phrases: frozenset[str]
    changed: dict[str, Any]


def destroy_quotes(cur: psycopg.Cursor[Row], going: Going, access: Access) -> None:
    """Take the words of records that are being erased out of what people wrote."""
    with erasing_words(cur):
        ids = list(going.record_ids)
        cur.execute(
            "UPDATE review_note SET text = %s WHERE record_id = ANY(%s)", [quotes.MARK, ids]
        )
        cur.execute(
            """UPDATE review_decision SET note = '', answer = '{}' WHERE record_id = ANY(%s)""",
            [ids],
        )
        cur.execute("UPDATE sample_item SET value = '' WHERE record_id = ANY(%s)", [ids])
        # Numbers made of words, as search terms are: made anew when the session is looked at again.
        cur.execute(
            """UPDATE session_suspicion SET vocabulary = '{}', sentences = '{}', stated = '{}'
               WHERE workspace_id = %s AND session_id IN (
                   SELECT session_id FROM claim WHERE record_id = ANY(%s))""",
            [access.workspace_id, ids],
        )
        changed = _replace(cur, find_quotes(cur, going, access.workspace_id), access.workspace_id)
        if changed:
            events.append(
                [
                    Happening(
                        "erasure.quotes", count=sum(changed.values()), details={"kinds": changed}
                    )
                ],
                access=access,
            )


def replace_everywhere(
    cur: psycopg.Cursor[Row], phrases: Phrases, workspace_id: UUID
) -> dict[str, int]:
    """Take phrases out of all that people wrote, whoever else may say them; return counts."""
    with erasing_words(cur):
        found = _quotes_of(cur, phrases, lambda _: False, workspace_id)
        return _replace(cur, found, workspace_id)


def find_quotes(cur: psycopg.Cursor[Row], going: Going, workspace_id: UUID) -> list[Quote]:
    """Return the rows that quote these records, with what they would say without them."""
    return _quotes_of(
        cur, going.phrases(), lambda one: _is_said_elsewhere(cur, one, going), workspace_id
    )


def count_quotes(cur: psycopg.Cursor[Row], going: Going, workspace_id: UUID) -> dict[str, int]:
    """Return how many rows of which kind quote these records, for a preview."""
    counts: dict[str, int] = {}
    for quote in find_quotes(cur, going, workspace_id):
        counts[quote.held.title] = counts.get(quote.held.title, 0) + 1
    return counts


def _quotes_of(
    cur: psycopg.Cursor[Row],
    phrases: Phrases,
    is_common: Callable[[str], bool],
    workspace_id: UUID,
) -> list[Quote]:
    """Return the rows that quote these phrases, those left out that ``is_common``."""
    common: dict[str, bool] = {}
    found: list[Quote] = []
    for held in HELD if phrases else ():
        for row_id, values in _rows(cur, held, workspace_id):
            hits = set().union(*(_found(held, name, values[name], phrases) for name in values))
            for one in hits - common.keys():
                common[one] = is_common(one)
            telling = frozenset(one for one in hits if not common[one])
            if telling:
                found.append(Quote(held, row_id, telling, _changes(held, values, telling)))
    return found


def _replace(
    cur: psycopg.Cursor[Row], found: Iterable[Quote], workspace_id: UUID
) -> dict[str, int]:
    counts: dict[str, int] = {}
    for quote in found:
        names = list(quote.changed)
        sets = ", ".join(f"{name} = %s" for name in names)
        cur.execute(
            f"UPDATE {quote.held.table} SET {sets} WHERE id = %s AND workspace_id = %s",
            [*(quote.changed[name] for name in names), quote.id, workspace_id],
        )
        counts[quote.held.table] = counts.get(quote.held.table, 0) + 1
    return counts


def _rows(
    cur: psycopg.Cursor[Row], held: Held, workspace_id: UUID
) -> Iterator[tuple[UUID, dict[str, Any]]]:
    after = UUID(int=0)
    while True:
        cur.execute(
            f"""SELECT id, {", ".join(held.columns)} FROM {held.table}
                WHERE workspace_id = %s AND id > %s ORDER BY id LIMIT %s""",
            [workspace_id, after, PIECE],
        )
        rows = cur.fetchall()
        for row in rows:
            values = dict(zip(held.columns, row[1:], strict=True))
            for name in held.json:
                if isinstance(values[name], str):
                    values[name] = json.loads(values[name])
            yield row[0], values
        if len(rows) < PIECE:
            return
        after = rows[-1][0]


def _found(held: Held, name: str, value: Any, phrases: Phrases) -> set[str]:
    if not value:
        return set()
    if name in held.json:
        return set().union(*(phrases.found_in(one) for one in quotes.strings_of(value)))
    return phrases.found_in(unquote_plus(value) if name in held.query else value)


def _changes(held: Held, values: dict[str, Any], phrases: frozenset[str]) -> dict[str, Any]:
    changes: dict[str, Any] = {}
    for name, value in values.items():
        if not value:
            continue
        clean: Callable[[Any, frozenset[str]], Any] = quotes.without
        if name in held.json:
            clean = quotes.without_in_json
        elif name in held.query:
            clean = quotes.without_in_query
        new = clean(value, phrases)
        if isinstance(new, str):
            new = new[: max(len(value), SHORTEST_LIMIT)]  # the mark may be longer than the name
        if new != value:
            changes[name] = json.dumps(new) if name in held.json else new
    return changes


def _is_said_elsewhere(cur: psycopg.Cursor[Row], phrase: str, going: Going) -> bool:
    """Say whether a fact outside the erasure has this phrase as its subject or its value."""
    words = query_terms(phrase)
    if not words:
        return False
    cur.execute(
        """SELECT 1 FROM memconsole_search(%s, NULL, %s) AS found (id)
           JOIN memory_record r ON r.id = found.id
           WHERE r.id <> ALL(%s) AND r.partition_id <> ALL(%s) AND r.status <> 'erased'
             AND (lower(r.subject) = %s OR lower(r.value) = %s) LIMIT 1""",
        [
            list(words),
            ELSEWHERE_MOST,
            list(going.record_ids),
            list(going.partition_ids),
            phrase,
            phrase,
        ],
    )
    return cur.fetchone() is not None


@contextmanager
def erasing_words(cur: psycopg.Cursor[Row]) -> Iterator[None]:
    """Reach what people wrote, whoever erases, and say to the database that words may go."""
    names = ("memconsole.reach", "memconsole.erasing")
    before = []
    for name, value in zip(names, ("workspace", "on"), strict=True):
        cur.execute(
            "SELECT current_setting(%s, true), set_config(%s, %s, true)", [name, name, value]
        )
        row = cur.fetchone()
        before.append((row[0] if row else None) or "")
    yield
    for name, value in zip(names, before, strict=True):
        cur.execute("SELECT set_config(%s, %s, true)", [name, value])
