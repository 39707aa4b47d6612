"""Scoring sessions: those that changed are looked at again, then judged among the others.

Owns the work of the job ``suspicion`` and the exact answer of a session's page.
What a session looks like is read from what the write path noted of it and from
its newest facts; what is usual, from the last thousand sessions. The rules are
``domain/suspicion.py``, the statements ``queries/suspicion.py``.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from hashlib import blake2b
from uuid import UUID

from audits.domain.direction import read, words_of
from audits.domain.habits import Baseline
from audits.domain.suspicion import Suspicion, judge
from audits.queries import suspicion as queries
from records.jobs.runs import Run
from records.signals import digest_key

NAMED = 5  # words that a session comes back to, on its page
BATCH = 100  # sessions looked at in one step
BEGINNING = datetime(1970, 1, 1, tzinfo=UTC)
# A write notes the time at which its transaction began; one that takes longer than this to
# commit is seen when the session changes next.
OVERLAP = timedelta(minutes=15)


def score_sessions(run: Run, now: datetime) -> None:
    """Look at the sessions that changed, and bring the scores around them up to date."""
    assert run.workspace_id is not None
    since = run.cursor.get("since")
    begun = datetime.fromisoformat(since) - OVERLAP if since else BEGINNING
    while True:
        with run.step():
            looked = look_at(run.workspace_id, begun, now)
            if looked:
                scored = score_all(run.workspace_id, looked, now)
                run.count(looked=len(looked), scored=scored)
            if len(looked) < BATCH:
                run.cursor["since"] = now.isoformat()
                return


def score_everything(workspace_id: UUID, now: datetime) -> None:
    """Bring every score up to date at once, whatever the job has done. Inside a scope."""
    while looked := look_at(workspace_id, BEGINNING, now):
        score_all(workspace_id, looked, now)
        if len(looked) < BATCH:
            return


def look_at(workspace_id: UUID, since: datetime, now: datetime) -> set[UUID]:
    """Look at a batch of the sessions that changed; return which it was."""
    due = queries.due(workspace_id, since, BATCH)
    if not due:
        return set()
    seen = queries.look(due, workspace_id=workspace_id, keyed=keyed(workspace_id))
    queries.save(seen, workspace_id=workspace_id, now=now)
    return set(due)


def score_all(workspace_id: UUID, looked: set[UUID], now: datetime) -> int:
    """Judge the last sessions among each other; keep what is new or has moved."""
    around = queries.load_around(workspace_id)
    baseline = Baseline(looks for looks, _, _ in around)
    moved: list[tuple[UUID, Suspicion]] = []
    for looks, score, reasons in around:
        found = judge(looks, baseline)
        if looks.session_id in looked or found.score != score or found.as_json() != reasons:
            moved.append((looks.session_id, found))
    if moved:
        queries.save_scores(moved, workspace_id=workspace_id, now=now)
    return len(moved)


def judge_now(session_id: UUID, *, workspace_id: UUID) -> Suspicion | None:
    """Return what a session scores at this moment; ``None`` when nothing is noted of it."""
    seen = queries.look([session_id], workspace_id=workspace_id, keyed=keyed(workspace_id))
    if not seen:
        return None
    looks = seen[0][0]
    around = [one for one, _, _ in queries.load_around(workspace_id)]
    others = [one for one in around if one.session_id != session_id]
    return judge(looks, Baseline([*others, looks]))


def what_repeats(session_id: UUID, *, workspace_id: UUID) -> list[tuple[str, int]]:
    """Return the words that a session comes back to as they stand in its facts, and in how many."""
    facts = queries.list_facts(session_id, workspace_id=workspace_id)
    found = read(facts, keyed=lambda word: word)
    words = ((words_of(facts, one.term), one.facts) for one in found.repeated[:NAMED])
    return [(word, count) for word, count in words if word]


def keyed(workspace_id: UUID) -> Callable[[int], int]:
    """Return what turns a word's number into the one that is stored: its digest under a key."""
    key = digest_key(workspace_id)
    known: dict[int, int] = {}

    def digest(word: int) -> int:
        found = known.get(word)
        if found is None:
            raw = blake2b(word.to_bytes(4, signed=True), digest_size=4, key=key).digest()
            found = known[word] = int.from_bytes(raw, signed=True)
        return found

    return digest
