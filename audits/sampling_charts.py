"""The charts of sample-and-verify: staleness by predicate with intervals, and over time.

Owns the figures; the numbers are ``sampling/reading.py``'s. A share without
answers enough is not drawn, and its row in the table says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from audits.charts import HEIGHT, Chart, Column, plain
from audits.domain.sampling import LEAST_ANSWERS, Estimate
from audits.sampling.reading import Figures

SHOWN = 15  # predicates in the figure; the table has them all
COLUMNS = (
    Column("Answers", is_numeric=True),
    Column("Bad", is_numeric=True),
    Column("From", is_numeric=True),
    Column("To", is_numeric=True),
)


def of_all(figures: Figures, trend: Sequence[tuple[dict[str, Any], Estimate]]) -> list[Chart]:
    """Return the charts of the overview of all samples."""
    return [by_predicate(figures), over_time(trend)]


def by_predicate(figures: Figures) -> Chart:
    """Draw the share of bad facts by predicate, the worst first."""
    told = [(name, one) for name, one in figures.by_predicate if one.is_shown]
    if told:
        name, worst = told[0]
        answer = (
            f"{plain(name)} is worst: {_percent(worst.share)} of its facts are stale or false"
            f" ({_percent(worst.low)} to {_percent(worst.high)})."
        )
    else:
        answer = f"No predicate has {LEAST_ANSWERS} answers yet."
    return Chart(
        "stale-by-predicate",
        "Which predicates are stale?",
        answer,
        _figure([plain(name, 30) for name, _ in told[:SHOWN]], [one for _, one in told[:SHOWN]]),
        (Column("Predicate"), *COLUMNS),
        [(name, *_cells(one)) for name, one in figures.by_predicate],
    )


def over_time(trend: Sequence[tuple[dict[str, Any], Estimate]]) -> Chart:
    """Draw the share of bad facts sample after sample."""
    told = [(batch, one) for batch, one in trend if one.is_shown]
    if len(told) > 1:
        first, last = told[0][1], told[-1][1]
        answer = (
            f"From {_percent(first.share)} in sample {told[0][0]['number']} to"
            f" {_percent(last.share)} in sample {told[-1][0]['number']}."
        )
    elif told:
        answer = f"{_percent(told[0][1].share)} in the only sample that has answers enough."
    else:
        answer = f"No sample has {LEAST_ANSWERS} answers yet."
    return Chart(
        "stale-over-time",
        "Is the memory getting better?",
        answer,
        _figure(
            [f"#{batch['number']}, {batch['made_at']:%Y-%m-%d}" for batch, _ in told],
            [one for _, one in told],
        ),
        (Column("Sample"), *COLUMNS),
        [
            (f"#{batch['number']}, {batch['made_at']:%Y-%m-%d}", *_cells(one))
            for batch, one in trend
        ],
    )


def _figure(names: Sequence[str], told: Sequence[Estimate]) -> dict[str, Any]:
    if not told:
        return {}  # the answer says so; axes around nothing would invent a scale
    shares = [one.share or 0.0 for one in told]
    points = {
        "type": "scatter",
        "mode": "markers",
        "x": list(names),
        "y": shares,
        "error_y": {
            "type": "data",
            "symmetric": False,
            "array": [(one.high or 0.0) - (one.share or 0.0) for one in told],
            "arrayminus": [(one.share or 0.0) - (one.low or 0.0) for one in told],
            "color": "var(--quiet)",
        },
        "marker": {"size": 9, "color": "var(--accent)"},
        "hovertemplate": "%{x}: %{y:.1%}<extra></extra>",
    }
    layout = {
        "height": HEIGHT,
        "xaxis": {"type": "category"},
        "yaxis": {
            "title": {"text": "Stale or false"},
            "tickformat": ".0%",
            "rangemode": "tozero",
        },
    }
    return {"data": [points], "layout": layout}


def _cells(one: Estimate) -> tuple[str, str, str, str]:
    if not one.is_shown:
        return (f"{one.answers:,}", "too few", "", "")
    return (f"{one.answers:,}", _percent(one.share), _percent(one.low), _percent(one.high))


def _percent(share: float | None) -> str:
    return "" if share is None else f"{100 * share:.1f} %"
