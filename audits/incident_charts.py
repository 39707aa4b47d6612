"""The chart of an incident, which asks whether harm stopped when somebody acted.

Owns the figure that adds serves up over time, with containment and eviction as
marks; ``charts.py`` owns what charts are. Reads nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import accumulate
from typing import Any

from audits.charts import Chart, Marker, serves_over_time
from audits.domain.incidents import harm_sentence
from audits.domain.radius import Bucket, Radius

QUESTION = "Did harm stop when we acted?"


def harm_chart(
    buckets: Sequence[dict[str, Any]],
    *,
    bucket: Bucket,
    radius: Radius,
    served_before: int,
    contained_at: datetime | None,
    evicted_at: datetime | None,
    now: datetime,
) -> Chart:
    """Return the serves of the facts in scope added up, and when they were contained and evicted.

    ``served_before`` are the serves up to the first of the two acts.
    """
    known = [(contained_at, "contained", "warn"), (evicted_at, "evicted", "good")]
    markers = sorted(
        (Marker(at, word, kind) for at, word, kind in known if at is not None),
        key=lambda one: one.at,
    )
    act = markers[0].label if markers else ""
    totals = list(accumulate(one["serves"] for one in buckets))
    summed = [{**one, "serves": total} for one, total in zip(buckets, totals, strict=True)]
    chart = serves_over_time(
        "harm",
        QUESTION,
        harm_sentence(radius.serves, radius.serves - served_before, act),
        summed,
        bucket=bucket,
        zone="UTC",
        markers=markers,
    )
    points = _points(buckets, totals, bucket=bucket, radius=radius, now=now)
    line = {
        "type": "scatter",
        "mode": "lines",
        "name": "Serves so far",
        "x": [_instant(at) for at, _ in points],
        "y": [total for _, total in points],
        "line": {"color": "var(--accent)", "width": 2},
        "hovertemplate": "%{y} serves so far<extra></extra>",
    }
    layout = {**chart.figure["layout"]}
    layout["yaxis"] = {**layout["yaxis"], "title": {"text": "Serves so far"}}
    figure = {"data": [line, *chart.figure["data"][1:]], "layout": layout}
    titles = {"Sessions": f"Sessions in the {bucket.words}"}
    titles[f"Serves in the {bucket.words}"] = "Serves so far"
    columns = [replace(one, title=titles.get(one.title, one.title)) for one in chart.columns]
    return replace(chart, figure=figure, columns=columns)


def _points(
    buckets: Sequence[dict[str, Any]],
    totals: Sequence[int],
    *,
    bucket: Bucket,
    radius: Radius,
    now: datetime,
) -> list[tuple[datetime, int]]:
    """Return where the line turns: nothing before the first serve, flat after the last one.

    A bucket's total is known at its end.
    """
    if radius.first_at is None or radius.last_at is None:
        return [(now, 0)]
    points = [(radius.first_at, 0)]
    for one, total in zip(buckets, totals, strict=True):
        end = min(_end(one["start"], bucket), radius.last_at)
        points.append((max(end, radius.first_at), total))
    return [*points, (max(now, radius.last_at), totals[-1] if totals else 0)]


def _end(start: datetime, bucket: Bucket) -> datetime:
    if bucket.unit == "month":
        return (start.replace(day=1) + timedelta(days=32)).replace(day=1)
    return start + timedelta(**{f"{bucket.unit}s": 1})


def _instant(at: datetime) -> str:
    return at.astimezone(UTC).replace(tzinfo=None).isoformat(sep=" ", timespec="seconds")
