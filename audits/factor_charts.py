"""The chart of one record's factors: its weight in the past, and how it goes on.

Owns the figure and the table; the numbers are ``domain/factors.py``'s. The
past is drawn full, the days ahead dashed.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from audits.charts import HEIGHT, Chart, Column, zone_of
from audits.domain.factors import AHEAD, Change, Point, curve, explain

QUESTION = "Why does this fact rank lower than it did?"
ROWS_MOST = 120
MARKS_MOST = 12
LINES = (
    ("together", "Weight", "var(--accent)", 3),
    ("confidence", "Confidence", "var(--good)", 1.5),
    ("validity", "Validity", "var(--bad)", 1.5),
    ("age", "Age", "var(--warn)", 1.5),
    ("corroboration", "Corroboration", "var(--quiet)", 1.5),
)
NOTE = (
    "Weight is confidence, validity, age and corroboration multiplied; a question's match is"
    " multiplied by it. Of each session only the first and the last sighting are kept."
)


def of_record(changes: Sequence[Change], *, now: datetime, zone: str) -> Chart:
    """Return the chart of a record whose history is ``changes``."""
    points = curve(changes, now=now)
    there = zone_of(zone)
    data = []
    for name, title, colour, width in LINES:
        data.append(_line(points, name, title, colour, width, there, until=now))
        data.append(_line(points, name, title, colour, width, there, since=now))
    layout: dict[str, Any] = {
        "height": HEIGHT,
        "showlegend": True,
        "xaxis": {"type": "date", "showgrid": False, "title": {"text": f"Time ({there.key})"}},
        "yaxis": {"title": {"text": "Factor"}, "rangemode": "tozero"},
        "legend": {"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0},
        "shapes": [_rule(now, there), *(_rule(one.at, there) for one in changes[-MARKS_MOST:])],
    }
    columns = [
        Column(f"Time ({there.key})"),
        Column("What happened"),
        *(Column(title, is_numeric=True) for _, title, _, _ in LINES),
        Column("Of it, feedback", is_numeric=True),
    ]
    return Chart(
        "record-factors",
        QUESTION,
        explain(points, now=now),
        {"data": data, "layout": layout},
        columns,
        _rows(points, now, there),
        NOTE,
    )


def _line(
    points: Sequence[Point],
    name: str,
    title: str,
    colour: str,
    width: float,
    there: ZoneInfo,
    *,
    since: datetime | None = None,
    until: datetime | None = None,
) -> dict[str, Any]:
    """Return one factor's line: the past to ``until``, or what is ahead from ``since``."""
    shown = [
        one
        for one in points
        if (until is None or one.at <= until) and (since is None or one.at >= since)
    ]
    is_ahead = since is not None
    return {
        "type": "scatter",
        "mode": "lines",
        "name": title,
        "legendgroup": name,
        "showlegend": not is_ahead,
        "x": [_clock(one.at, there) for one in shown],
        "y": [_value(one, name) for one in shown],
        "line": {"color": colour, "width": width, "dash": "dash" if is_ahead else "solid"},
        "hovertemplate": f"{title} %{{y:.2f}}<extra></extra>",
    }


def _rows(points: Sequence[Point], now: datetime, there: ZoneInfo) -> list[list[str]]:
    """Return the table: every change, now, and what the clock does ahead, the last first."""
    told = [one for one in points if one.what]
    last_past = [one for one in points if one.at <= now][-1:]
    marks = [(one, one.what) for one in told] + [(one, "now") for one in last_past]
    marks.append((points[-1], f"in {AHEAD.days} days, if nothing happens"))
    marks.sort(key=lambda pair: pair[0].at, reverse=True)
    return [
        [
            _clock(one.at, there),
            what,
            *(_cell(one, name) for name, *_ in LINES),
            f"{one.bonus:+.2f}" if one.bonus else "\u2013",
        ]
        for one, what in marks[:ROWS_MOST]
    ]


def _value(point: Point, name: str) -> float | None:
    return None if point.weights is None else round(float(getattr(point.weights, name)), 4)


def _cell(point: Point, name: str) -> str:
    value = _value(point, name)
    return "out of service" if value is None else f"{value:.2f}"


def _rule(at: datetime, there: ZoneInfo) -> dict[str, Any]:
    return {
        "type": "line",
        "xref": "x",
        "yref": "paper",
        "x0": _clock(at, there),
        "x1": _clock(at, there),
        "y0": 0,
        "y1": 1,
        "line": {"width": 1, "dash": "dot", "color": "var(--line-strong)"},
    }


def _clock(at: datetime, there: ZoneInfo) -> str:
    """Return an instant as its zone's clock shows it; Plotly's axes know no zones."""
    return at.astimezone(there).replace(tzinfo=None).isoformat(sep=" ", timespec="seconds")
