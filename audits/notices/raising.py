"""What raises a notice: an event, or a number over a rule's; and what a quiet period keeps back.

Owns the tables ``notice`` (adding) and ``notice_quiet``. A notice that an event
raises is written in the event's transaction: both or neither. Within a rule's
quiet period a target is told of once; what happened meanwhile is counted and
told at its end. A rule that many targets set off goes over to counting as well.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from typing import Any
from uuid import UUID

from django.db import transaction
from django.utils import timezone
from psycopg.types.json import Jsonb

from audits.domain.notices import BY_EVENT, STORM, Kind
from records import queries
from records.access import Access
from records.domain.ids import uuid7
from records.events import Happening
from records.scope import workspace_scope

RULES = """SELECT r.id, r.channel_id, r.kind, r.threshold, r.quiet_minutes
FROM notice_rule r JOIN notice_channel c ON c.id = r.channel_id
WHERE r.workspace_id = %s AND r.kind = ANY(%s) AND r.is_active AND r.removed_at IS NULL
  AND c.is_active AND c.removed_at IS NULL ORDER BY r.id"""
TOUCH = """INSERT INTO notice_quiet (rule_id, target, workspace_id) VALUES (%s, %s, %s)
ON CONFLICT DO NOTHING"""
LOCK = "SELECT until, kept FROM notice_quiet WHERE rule_id = %s AND target = %s FOR UPDATE"
LOUD = """SELECT count(*) FROM (SELECT 1 FROM notice_quiet WHERE rule_id = %s AND until > %s
    LIMIT %s) AS one"""
QUIET = "UPDATE notice_quiet SET until = %s, kept = %s WHERE rule_id = %s AND target = %s"
KEEP = "UPDATE notice_quiet SET kept = kept + 1 WHERE rule_id = %s AND target = %s"
KEEP_ALL = """INSERT INTO notice_quiet AS q (rule_id, target, workspace_id, until, kept)
VALUES (%s, '*', %s, %s, 1)
ON CONFLICT (rule_id, target) DO UPDATE SET kept = q.kept + 1,
    until = coalesce(q.until, excluded.until)"""
FORGET = "DELETE FROM notice_quiet WHERE rule_id = %s AND target = %s"
OVER = """SELECT q.rule_id, q.target, q.kept, r.channel_id, r.kind, r.quiet_minutes
FROM notice_quiet q JOIN notice_rule r ON r.id = q.rule_id
JOIN notice_channel c ON c.id = r.channel_id
WHERE q.workspace_id = %s AND (q.until <= %s OR q.until IS NULL)
  AND r.is_active AND r.removed_at IS NULL AND c.is_active AND c.removed_at IS NULL
ORDER BY q.rule_id, q.target LIMIT 500 FOR UPDATE OF q SKIP LOCKED"""
ADD = """INSERT INTO notice (id, workspace_id, channel_id, rule_id, kind, target_kind, target,
                    numbers, more, created_at, next_at)
VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)"""

MANY = "*"  # the target that stands for all beyond a storm's first


@dataclass(frozen=True, slots=True)
class Signal:
    """Something a rule may want to tell: of which target, with which numbers.

    ``level``: it holds on and is seen again and again, so that only what is
    told is a notice and what is kept back is not counted.
    """

    kind: Kind
    target_kind: str = ""
    target: str = ""
    numbers: Mapping[str, Any] = field(default_factory=dict)
    level: bool = False
    over: Callable[[float], bool] | None = None  # whether a rule's number is passed


@dataclass(frozen=True, slots=True)
class Rule:
    """An active rule of an active channel."""

    id: UUID
    channel_id: UUID
    kind: Kind
    threshold: float | None
    quiet: timedelta


def on_events(happenings: Sequence[Happening], access: Access) -> None:
    """Raise what these events say; called in their transaction, once they are written."""
    signals = [
        Signal(
            BY_EVENT[one.action],
            one.target_kind,
            str(one.target_id or ""),
            {"action": one.action, "count": one.count},
        )
        for one in happenings
        if one.action in BY_EVENT and one.outcome != "denied"
    ]
    if not signals:
        return
    with queries.cursor() as cursor:
        sees_all = cursor.execute("SELECT memconsole_whole_workspace()").fetchone()
    if sees_all is not None and sees_all[0]:
        raise_all(signals, workspace_id=access.workspace_id, now=timezone.now())
    else:
        # A key of one partition does not see the rules, and must not.
        transaction.on_commit(partial(_raise_afterwards, signals, access.workspace_id), robust=True)


def _raise_afterwards(signals: Sequence[Signal], workspace_id: UUID) -> None:
    with workspace_scope(workspace_id):
        raise_all(signals, workspace_id=workspace_id, now=timezone.now())


def raise_all(signals: Iterable[Signal], *, workspace_id: UUID, now: datetime) -> int:
    """Write the notices that the workspace's rules make of these signals; return how many.

    Inside the workspace's scope. Targets are taken in order, so that two
    transactions wait for each other in one direction only.
    """
    wanted = sorted(signals, key=lambda one: (one.kind, one.target))
    rules = load_rules(workspace_id, {one.kind for one in wanted})
    raised = 0
    for rule in rules:
        for signal in wanted:
            if signal.kind is rule.kind and _is_over(signal, rule):
                raised += _raise(rule, signal, workspace_id, now)
    return raised


def load_rules(workspace_id: UUID, kinds: Iterable[Kind]) -> list[Rule]:
    """Return the active rules of these kinds."""
    with queries.cursor() as cursor:
        cursor.execute(RULES, [workspace_id, [str(one) for one in kinds]])
        return [
            Rule(row[0], row[1], Kind(row[2]), row[3], timedelta(minutes=row[4])) for row in cursor
        ]


def tell_kept(workspace_id: UUID, now: datetime) -> int:
    """Tell what quiet periods that are over kept back; return how many notices that made."""
    told = 0
    with queries.cursor() as cursor:
        cursor.execute(OVER, [workspace_id, now])
        for rule_id, target, kept, channel_id, kind, minutes in cursor.fetchall():
            if not kept:
                cursor.execute(FORGET, [rule_id, target])
                continue
            rule = Rule(rule_id, channel_id, Kind(kind), None, timedelta(minutes=minutes))
            signal = Signal(Kind(kind), "", "" if target == MANY else target, {"digest": True})
            _add(cursor, rule, signal, workspace_id, now, more=kept)
            cursor.execute(QUIET, [now + rule.quiet, 0, rule_id, target])
            told += 1
    return told


def _is_over(signal: Signal, rule: Rule) -> bool:
    return signal.over is None or (rule.threshold is not None and signal.over(rule.threshold))


def _raise(rule: Rule, signal: Signal, workspace_id: UUID, now: datetime) -> int:
    with queries.cursor() as cursor:
        if not rule.quiet:
            _add(cursor, rule, signal, workspace_id, now)
            return 1
        cursor.execute(TOUCH, [rule.id, signal.target, workspace_id])
        cursor.execute(LOCK, [rule.id, signal.target])
        row = cursor.fetchone()
        assert row is not None
        until, kept = row
        if until is not None and until > now:
            if not signal.level:
                cursor.execute(KEEP, [rule.id, signal.target])
            return 0
        cursor.execute(LOUD, [rule.id, now, STORM])
        loud = cursor.fetchone()
        if loud is not None and loud[0] >= STORM:
            cursor.execute(FORGET, [rule.id, signal.target])
            cursor.execute(KEEP_ALL, [rule.id, workspace_id, now + rule.quiet])
            return 0
        _add(cursor, rule, signal, workspace_id, now, more=kept)
        cursor.execute(QUIET, [now + rule.quiet, 0, rule.id, signal.target])
        return 1


def _add(
    cursor: Any, rule: Rule, signal: Signal, workspace_id: UUID, now: datetime, *, more: int = 0
) -> None:
    cursor.execute(
        ADD,
        [
            uuid7(now), workspace_id, rule.channel_id, rule.id, str(signal.kind),
            signal.target_kind, signal.target, Jsonb(dict(signal.numbers)), more, now, now,
        ],
    )  # fmt: skip
