"""The chart of an incident, which asks whether harm stopped when somebody acted.

Owns the figure that adds serves up over time, with containment and eviction as
marks; ``charts.py`` owns what charts are. Reads nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from itertools import accumulate
from typing import Any

from audits.charts import Chart, Column, Marker, serves_over_time
from audits.domain.incidents import harm_sentence
from audits.domain.radius import Bucket

QUESTION = "Did harm stop when we acted?"


def harm_chart(
    buckets: Sequence[dict[str, Any]],
    *,
    bucket: Bucket,
    served: int,
    served_before: int,
    contained_at: datetime | None,
    evicted_at: datetime | None,
) -> Chart:
    """Return the serves of the facts in scope added up, and when they were contained and evicted.

    ``served_before`` are the serves up to the first of the two acts.
    """
    markers = []
    if contained_at is not None:
        markers.append(Marker(contained_at, "contained", "warn"))
    if evicted_at is not None:
        markers.append(Marker(evicted_at, "evicted", "good"))
    act = "contained" if contained_at is not None else "evicted" if evicted_at is not None else ""
    if contained_at is not None and evicted_at is not None and evicted_at < contained_at:
        act = "evicted"
    totals = accumulate(one["serves"] for one in buckets)
    summed = [{**one, "serves": total} for one, total in zip(buckets, totals, strict=True)]
    chart = serves_over_time(
        "harm",
        QUESTION,
        harm_sentence(served, served - served_before, act),
        summed,
        bucket=bucket,
        zone="UTC",
        markers=markers,
    )
    line = {
        "type": "scatter",
        "mode": "lines+markers",
        "name": "Serves so far",
        "x": chart.figure["data"][0]["x"],
        "y": chart.figure["data"][0]["y"],
        "line": {"color": "var(--accent)", "width": 2, "shape": "hv"},
        "marker": {"color": "var(--accent)", "size": 5},
        "hovertemplate": "%{y} serves so far<extra></extra>",
    }
    layout = {**chart.figure["layout"]}
    layout["yaxis"] = {**layout["yaxis"], "title": {"text": "Serves so far"}}
    columns = [
        replace(one, title="Serves so far") if one.title.startswith("Serves") else one
        for one in chart.columns
    ]
    columns = [
        Column(f"Sessions in the {bucket.words}", is_numeric=True)
        if one.title == "Sessions"
        else one
        for one in columns
    ]
    figure = {"data": [line, *chart.figure["data"][1:]], "layout": layout}
    return replace(chart, figure=figure, columns=columns)
