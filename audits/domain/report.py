"""A report as plain blocks, and the same blocks as Markdown that nothing inside can break out of.

Pure. Text that somebody else wrote (a writer, an agent, a colleague) is always
``Quoted``: in Markdown it stands in code, inline or fenced, with hidden
characters spelled out, so that no viewer renders, links or runs any of it; on
the page ``memory_text`` does the same. The page is
``templates/incidents/report.html``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from audits.domain import inert

INLINE_LIMIT = 300
BLOCK_LIMIT = 4_000


@dataclass(frozen=True, slots=True)
class Quoted:
    """Text that somebody else wrote."""

    text: str


Cell = str | Quoted | datetime | None  # a plain string is this program's own words


@dataclass(frozen=True, slots=True)
class Words:
    """A paragraph: own words and quoted text in a row."""

    cells: Sequence[Cell]
    kind: str = "words"


@dataclass(frozen=True, slots=True)
class Quote:
    """A block of somebody else's text, with who wrote it and when."""

    text: str
    by: str = ""
    at: datetime | None = None
    kind: str = "quote"


@dataclass(frozen=True, slots=True)
class Table:
    """Rows under headings; ``more`` says what is not shown."""

    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    more: str = ""
    kind: str = "table"


@dataclass(frozen=True, slots=True)
class Code:
    """A command to run, or a value to compare."""

    text: str
    kind: str = "code"


Block = Words | Quote | Table | Code


@dataclass(frozen=True, slots=True)
class Section:
    """One part of a report."""

    title: str
    blocks: Sequence[Block]


@dataclass(frozen=True, slots=True)
class Report:
    """A whole report; ``title`` is people's text."""

    number: int
    title: str
    workspace: str
    made_at: datetime
    made_by: str
    sections: Sequence[Section]


def to_markdown(report: Report) -> str:
    """Return a report as GitHub-flavoured Markdown."""
    return "\n".join(_lines(report)).rstrip("\n") + "\n"


def _lines(report: Report) -> Iterator[str]:
    yield f"# Incident #{report.number}: {inline(report.title)}"
    yield ""
    yield (
        f"Workspace {inline(report.workspace)}. Report made {instant(report.made_at)}"
        f" by {inline(report.made_by)}."
    )
    yield ""
    for section in report.sections:
        yield f"## {section.title}"
        yield ""
        for block in section.blocks:
            yield from _block(block)
            yield ""


def _block(block: Block) -> Iterator[str]:
    if isinstance(block, Words):
        yield "".join(_cell(cell) for cell in block.cells)
    elif isinstance(block, Code):
        yield from fenced(block.text)
    elif isinstance(block, Quote):
        if block.by or block.at:
            when = f"{instant(block.at)}, " if block.at else ""
            yield f"{when}{inline(block.by)}:"
            yield ""
        yield from fenced(visible(block.text[:BLOCK_LIMIT], keep_lines=True))
        if len(block.text) > BLOCK_LIMIT:
            yield ""
            yield f"(and {len(block.text) - BLOCK_LIMIT:,} more characters)"
    else:
        yield "| " + " | ".join(block.columns) + " |"
        yield "|" + " --- |" * len(block.columns)
        for row in block.rows:
            yield "| " + " | ".join(_cell(cell).replace("|", "\\|") for cell in row) + " |"
        if block.more:
            yield ""
            yield block.more


def _cell(cell: Cell) -> str:
    if cell is None:
        return "–"
    if isinstance(cell, datetime):
        return instant(cell)
    return inline(cell.text) if isinstance(cell, Quoted) else cell


def inline(text: str, limit: int = INLINE_LIMIT) -> str:
    """Return hostile text as inline code on one line, capped."""
    shown = visible(text[:limit])
    if len(text) > limit:
        shown += f"… +{len(text) - limit:,}"
    if not shown.strip():
        return "–"
    ticks = "`" * (_longest_run(shown) + 1)
    space = " " if shown[0] in "` " or shown[-1] in "` " else ""
    return f"{ticks}{space}{shown}{space}{ticks}"


def fenced(text: str) -> Iterator[str]:
    """Yield text in a fence that is longer than any run of ticks inside."""
    fence = "`" * max(3, _longest_run(text) + 1)
    yield f"{fence}text"
    yield from text.split("\n")
    yield fence


def visible(text: str, *, keep_lines: bool = False) -> str:
    """Return text with hidden characters spelled out in brackets."""
    return "".join(
        f"[{piece.label}]" if piece.label else piece.text
        for piece in inert.pieces(text, keep_lines=keep_lines)
    )


def instant(at: datetime) -> str:
    """Return an instant as reports write it, in UTC."""
    return at.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def _longest_run(text: str) -> int:
    return max((len(run) for run in re.findall("`+", text)), default=0)
