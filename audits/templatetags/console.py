"""What templates draw with: hostile text, icons, badges, times, counts, links that keep filters.

Owns drawing only; nothing here reads the database or decides. Every text that
an agent or a writer gave goes through ``memory_text`` or ``memory_block``.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from pathlib import Path
from typing import Any

from django import template
from django.http import HttpRequest
from django.utils import timezone
from django.utils.html import escape, format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe

from audits.domain import inert

register = template.Library()

# Paths on a grid of sixteen, in the colour of the text. A status has a shape of its own,
# so that it is told without colour.
SHAPES: dict[str, str] = json.loads(Path(__file__).with_name("icons.json").read_text())
LINE_LIMIT = 160
BLOCK_LIMIT = 700
LEEWAY = 8  # what may be over a limit before it is cut
LEAD = 24  # what is shown before the first marked place of a long line
STATUS_ICONS = {
    "active": "dot",
    "quarantined": "pause",
    "rejected": "cross",
    "superseded": "replaced",
    "retracted": "strike",
    "evicted": "eject",
    "erased": "hollow",
}
STATUS_WORDS = {"quarantined": "held"}


@register.simple_tag
@lru_cache(maxsize=256)
def icon(name: str, label: str = "") -> SafeString:
    """Draw an icon; without a label it is decoration that nothing reads out."""
    named = format_html('role="img" aria-label="{}"', label) if label else 'aria-hidden="true"'
    return format_html(
        '<svg class="icon" viewBox="0 0 16 16" width="16" height="16" {}>{}</svg>',
        mark_safe(named),  # noqa: S308 (made of constants and an escaped label)
        mark_safe(SHAPES[name]),  # noqa: S308 (constants)
    )


@register.simple_tag
@lru_cache(maxsize=64)
def status_badge(status: str) -> SafeString:
    """Draw a record's status as shape, word and colour."""
    return badge(STATUS_WORDS.get(status, status), status, STATUS_ICONS.get(status, "dot"))


@register.simple_tag
def badge(text: str, kind: str = "neutral", shape: str = "") -> SafeString:
    """Draw a small label; ``kind`` picks the colour, ``shape`` an icon before the words."""
    drawn = icon(shape) if shape else ""
    return format_html('<span class="badge badge-{}">{}{}</span>', kind, drawn, text)


@register.filter
def memory_text(text: Any, limit: int = LINE_LIMIT) -> SafeString:
    """Draw hostile text on one line: escaped, inert, hidden characters as chips, cut at a limit."""
    whole = "" if text is None else str(text)
    more = len(whole) - int(limit)
    if more <= LEEWAY:
        more = 0  # to say that so little is left out takes as much room as the rest itself
    if more == 0 and whole.isascii() and whole.isprintable():
        return _inert("bdi", "memory", escape(whole))  # nothing can hide in it
    drawn = _draw(inert.pieces(whole[: int(limit)] if more else whole))
    if more:
        drawn += format_html('<span class="cut">\u2026 +{} characters</span>', f"{more:,}")
    return _inert("bdi", "memory", drawn)


@register.simple_tag
def memory_line(
    text: Any, marks: Sequence[tuple[int, int]] = (), limit: int = LINE_LIMIT
) -> SafeString:
    """Draw hostile text on one line with the places findings point to, beginning near the first."""
    whole = "" if text is None else str(text)
    first = min((start for start, _ in marks), default=0)
    begin = max(0, first - LEAD) if len(whole) > limit and first > limit - LEAD else 0
    end = min(len(whole), begin + int(limit))
    if not marks and end == len(whole) and whole.isascii() and whole.isprintable():
        return _inert("bdi", "memory", escape(whole))  # nothing can hide in it
    near = [(start - begin, stop - begin) for start, stop in marks]
    drawn = _draw(inert.pieces(whole[begin:end], marks=near))
    if begin:
        drawn = format_html('<span class="cut">{} characters \u2026</span>', f"{begin:,}") + drawn
    if end < len(whole):
        drawn += format_html('<span class="cut">\u2026 +{}</span>', f"{len(whole) - end:,}")
    return _inert("bdi", "memory", drawn)


@register.simple_tag
def memory_block(
    text: Any, marks: Sequence[tuple[int, int]] = (), limit: int = BLOCK_LIMIT
) -> SafeString:
    """Draw hostile text whole, with its lines and the places findings point to.

    What is over the limit is folded behind "show all"; the fold is never inside
    a marked place.
    """
    whole = "" if text is None else str(text)
    fold = max([int(limit), *(end for start, end in marks if start < int(limit))])
    shown = list(inert.pieces(whole, keep_lines=True, marks=marks))
    if len(whole) <= fold:
        return _inert("div", "memory memory-block", _draw(shown))
    first, rest = _split(shown, fold)
    return _inert(
        "div",
        "memory memory-block",
        _draw(first)
        + format_html(
            '<details class="fold"><summary>Show all {} characters</summary>{}</details>',
            f"{len(whole):,}",
            _draw(rest),
        ),
    )


