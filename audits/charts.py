"""Charts: a question, its answer in words, the numbers as a table, and a figure for the eye.

Owns figures as plain data, equal to what Plotly's own library would write
(tests compare them), since importing that takes longer than a page may. The
page answers without the figure; ``static/js/charts.js`` draws it after the
first paint. Colours are names of the console's tokens (``var(--accent)``),
which the script resolves for the theme at hand. Reads nothing.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from audits.domain.radius import Bucket

HEIGHT = 260
CLOSE = 0.09  # of the axis: two labels nearer than this would lie on each other
# Plotly's periods: milliseconds, or months.
PERIODS: Mapping[str, int | str] = {
    "hour": 3_600_000,
    "day": 86_400_000,
    "week": 7 * 86_400_000,
    "month": "M1",
}
FORMATS = {
    "hour": "%d %b %H:%M",
    "day": "%a %d %b %Y",
    "week": "week of %d %b %Y",
    "month": "%b %Y",
}
# What a change of state looks like: shape and colour, so that neither is needed alone.
LOOKS: Mapping[str, tuple[str, str]] = {
    "good": ("circle", "var(--good)"),
    "warn": ("diamond", "var(--warn)"),
    "bad": ("x", "var(--bad)"),
    "quiet": ("square", "var(--quiet)"),
}


@dataclass(frozen=True, slots=True)
class Column:
    """One column of the table beside a chart."""

    title: str
    is_numeric: bool = False


@dataclass(frozen=True, slots=True)
class Linked:
    """A number of the table that opens the list it counts."""

    text: str
    href: str


@dataclass(frozen=True, slots=True)
class Chart:
    """One chart; ``id`` is unique on its page, ``note`` says what the reader must know besides."""

    id: str
    question: str
    answer: str
    figure: Mapping[str, Any]
    columns: Sequence[Column]
    rows: Sequence[Sequence[str | Linked]]
    note: str = ""

    @property
    def figure_json(self) -> str:
        """The figure for the script; drawn into an attribute, where autoescape makes it safe."""
        return json.dumps(self.figure, ensure_ascii=False, separators=(",", ":"))

    @property
    def cells(self) -> list[list[tuple[str, bool, str]]]:
        """The rows of the table: text, whether its column is one of numbers, where it leads."""
        return [
            [
                (cell.text, column.is_numeric, cell.href)
                if isinstance(cell, Linked)
                else (cell, column.is_numeric, "")
                for cell, column in zip(row, self.columns, strict=True)
            ]
            for row in self.rows
        ]


@dataclass(frozen=True, slots=True)
class Marker:
    """Something that happened at one instant: a change of state, an act."""

    at: datetime
    label: str
    kind: str = "quiet"


def serves_over_time(
    chart_id: str,
    question: str,
    answer: str,
    buckets: Sequence[Mapping[str, Any]],
    *,
    bucket: Bucket,
    zone: str,
    markers: Sequence[Marker] = (),
) -> Chart:
    """Return serves as bars, bucket after bucket, with what happened meanwhile as marks.

    ``buckets`` have ``start``, ``serves`` and ``sessions``; ``markers`` are in the
    order of time. Labels are drawn as they are: pass hostile text through ``plain``.
    """
    there = zone_of(zone)
    starts = [one["start"].astimezone(there) for one in buckets]
    bars = {
        "type": "bar",
        "name": "Serves",
        "x": [_naive(start) for start in starts],
        "y": [one["serves"] for one in buckets],
        "customdata": [one["sessions"] for one in buckets],
        "xperiod": PERIODS[bucket.unit],
        "xperiodalignment": "middle",
        "marker": {"color": "var(--accent)"},
        "hovertemplate": "%{y} served to %{customdata} sessions<extra></extra>",
    }
    if starts:
        bars["xperiod0"] = _naive(starts[0])
    data: list[dict[str, Any]] = [bars]
    if markers:
        data.append(_marks(markers, there, starts))
    layout: dict[str, Any] = {
        "height": HEIGHT,
        "bargap": 0.15,
        "xaxis": {"type": "date", "showgrid": False, "title": {"text": f"Time ({there.key})"}},
        "yaxis": {"title": {"text": f"Serves per {bucket.words}"}, "rangemode": "tozero"},
        "shapes": [_line(marker, there) for marker in markers],
    }
    if markers:
        # The marks stand in a strip of their own above the bars, with room for their words.
        layout["yaxis"]["domain"] = [0, 0.82]
        layout["yaxis2"] = {"domain": [0.86, 1], "range": [0, 1], "visible": False}
    counted = [
        (start.strftime(FORMATS[bucket.unit]), f"{one['serves']:,}", f"{one['sessions']:,}")
        for start, one in zip(starts, buckets, strict=True)
    ]
    columns = [
        Column(f"Time ({there.key})"),
        Column(f"Serves in the {bucket.words}", is_numeric=True),
        Column("Sessions", is_numeric=True),
    ]
    rows: list[Sequence[str]] = list(counted)
    if markers:
        columns.append(Column("Change"))
        timed = [(one["start"], (*row, "")) for one, row in zip(buckets, counted, strict=True)]
        timed += [
            (one.at, (_naive(one.at.astimezone(there)), "", "", one.label)) for one in markers
        ]
        rows = [row for _, row in sorted(timed, key=lambda pair: pair[0])]
    return Chart(chart_id, question, answer, {"data": data, "layout": layout}, columns, rows)


def plain(text: str, limit: int = 60) -> str:
    """Return a text that Plotly, which knows some HTML, draws letter by letter."""
    shown = "".join(char if char.isprintable() else "\ufffd" for char in text[:limit])
    shown = shown.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return shown + ("\u2026" if len(text) > limit else "")


def zone_of(name: str) -> ZoneInfo:
    """Return a workspace's time zone, or UTC where its name is none."""
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return ZoneInfo("UTC")


