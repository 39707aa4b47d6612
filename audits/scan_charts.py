"""The chart of scans: what today's rules find in old memory, this scan beside the last.

Owns the figure; the numbers are the scans' own results.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any
from uuid import UUID

from audits.charts import HEIGHT, Chart, Column, Linked, plain
from records.models import Scan

SHOWN = 12  # rules in the figure; the table has them all

ByRule = Mapping[str, Mapping[str, int]]
Link = Callable[[UUID, str], str]


def new_by_rule(scan: Scan, found: ByRule, previous: Scan | None, *, link: Link) -> Chart:
    """Draw new hits by rule, of this scan and of the one before over the same facts.

    ``link`` makes the URL of the list behind a number.
    """
    before: ByRule = previous.result.get("rules", {}) if previous else {}
    names = {name for rules in (found, before) for name, kinds in rules.items() if kinds.get("new")}
    rows = sorted(
        ((name, _new(found, name), _new(before, name)) for name in names),
        key=lambda row: (-row[1], -row[2], row[0]),
    )
    this = f"Scan {scan.number}"
    series = [_bars(this, rows, 1, "var(--accent)")]
    if previous:
        series.append(_bars(f"Scan {previous.number}", rows, 2, "var(--quiet)"))
    layout = {
        "height": HEIGHT,
        "barmode": "group",
        "xaxis": {"type": "category"},
        "yaxis": {"title": {"text": "New hits"}, "rangemode": "tozero", **_whole(rows)},
        "showlegend": bool(previous),
    }
    columns = [Column("Rule"), Column(f"{this}: new hits", is_numeric=True)]
    table: list[list[str | Linked]] = [
        [name, _number(now, link(scan.id, name))] for name, now, _ in rows
    ]
    if previous:
        columns.append(Column(f"Scan {previous.number}: new hits", is_numeric=True))
        for row, (name, _, then) in zip(table, rows, strict=True):
            row.append(_number(then, link(previous.id, name)))
    return Chart(
        "new-hits-by-rule",
        "What does today's rule set find in old memory?",
        _answer(rows, scan, previous),
        {"data": series, "layout": layout} if rows else {},
        columns,
        table,
        note="A fact that several rules find counts for each of them.",
    )


def _answer(rows: list[tuple[str, int, int]], scan: Scan, previous: Scan | None) -> str:
    if not rows or not rows[0][1]:
        return f"Scan {scan.number} has found nothing that was not known."
    name, most, _ = rows[0]
    answer = f"{plain(name)} finds most: {most:,} new"
    if previous and (then := next(row[2] for row in rows if row[0] == name)) != most:
        answer += f", after {then:,} in scan {previous.number}"
    having = sum(now > 0 for _, now, _ in rows)
    return f"{answer}. {having:,} rule{'s have' if having > 1 else ' has'} new hits."


def _number(number: int, href: str) -> str | Linked:
    return Linked(f"{number:,}", href) if number else "0"


def _whole(rows: list[tuple[str, int, int]]) -> dict[str, Any]:
    """Return an axis of whole numbers, where there would be fractions."""
    return {"dtick": 1} if max([0, *(max(row[1:]) for row in rows)]) < 5 else {}


def _new(rules: ByRule, name: str) -> int:
    return rules.get(name, {}).get("new", 0)


def _bars(name: str, rows: list[tuple[str, int, int]], place: int, colour: str) -> dict[str, Any]:
    shown = rows[:SHOWN]
    return {
        "type": "bar",
        "name": name,
        "x": [plain(row[0], 30) for row in shown],
        "y": [row[place] for row in shown],
        "marker": {"color": colour},
        "hovertemplate": "%{x}: %{y}<extra>" + name + "</extra>",
    }