@register.simple_tag
def moment(at: datetime | None, suffix: str = "ago", missing: str = "never") -> SafeString:
    """Draw an instant as its age, with the exact UTC time on hover; scripts add the local one."""
    if at is None:
        return format_html('<span class="muted">{}</span>', missing)
    now = timezone.now()
    text = f"{age(now - at)} {suffix}".strip() if at <= now else f"in {age(at - now)}"
    exact = at.astimezone(UTC)
    return format_html(
        '<time datetime="{}" title="{} UTC" data-local>{}</time>',
        exact.isoformat(),
        exact.strftime("%Y-%m-%d %H:%M:%S"),
        text,
    )


@register.simple_tag
def instant(at: datetime | None, missing: str = "\u2013") -> SafeString:
    """Draw an instant exactly, in UTC."""
    if at is None:
        return format_html('<span class="muted">{}</span>', missing)
    exact = at.astimezone(UTC)
    return format_html(
        '<time datetime="{}" data-local>{} UTC</time>',
        exact.isoformat(),
        exact.strftime("%Y-%m-%d %H:%M:%S"),
    )


@register.filter
def age(span: timedelta | None) -> str:
    """Say a span in its two largest units: ``3 h 12 m``."""
    if span is None:
        return "\u2013"
    seconds = max(0, int(span.total_seconds()))
    units = (("y", 31_536_000), ("d", 86_400), ("h", 3_600), ("m", 60), ("s", 1))
    for place, (unit, size) in enumerate(units):
        if seconds >= size:
            whole, rest = divmod(seconds, size)
            if place + 1 < len(units):
                lower, lower_size = units[place + 1]
                if lower != "s" and rest // lower_size:
                    return f"{whole} {unit} {rest // lower_size} {lower}"
            return f"{whole} {unit}"
    return "0 s"


@register.filter
def capped(count: int, cap: int = 99) -> str:
    """Say a count that was taken up to just over ``cap``: ``99+`` beyond it."""
    return f"{int(cap):,}+" if count > int(cap) else f"{count:,}"


@register.filter
def score(value: float) -> str:
    """Say a number between 0 and 1 with two places."""
    return f"{value:.2f}"


@register.filter
def percent(share: float | None) -> str:
    """Say a share of one in percent."""
    return "\u2013" if share is None else f"{share * 100:.0f} %"


@register.filter
def short_id(value: Any) -> str:
    """Say the first eight characters of an id; the whole is behind its link."""
    return "" if value is None else str(value)[:8]


@register.filter
def lookup(mapping: Any, key: Any) -> Any:
    """Return a mapping's value for a key that is itself a variable."""
    return mapping.get(key) if hasattr(mapping, "get") else None


@register.simple_tag(takes_context=True)
def with_query(context: dict[str, Any], **changes: Any) -> str:
    """Return the page's own URL with some query parameters set, or dropped when empty.

    A changed filter begins at the first page: the cursor goes unless it is set here.
    """
    request: HttpRequest = context["request"]
    query = request.GET.copy()
    query.pop("after", None)
    for name, value in changes.items():
        if value in (None, ""):
            query.pop(name, None)
        else:
            query[name] = str(value)
    text = query.urlencode()
    return f"{request.path}?{text}" if text else request.path


def _draw(shown: Iterable[inert.Piece]) -> SafeString:
    return format_html_join("", "{}", ((_piece(piece),) for piece in shown))


def _piece(piece: inert.Piece) -> str:
    if piece.label:
        drawn: str = format_html('<span class="chip-hidden">{}</span>', piece.label)
    else:
        drawn = escape(piece.text)
    if piece.marked:
        return format_html(
            '<mark><span class="sr-only">finding begins: </span>{}'
            '<span class="sr-only"> finding ends</span></mark>',
            drawn,
        )
    return drawn


def _split(shown: Iterable[inert.Piece], place: int) -> tuple[list[inert.Piece], list[inert.Piece]]:
    first: list[inert.Piece] = []
    rest: list[inert.Piece] = []
    for piece in shown:
        cut = place - piece.start
        if cut >= len(piece.text):
            first.append(piece)
        elif cut <= 0 or piece.label:
            rest.append(piece)
        else:
            first.append(inert.Piece(piece.text[:cut], piece.start, "", piece.marked))
            rest.append(inert.Piece(piece.text[cut:], place, "", piece.marked))
    return first, rest


def _inert(tag: str, kind: str, drawn: SafeString) -> SafeString:
    """Wrap drawn hostile text so that no htmx attribute inside could ever act."""
    # Both names are written in this module, and the text is drawn already.
    return mark_safe(f'<{tag} class="{kind}" dir="auto" hx-disable>{drawn}</{tag}>')  # noqa: S308
