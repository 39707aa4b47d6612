"""Feedback: what sessions say about the memories they were served.

Owns the counting of voices and what follows from it, within bounds: a session
speaks once about a record, its latest word counts, and it cannot vouch for
what it wrote itself. Must not decide alone that a record is wrong: that goes
to a person (``curate.hold``). Read docs/recall.md for the bounds.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from uuid import UUID

import psycopg

from records import curate, events, queries, store
from records.access import Access
from records.domain import canonical
from records.domain.facts import HoldReason, Status
from records.domain.ids import made_at
from records.events import Happening
from records.items import NAME_LIMIT, BadRequest, FieldError, NotFound
from records.queries import Row
from records.scope import partition_scope, retried, workspace_scope

CONFIRMED_STEP = 0.05  # for each session that confirms
CONFIRMED_LIMIT = 0.15  # over the confidence that the record was written with
WRONG_VOICES = 2  # as many sessions take a record out of service, until a person decides
TRUSTED = 2  # records of a trusted source are marked for a recheck instead
REASON = "feedback"
EPSILON = 1e-6  # confidence is kept in four bytes
HOUR = timedelta(hours=1)  # last_seen in the record's own row moves no more often


class Word(StrEnum):
    """What a session may say of a memory."""

    CONFIRMED = "confirmed"
    WRONG = "wrong"
    STALE = "stale"


@dataclass(frozen=True, slots=True)
class FeedbackResult:
    """What the word did: whether it counts, how many say what now, and where the record stands.

    ``why`` says why it does not count: ``own`` (the session wrote the record),
    ``repeated`` (it said so before), ``not_active``.
    """

    memory_id: UUID
    verdict: str
    counted: bool
    why: str
    confirmed: int
    wrong: int
    stale: int
    status: str
    confidence: float
    recheck: bool


@dataclass(slots=True)
class Subject:
    """The record under feedback, as it stands while its slot is locked."""

    id: UUID
    partition_id: UUID
    status: Status
    trust: int
    confidence: float
    stated: float
    claimed: float
    confirmed: int
    recheck_reason: str | None


RECALL = """SELECT partition_id, session_id, at FROM recall
            WHERE id = %(id)s AND at >= %(from)s AND at < %(until)s"""
SERVED = "SELECT 1 FROM serve WHERE recall_id = %s AND record_id = %s AND at = %s"
SLOT = "SELECT slot_id FROM memory_record WHERE id = %s"
RECORD = """SELECT id, partition_id, status, trust, confidence, stated_confidence,
                   greatest(stated_confidence, (SELECT max(c.confidence) FROM claim c
                            WHERE c.record_id = r.id AND c.state = 'live')),
                   coalesce((SELECT t.confirmed FROM tally t WHERE t.record_id = r.id), 0),
                   recheck_reason
            FROM memory_record r WHERE id = %s"""
SAY = """INSERT INTO feedback (record_id, session_id, workspace_id, partition_id, recall_id,
                               verdict, at)
         VALUES (%(record)s, %(session)s, %(workspace)s, %(partition)s, %(recall)s, %(verdict)s,
                 %(now)s)
         ON CONFLICT (record_id, session_id) DO UPDATE
         SET verdict = excluded.verdict, at = excluded.at, recall_id = excluded.recall_id
         WHERE feedback.verdict <> excluded.verdict"""
# Suspended sessions have no voice, and nobody has one in their own cause.
COUNT = """SELECT f.verdict, count(*) FROM feedback f
           WHERE f.record_id = %(record)s AND NOT EXISTS (
                 SELECT 1 FROM session s WHERE s.id = f.session_id AND s.suspended_at IS NOT NULL)
             AND (f.verdict <> 'confirmed' OR NOT EXISTS (
                 SELECT 1 FROM claim c WHERE c.record_id = f.record_id
                    AND c.session_id = f.session_id))
           GROUP BY f.verdict"""
TALLY = """INSERT INTO tally AS t (record_id, workspace_id, partition_id, seen_count, first_seen,
                                   last_seen, sessions, sources, confirmed, wrong, stale)
           SELECT id, workspace_id, partition_id, 1, least(written_at, last_seen), last_seen,
                  CASE WHEN derived THEN 0 ELSE 1 END, CASE WHEN derived THEN 1 ELSE 0 END,
                  %(confirmed)s, %(wrong)s, %(stale)s
           FROM memory_record WHERE id = %(record)s
           ON CONFLICT (record_id) DO UPDATE SET confirmed = excluded.confirmed,
              wrong = excluded.wrong, stale = excluded.stale"""


@retried
def give(
    recall_id: UUID,
    memory_id: UUID,
    verdict: str,
    *,
    session: str | None = None,
    access: Access,
    now: datetime | None = None,
) -> FeedbackResult:
    """Take down what a session says of a memory that a recall served it.

    The voice is the session that was served; where the recall named none it is
    ``session``, else the key itself. NotFound when the recall is out of reach
    or did not serve the memory. One transaction, with its events.
    """
    now = now or datetime.now(UTC)
    word = _word(verdict)
    _check_session(session)
    partition_id, voice, served_at = _recall(recall_id, access)
    with partition_scope(access.workspace_id, [partition_id]), queries.cursor() as cur:
        if cur.execute(SERVED, [recall_id, memory_id, served_at]).fetchone() is None:
            raise NotFound("recall")
        voice = voice or canonical.session_id(
            access.workspace_id, partition_id, session or f"feedback by {access.actor}"
        )
        about = _lock(cur, memory_id, access.workspace_id, partition_id)
        said = cur.execute(
            SAY,
            {
                "record": memory_id,
                "session": voice,
                "workspace": access.workspace_id,
                "partition": partition_id,
                "recall": recall_id,
                "verdict": str(word),
                "now": now,
            },
        ).rowcount
        return _follow(cur, about, word, voice, is_new=bool(said), access=access, now=now)


def _follow(
    cur: psycopg.Cursor[Row],
    about: Subject,
    word: Word,
    voice: UUID,
    *,
    is_new: bool,
    access: Access,
    now: datetime,
) -> FeedbackResult:
    """Count the voices afresh and do what follows."""
    own = bool(
        cur.execute(
            "SELECT 1 FROM claim WHERE record_id = %s AND session_id = %s LIMIT 1",
            [about.id, voice],
        ).fetchone()
    )
    counts = dict.fromkeys(Word, 0) | {
        Word(row[0]): row[1] for row in cur.execute(COUNT, {"record": about.id})
    }
    why = ""
    if word is Word.CONFIRMED and own:
        why = "own"
    elif not is_new:
        why = "repeated"
    elif about.status is not Status.ACTIVE:
        why = "not_active"
    before = about.confidence
    if is_new:
        cur.execute(TALLY, {"record": about.id, **{str(one): n for one, n in counts.items()}})
        if about.status is Status.ACTIVE:
            _weigh(cur, about, counts[Word.CONFIRMED], confirmed_now=not why, word=word, now=now)
            _recheck(cur, about, counts, now)
        events.append(
            [
                Happening(
                    f"feedback.{word}",
                    "record",
                    target_id=about.id,
                    partition_id=about.partition_id,
                    session_id=voice,
                    details={
                        "counted": not why,
                        "why": why,
                        "confidence": [round(before, 6), round(about.confidence, 6)],
                        "recheck": about.recheck_reason or "",
                        **{str(one): n for one, n in counts.items()},
                    },
                )
            ],
            access=access,
        )
        if _is_condemned(about, counts):
            curate.hold([about.id], HoldReason.FEEDBACK, access=access, note=REASON, now=now)
            about.status = Status.QUARANTINED
    return FeedbackResult(
        memory_id=about.id,
        verdict=str(word),
        counted=not why,
        why=why,
        confirmed=counts[Word.CONFIRMED],
        wrong=counts[Word.WRONG],
        stale=counts[Word.STALE],
        status=str(about.status),
        confidence=round(about.confidence, 6),
        recheck=about.recheck_reason is not None,
    )


def _weigh(
    cur: psycopg.Cursor[Row],
    about: Subject,
    confirmed: int,
    *,
    confirmed_now: bool,
    word: Word,
    now: datetime,
) -> None:
    """Strengthen what others confirm, and let it be seen now."""
    bonus = min(CONFIRMED_LIMIT, CONFIRMED_STEP * confirmed)
    confidence = max(about.claimed, min(1.0, about.stated + bonus))
    if word is Word.CONFIRMED and confirmed_now:
        cur.execute(
            "UPDATE tally SET last_seen = greatest(last_seen, %s) WHERE record_id = %s",
            [now, about.id],
        )
        cur.execute(
            "UPDATE memory_record SET last_seen = %s WHERE id = %s AND last_seen < %s",
            [now, about.id, now - HOUR],
        )
    if confirmed != about.confirmed and abs(confidence - about.confidence) > EPSILON:
        cur.execute(
            "UPDATE memory_record SET confidence = %s WHERE id = %s", [confidence, about.id]
        )
        about.confidence = confidence


def _recheck(
    cur: psycopg.Cursor[Row], about: Subject, counts: dict[Word, int], now: datetime
) -> None:
    """Mark what is called stale, or wrong though trusted; take the mark back with the word."""
    doubted = counts[Word.STALE] > 0 or (
        about.trust >= TRUSTED and counts[Word.WRONG] >= WRONG_VOICES
    )
    if doubted and about.recheck_reason is None:
        cur.execute(
            "UPDATE memory_record SET recheck_at = %s, recheck_reason = %s WHERE id = %s",
            [now, REASON, about.id],
        )
        about.recheck_reason = REASON
    elif not doubted and about.recheck_reason == REASON:
        cur.execute(
            "UPDATE memory_record SET recheck_at = NULL, recheck_reason = NULL WHERE id = %s",
            [about.id],
        )
        about.recheck_reason = None


def _is_condemned(about: Subject, counts: dict[Word, int]) -> bool:
    return (
        about.status is Status.ACTIVE
        and about.trust < TRUSTED
        and counts[Word.WRONG] >= WRONG_VOICES
    )


def _recall(recall_id: UUID, access: Access) -> tuple[UUID, UUID | None, datetime]:
    """Return the partition, session and time of a recall within this access's reach.

    A key of the whole workspace names no partition here, so that this one look
    has its reach; everything else happens in the recall's partition.
    """
    if access.partition is not None:
        scope = partition_scope(access.workspace_id, [access.partition_id(access.partition)])
    else:
        scope = workspace_scope(access.workspace_id)
    made = made_at(recall_id)
    if made is None:
        raise NotFound("recall")
    # One month's table is looked at, and not all of them.
    around = {"id": recall_id, "from": made - HOUR, "until": made + HOUR}
    with scope, queries.cursor() as cur:
        row = cur.execute(RECALL, around).fetchone()
    if row is None:
        raise NotFound("recall")
    return row[0], row[1], row[2]


def _lock(
    cur: psycopg.Cursor[Row], memory_id: UUID, workspace_id: UUID, partition_id: UUID
) -> Subject:
    """Lock the record's slot, as every writer does, then read the record."""
    row = cur.execute(SLOT, [memory_id]).fetchone()
    if row is None:
        raise NotFound("record")
    store.lock_slots(cur, workspace_id, {row[0]: partition_id})
    row = cur.execute(RECORD, [memory_id]).fetchone()
    assert row is not None
    return Subject(row[0], row[1], Status(row[2]), *row[3:])


def _word(verdict: str) -> Word:
    try:
        return Word(verdict)
    except ValueError:
        raise BadRequest(
            FieldError("verdict", f"must be one of {', '.join(Word)}", "choice")
        ) from None


def _check_session(session: str | None) -> None:
    if session is not None and not 1 <= len(session) <= NAME_LIMIT:
        raise BadRequest(
            FieldError("session", f"must have 1 to {NAME_LIMIT} characters", "length", NAME_LIMIT)
        )
