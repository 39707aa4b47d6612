"""The chart of scans: what today's rules find in old memory, this scan beside the last.

Owns the figure; the numbers are the scans' own results.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from audits.charts import HEIGHT, Chart, Column, plain
from records.models import Scan

SHOWN = 12  # rules in the figure; the table has them all

ByRule = Mapping[str, Mapping[str, int]]


def new_by_rule(scan: Scan, found: ByRule, before: ByRule | None, previous: int | None) -> Chart:
    """Draw new hits by rule, of this scan and of the one before over the same facts."""
    before = before or {}
    names = {name for rules in (found, before) for name, kinds in rules.items() if kinds.get("new")}
    rows = sorted(
        ((name, _new(found, name), _new(before, name)) for name in names),
        key=lambda row: (-row[1], -row[2], row[0]),
    )
    this, last = f"Scan {scan.number}", f"Scan {previous}" if previous else ""
    series = [_bars(this, rows, 1, "var(--accent)")]
    if previous:
        series.append(_bars(last, rows, 2, "var(--quiet)"))
    layout = {
        "height": HEIGHT,
        "barmode": "group",
        "xaxis": {"type": "category"},
        "yaxis": {"title": {"text": "New hits"}, "rangemode": "tozero", **_whole(rows)},
        "showlegend": bool(previous),
    }
    columns = [Column("Rule"), Column(f"{this}: new hits", is_numeric=True)]
    table = [(name, f"{now:,}") for name, now, _ in rows]
    if previous:
        columns.append(Column(f"{last}: new hits", is_numeric=True))
        table = [(name, f"{now:,}", f"{then:,}") for name, now, then in rows]  # type: ignore[misc]
    return Chart(
        "new-hits-by-rule",
        "What does today's rule set find in old memory?",
        _answer(rows, scan, previous),
        {"data": series, "layout": layout},
        columns,
        table,
        note="A fact that several rules find counts for each of them.",
    )


def _answer(rows: list[tuple[str, int, int]], scan: Scan, previous: int | None) -> str:
    if not rows or not rows[0][1]:
        return f"Scan {scan.number} has found nothing that was not known."
    name, most, _ = rows[0]
    answer = f"{plain(name)} finds most: {most:,} new"
    if previous and (then := next(row[2] for row in rows if row[0] == name)) != most:
        answer += f", after {then:,} in scan {previous}"
    having = sum(now > 0 for _, now, _ in rows)
    return f"{answer}. {having:,} rule{'s have' if having > 1 else ' has'} new hits."


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