def _marks(
    markers: Sequence[Marker], there: ZoneInfo, starts: Sequence[datetime]
) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "markers+text",
        "name": "Changes",
        "x": [_naive(one.at.astimezone(there)) for one in markers],
        "y": [0.25 for _ in markers],
        "yaxis": "y2",
        "text": _labels(markers, starts),
        "customdata": [one.label for one in markers],
        "textposition": "top center",
        "cliponaxis": False,
        "marker": {
            "size": 9,
            "symbol": [LOOKS[one.kind][0] for one in markers],
            "color": [LOOKS[one.kind][1] for one in markers],
        },
        "hovertemplate": "%{customdata}, %{x|%d %b %Y %H:%M:%S}<extra></extra>",
    }


def _labels(markers: Sequence[Marker], starts: Sequence[datetime]) -> list[str]:
    """Return what is written above the marks: of those that stand too close, one says how many."""
    times = [one.at for one in markers] + list(starts)
    room = (max(times) - min(times)) * CLOSE
    labels: list[str] = []
    first = 0  # of the marks that share one label
    for place, one in enumerate(markers):
        if place and one.at - markers[first].at <= room:
            labels[first] = f"{markers[first].label} +{place - first}"
            labels.append("")
        else:
            first = place
            labels.append(one.label)
    return labels


def _line(marker: Marker, there: ZoneInfo) -> dict[str, Any]:
    at = _naive(marker.at.astimezone(there))
    return {
        "type": "line",
        "xref": "x",
        "yref": "paper",
        "x0": at,
        "x1": at,
        "y0": 0,
        "y1": 0.88,
        "line": {"width": 1, "dash": "dot", "color": LOOKS[marker.kind][1]},
    }


def _naive(at: datetime) -> str:
    """Return an instant as its zone's clock shows it; Plotly's axes know no zones."""
    return at.replace(tzinfo=None).isoformat(sep=" ", timespec="seconds")
