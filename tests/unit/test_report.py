"""Reports as Markdown: nothing that somebody wrote gets out of its code."""

from __future__ import annotations

import re
from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from audits.domain.report import Code, Quote, Quoted, Report, Section, Table, Words, to_markdown

AT = datetime(2026, 3, 1, 12, 30, 5, tzinfo=UTC)
HOSTILE = [
    "<script>alert(1)</script>",
    "[click](javascript:alert(1))",
    "![x](https://evil.example/p.png)",
    "```\n# out of the fence\n```",
    "a | b | c",
    "`` ` ``",
    "https://evil.example/login",
    "\u202egnp.evil\u202c \u200b",
    "\\",
    "ends with a tick`",
    "`begins",
]


def report(*blocks: object, title: str = "t") -> str:
    section = Section("Part", blocks)  # type: ignore[arg-type]
    return to_markdown(Report(3, title, "main", AT, "ana", [section]))


def drawn(markdown: str) -> str:
    """Return what a viewer shows outside of code, as HTML."""
    html = MarkdownIt("commonmark", {"linkify": False}).enable("table").render(markdown)
    return re.sub(r"<code[^>]*>.*?</code>", "", html, flags=re.DOTALL)


def test_times_are_utc_and_absent_values_a_dash() -> None:
    text = report(Table(["When", "What"], [[AT, None]]), Words(["at ", AT, "."]))
    assert "| 2026-03-01 12:30:05 UTC | – |" in text
    assert "at 2026-03-01 12:30:05 UTC." in text


def test_hostile_text_stays_in_code_wherever_it_stands() -> None:
    for one in HOSTILE:
        text = report(
            Quote(one, by=one, at=AT),
            Table(["A", "B"], [[Quoted(one), "own"], ["own", Quoted(one)]]),
            Words(["said ", Quoted(one)]),
            Code(one),
            title=one,
        )
        shown = drawn(text)
        for mark in ("<script", "javascript:", "evil.example", "out of the fence", "<img", "<a "):
            assert mark not in shown, (one, shown)
        assert "\u202e" not in re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)
        assert shown.count("<td>") == 4, one


@given(st.text(max_size=80))
def test_any_text_leaves_the_table_its_shape_and_the_page_its_headings(one: str) -> None:
    text = report(Table(["A", "B"], [[Quoted(one), Quoted(one)]]), Quote(one), title=one)
    shown = drawn(text)
    assert shown.count("<td>") == 2
    assert len(re.findall(r"<h[1-6]>", shown)) == 2


def test_long_text_is_cut_and_says_by_how_much() -> None:
    text = report(Words([Quoted("x" * 1_000)]), Quote("y" * 5_000))
    assert "… +700" in text
    assert "(and 1,000 more characters)" in text
