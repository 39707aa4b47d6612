"""Charts as data: what Plotly's own library takes, a table with the same numbers, nothing hostile."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import plotly.graph_objects as go
import pytest

from audits import charts
from audits.charts import Chart, Marker
from audits.domain.radius import DAY, HOUR, MONTH, WEEK, Bucket

START = datetime(2026, 3, 28, 23, tzinfo=UTC)


def buckets(count: int = 3) -> list[dict[str, Any]]:
    return [
        {"start": START + timedelta(hours=one), "serves": 5 - one, "sessions": 2}
        for one in range(count)
    ]


def chart(bucket: Bucket = HOUR, zone: str = "UTC", markers: tuple[Marker, ...] = ()) -> Chart:
    return charts.serves_over_time(
        "use", "Was it used?", "Yes.", buckets(), bucket=bucket, zone=zone, markers=markers
    )


MARKERS = (Marker(START + timedelta(minutes=90), "evicted", "bad"),)


@pytest.mark.parametrize("bucket", [HOUR, DAY, WEEK, MONTH])
@pytest.mark.parametrize("markers", [(), MARKERS])
def test_figure_is_one_that_plotly_takes(bucket: Bucket, markers: tuple[Marker, ...]) -> None:
    figure = json.loads(chart(bucket, markers=markers).figure_json)
    # Colours are names of tokens until the script knows the theme; Plotly wants real ones.
    text = json.dumps(figure)
    for token in ("accent", "bad", "good", "warn", "quiet"):
        text = text.replace(f"var(--{token})", "#123456")
    drawn = go.Figure(json.loads(text))
    assert len(drawn.data) == 1 + bool(markers)
    assert list(drawn.data[0].y) == [5, 4, 3]


def test_table_says_the_numbers_of_the_bars_and_of_the_marks_in_the_order_of_time() -> None:
    found = chart(markers=MARKERS)
    assert [row[1:] for row in found.rows] == [
        ("5", "2", ""),
        ("4", "2", ""),
        ("", "", "evicted"),
        ("3", "2", ""),
    ]
    assert [column.title for column in found.columns] == [
        "Time (UTC)",
        "Serves in the hour",
        "Sessions",
        "Change",
    ]
    assert all(len(row) == 4 for row in found.cells)
    assert [one.title for one in chart().columns][-1] == "Sessions"


def test_labels_that_would_lie_on_each_other_become_one() -> None:
    marks = [Marker(START + timedelta(minutes=one), f"m{one}") for one in (0, 1, 2, 60, 119, 120)]
    found = chart(markers=tuple(marks)).figure["data"][1]
    assert found["text"] == ["m0 +2", "", "", "m60", "m119 +1", ""]
    assert found["customdata"] == ["m0", "m1", "m2", "m60", "m119", "m120"]


def test_times_are_those_of_the_workspaces_clock_also_when_it_changes() -> None:
    # On 29 March 2026 clocks in Berlin went from 2 to 3.
    found = chart(zone="Europe/Berlin")
    assert found.figure["data"][0]["x"] == [
        "2026-03-29 00:00:00",
        "2026-03-29 01:00:00",
        "2026-03-29 03:00:00",
    ]
    assert "Europe/Berlin" in found.columns[0].title


@pytest.mark.parametrize("name", ["", "No/Where", "../etc/passwd", "\x00"])
def test_name_that_is_no_zone_counts_as_utc(name: str) -> None:
    assert charts.zone_of(name).key == "UTC"


def test_no_serve_is_an_empty_chart_with_its_words() -> None:
    found = charts.serves_over_time("use", "Was it?", "No.", [], bucket=HOUR, zone="UTC")
    assert found.rows == []
    go.Figure(json.loads(found.figure_json.replace("var(--accent)", "#123456")))


def test_plotly_draws_hostile_labels_letter_by_letter() -> None:
    assert charts.plain('<a href="javascript:x">&') == '&lt;a href="javascript:x"&gt;&amp;'
    assert charts.plain("a\u202eb\x00") == "a\ufffdb\ufffd"
    assert len(charts.plain("x" * 200)) == 61
