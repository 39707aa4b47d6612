"""Spans around the work: nothing at all unless tracing was switched on at start.

Owns which attributes may leave the process: ids, numbers and short codes. Names
of people, partitions or sessions and memory text may not, and an exception is
named by its kind alone: messages of a database quote the row. ``switch_on`` is
called by ``memconsole/tracing.py``, which reads the environment.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from enum import Enum
from typing import TYPE_CHECKING, Any, Protocol
from uuid import UUID

if TYPE_CHECKING:
    from opentelemetry.context import Context
    from opentelemetry.trace import Span, SpanKind, Tracer

Attribute = bool | int | float | str
CODE = re.compile(r"[a-z][a-z0-9_.]{0,63}", re.IGNORECASE)

_tracer: Tracer | None = None


class Spanned(Protocol):
    """What the work inside a span may do with it."""

    def note(self, **attributes: Any) -> None:
        """Add attributes to the span."""


class _Nothing:
    """The span of a process that does not trace."""

    def note(self, **attributes: Any) -> None:
        """Do nothing."""


class _Something:
    """The span of a process that does."""

    def __init__(self, span: Span) -> None:
        self.span = span

    def note(self, **attributes: Any) -> None:
        """Add the attributes that may leave the process."""
        self.span.set_attributes(allowed(attributes))


NOTHING: AbstractContextManager[Spanned] = nullcontext(_Nothing())


def switch_on(tracer: Tracer | None) -> None:
    """Trace from now on with this tracer; ``None``: no longer."""
    global _tracer
    _tracer = tracer


def is_on() -> bool:
    """Say whether this process traces."""
    return _tracer is not None


def span(name: str, **attributes: Any) -> AbstractContextManager[Spanned]:
    """Return a span around a piece of work, or nothing where tracing is off."""
    if _tracer is None:
        return NOTHING
    return _started(_tracer, name, attributes)


def span_from(
    context: Context | None, name: str, kind: SpanKind, **attributes: Any
) -> AbstractContextManager[Spanned]:
    """Return a span that goes on a trace which began elsewhere."""
    if _tracer is None:
        return NOTHING
    return _started(_tracer, name, attributes, context=context, kind=kind)


def allowed(attributes: Mapping[str, Any]) -> dict[str, Attribute]:
    """Return the attributes that may leave: numbers, ids, codes; anything else is left out."""
    found: dict[str, Attribute] = {}
    for name, value in attributes.items():
        key = f"memconsole.{name}"
        if isinstance(value, UUID):
            found[key] = str(value)
        elif isinstance(value, Enum):
            found[key] = str(value.value)
        elif isinstance(value, (bool, int, float)) or (
            isinstance(value, str) and CODE.fullmatch(value)
        ):
            found[key] = value
    return found


@contextmanager
def _started(
    tracer: Tracer,
    name: str,
    attributes: Mapping[str, Any],
    *,
    context: Context | None = None,
    kind: SpanKind | None = None,
) -> Iterator[Spanned]:
    from opentelemetry.trace import SpanKind as Kinds
    from opentelemetry.trace import Status, StatusCode

    with tracer.start_as_current_span(
        name,
        context=context,
        kind=kind or Kinds.INTERNAL,
        attributes=allowed(attributes),
        record_exception=False,
        set_status_on_exception=False,
    ) as one:
        try:
            yield _Something(one)
        except BaseException as error:
            one.set_attribute("error.type", type(error).__name__)
            one.set_status(Status(StatusCode.ERROR))
            raise
