"""What needs a person, as the overview's table says it: what, why, since when, whose, what to do.

Owns the words and the links; reads nothing. Read ``queries/attention.py`` for the rows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from audits.access import ConsoleRequest
from audits.domain.roles import Permission
from audits.queries.attention import SHOWN
from audits.queries.shell import Shell
from audits.views.pages import url
from records.jobs.overview import JobStatus


@dataclass(frozen=True, slots=True)
class Need:
    """One line; ``what`` is hostile text. ``more`` leads to the others of its kind."""

    what: str
    why: str
    at: datetime | None
    owner: str
    href: str
    act: str
    more: str = ""


def of_rows(request: ConsoleRequest, rows: Iterable[Mapping[str, Any]]) -> list[Need]:
    """Return the lines for what ``list_needs`` found."""
    kinds: Counter[str] = Counter()
    found: list[Need] = []
    for row in rows:
        kind = row["kind"]
        kinds[kind] += 1
        if kinds[kind] > SHOWN:
            last = max(n for n, one in enumerate(found) if one.act == ACTS[kind])
            one = found[last]
            found[last] = Need(
                one.what, one.why, one.at, one.owner, one.href, one.act, _all(request, kind)
            )
            continue
        found.append(_need(request, kind, row))
    return found


def of_jobs(request: ConsoleRequest, troubled: Iterable[JobStatus]) -> list[Need]:
    """Return a line for each background job that did not finish."""
    return [
        Need(
            job.title,
            "the last run failed" if job.state == "failed" else "its worker was lost",
            job.started_at,
            job.requested_by,
            url(request, "jobs"),
            "See the job",
        )
        for job in troubled
    ]


def of_trail(request: ConsoleRequest, shell: Shell | None) -> list[Need]:
    """Return the line for a trail that does not hold."""
    if shell is None or shell.is_whole is not False:
        return []
    href = url(request, "trail") if request.here.may(Permission.SEE_TRAIL) else ""
    where = f" at event #{shell.broken_at}" if shell.broken_at else ""
    return [Need("Audit trail", f"broken{where}", shell.checked_at, "", href, "Open the trail")]


ACTS = {
    "held": "Decide",
    "incident": "Acknowledge",
    "approval": "Answer",
    "operation": "See what failed",
    "session": "Look at it",
    "rule": "Look at the rule",
}


def _need(request: ConsoleRequest, kind: str, row: Mapping[str, Any]) -> Need:
    if kind == "held":
        name = "queue-item" if request.here.may(Permission.REVIEW) else "record"
        words, why = f"{row['what']}: {row['about']}", "held, and overdue for a decision"
        href = url(request, name, row["id"])
    elif kind == "incident":
        words, why = f"Incident #{row['about']}: {row['what']}", "nobody has acknowledged it"
        href = url(request, "incident", row["id"])
    elif kind == "approval":
        words, why = row["what"], "waits for a second person"
        href = url(request, "approvals")
    elif kind == "operation":
        words = row["what"] or row["about"]
        why = "a bulk operation did not reach everything"
        href = url(request, "operation", row["id"])
    elif kind == "rule":
        words, why = f"Rule {row['what']}", f"reviewers let in {row['about']} facts that it held"
        href = url(request, "gate-rule", row["what"])
    else:
        words, why = f"Session {row['what']}", f"stands out: scores {row['about']}"
        href = url(request, "session", row["id"])
    return Need(words, why, row["at"], row["owner"], href, ACTS[kind])


def _all(request: ConsoleRequest, kind: str) -> str:
    if kind == "held":
        if request.here.may(Permission.REVIEW):
            return url(request, "queue", query="due=overdue")
        return url(request, "records", query="status=quarantined")
    if kind == "session":
        return url(request, "sessions", query="sort=suspicion")
    pages = {"incident": "incidents", "approval": "approvals", "rule": "gate-rules"}
    return url(request, pages.get(kind, "operations"))
