"""What the charts of the figures are made of: bars over steps, numbers that lead to their list.

Owns looks and links. Read ``figures.py`` for the charts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from audits.charts import HEIGHT, Linked, plain
from audits.domain.figures import Steps
from audits.queries.figures import CAP

# Colour and pattern: neither is needed alone to tell the parts of a bar.
LOOKS = (
    ("var(--accent)", ""),
    ("var(--good)", "/"),
    ("var(--warn)", "\\"),
    ("var(--bad)", "x"),
    ("var(--quiet)", "."),
    ("var(--accent)", "-"),
    ("var(--good)", "|"),
    ("var(--warn)", "+"),
    ("var(--bad)", "/"),
)


TICKS = 7  # labels below a figure; more would lie on each other


@dataclass(frozen=True, slots=True)
class Part:
    """One part of each bar: its name, its numbers, and how it looks (a place in ``LOOKS``)."""

    name: str
    values: Sequence[float | None]
    look: int = 0


@dataclass(frozen=True, slots=True)
class Asking:
    """Whose figures, over which time, and where the numbers may lead this person.

    ``url`` makes the path of a page of the workspace from its route's name.
    """

    workspace_id: UUID
    steps: Steps
    now: datetime
    url: Callable[..., str]
    may_see_trail: bool = True

    def behind(self, about: str, since: datetime, until: datetime, **more: str) -> str:
        """Return where the list behind a number is."""
        query = {"about": about, "since": instant(since), "until": instant(until), **more}
        return self.url("figures-list", query=urlencode(query))

    def trail(self, since: datetime, until: datetime, **filters: str) -> str:
        """Return where the events behind a number are, for those who may see the trail."""
        if not self.may_see_trail:
            return ""
        query = {**filters, "since": instant(since), "until": instant(until)}
        return self.url("trail", query=urlencode(query))


def instant(at: datetime) -> str:
    """Return an instant as a list's filter takes it, exactly."""
    return at.astimezone(UTC).isoformat().replace("+00:00", "Z")


def linked(number: int, href: str) -> str | Linked:
    """Return a number for the table; what is none, or more than was counted, leads nowhere."""
    if number > CAP:
        return f"more than {CAP:,}"
    return Linked(f"{number:,}", href) if number and href else f"{number:,}"


def bars(
    names: Sequence[str],
    parts: Sequence[Part],
    title: str,
    *,
    is_stacked: bool = True,
    tick_format: str = "",
) -> dict[str, Any]:
    """Return a figure of bars, one for each name, made of parts."""
    data = []
    for part in parts:
        color, pattern = LOOKS[part.look % len(LOOKS)]
        marker: dict[str, Any] = {"color": color}
        if pattern and len(parts) > 1:
            # Over the colour, which a bar of few pixels shows alone.
            marker["pattern"] = {"shape": pattern, "fillmode": "overlay", "solidity": 0.2}
        data.append(
            {
                "type": "bar",
                "name": plain(part.name, 40),
                "x": [plain(name, 40) for name in names],
                "y": list(part.values),
                "marker": marker,
                "hovertemplate": f"{plain(part.name, 40)}: %{{y}}<br>%{{x}}<extra></extra>",
            }
        )
    return _figure(data, title, is_stacked=is_stacked, tick_format=tick_format)


def lines(
    names: Sequence[str], parts: Sequence[Part], title: str, *, tick_format: str = ""
) -> dict[str, Any]:
    """Return a figure of lines; a step without a value leaves a gap."""
    symbols = ("circle", "square", "diamond")
    data = [
        {
            "type": "scatter",
            "mode": "lines+markers",
            "name": plain(part.name, 40),
            "x": list(names),
            "y": list(part.values),
            "line": {"color": LOOKS[part.look % len(LOOKS)][0], "width": 2},
            "marker": {"size": 6, "symbol": symbols[place % len(symbols)]},
            "hovertemplate": f"{plain(part.name, 40)}: %{{y}}<br>%{{x}}<extra></extra>",
        }
        for place, part in enumerate(parts)
    ]
    return _figure(data, title, is_stacked=False, tick_format=tick_format)


def _figure(
    data: list[dict[str, Any]], title: str, *, is_stacked: bool, tick_format: str
) -> dict[str, Any]:
    """Put the parts on their axes; nothing to draw is no figure, as the answer says it all."""
    values = [one for part in data for one in part["y"] if one is not None]
    if not values or (not any(values) and not tick_format):
        return {}
    names = data[0]["x"]
    every = -(-len(names) // TICKS)
    axis: dict[str, Any] = {"title": {"text": title}, "rangemode": "tozero"}
    axis["tickformat"] = tick_format or ",d"
    if tick_format:
        axis["range"] = [0, max(*values, 0.01) * 1.1]
    elif (
        max(sum(one or 0 for one in step) for step in zip(*(p["y"] for p in data), strict=True)) < 6
    ):
        axis["dtick"] = 1  # whole facts, not fifths of one
    layout: dict[str, Any] = {
        "height": HEIGHT,
        "bargap": 0.2,
        "barmode": "stack" if is_stacked else "group",
        "xaxis": {
            "type": "category",
            "showgrid": False,
            "tickangle": 0,
            "tickvals": names[::every],
            "ticktext": [_folded(name) for name in names[::every]],
        },
        "yaxis": axis,
    }
    if len(data) > 1:
        layout["showlegend"] = True
        layout["legend"] = {"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0}
        layout["margin"] = {"l": 48, "r": 16, "t": 36, "b": 40}
    return {"data": data, "layout": layout}


def _folded(name: str) -> str:
    """Return a label in two lines, broken where the longer one is shortest."""
    spaces = [place for place, char in enumerate(name) if char == " "]
    if not spaces:
        return name
    middle = min(spaces, key=lambda place: max(place, len(name) - place - 1))
    return f"{name[:middle]}<br>{name[middle + 1 :]}"
