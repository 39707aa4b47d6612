"""Log lines of every process, and the request id that ties them to a request.

Owns the two forms (JSON with ``MEMCONSOLE_LOG=json``, human otherwise). Memory
text never reaches a log: log ids, counts and codes. An exception is named by
its kind, with the places in the code it came through: what it says may quote a
row (a database's does) or a value. Only what our own code says of itself, and
what a connection says of not being there, is kept.
"""

from __future__ import annotations

import json
import logging
import os
import re
import sys
import time
import traceback
import uuid
from collections.abc import Callable
from contextvars import ContextVar, Token
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse

REQUEST_ID_HEADER = "X-Request-ID"
FORMS = ("human", "json")
LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")
_ACCEPTED_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
_request_id: ContextVar[str] = ContextVar("request_id", default="")
OURS = ("memconsole", "records", "audits")
TALKATIVE = ("django.db.backends", "urllib3", "requests", "apprise", "celery.utils.functional")
_STANDARD = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}


class RequestIdMiddleware:
    """Give every request an id: the caller's when it is well-formed, else a new one.

    It is ``request.request_id``, the ``X-Request-ID`` response header, and a
    field of every line logged meanwhile.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Answer the request inside its id."""
        given = request.headers.get(REQUEST_ID_HEADER, "")
        request_id = given if _ACCEPTED_ID.fullmatch(given) else str(uuid.uuid4())
        request.request_id = request_id  # type: ignore[attr-defined]
        token = _request_id.set(request_id)
        try:
            response = self.get_response(request)
        finally:
            _request_id.reset(token)
        response.headers[REQUEST_ID_HEADER] = request_id
        return response


def begin_request(request_id: str) -> Token[str]:
    """Let every line logged from now on carry this id, until ``end_request``."""
    return _request_id.set(request_id)


def end_request(token: Token[str]) -> None:
    """Go back to the id before."""
    _request_id.reset(token)


class JsonFormatter(logging.Formatter):
    """One JSON object a line: time, level, process, logger, message, request id, extras."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the record as one line of JSON."""
        line: dict[str, Any] = {
            "time": _utc(record.created),
            "level": record.levelname.lower(),
            "process": process_name(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        if request_id := _request_id.get():
            line["request_id"] = request_id
        for name, value in vars(record).items():
            # Django hangs the whole request and response on its own records.
            if name not in _STANDARD and name not in line and name not in ("request", "response"):
                line[name] = value
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        if trace_id := trace_of_this():
            line["trace_id"] = trace_id
        return json.dumps(line, default=str, ensure_ascii=False)

    def formatException(self, ei: Any) -> str:  # noqa: N802 - logging's name
        """Return the places an exception came through, and its kind."""
        return describe_trace(ei[1])


class HumanFormatter(logging.Formatter):
    """One line for people: time, process, level, message, and the request id when there is one."""

    def formatException(self, ei: Any) -> str:  # noqa: N802 - logging's name
        """Return the places an exception came through, and its kind."""
        return describe_trace(ei[1])

    def format(self, record: logging.LogRecord) -> str:
        """Return the record as a line to read, followed by its traceback if it has one."""
        text = (
            f"{_utc(record.created)} {process_name():<11} {record.levelname.lower():<7}"
            f" {record.getMessage()}"
        )
        if request_id := _request_id.get():
            text += f" [{request_id}]"
        if record.exc_info:
            text += "\n" + self.formatException(record.exc_info)
        return text


class WithoutTexts(logging.Filter):
    """Take what exceptions say out of a record, before anybody formats it."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Name exceptions among the arguments by their kind; Celery hands over their texts."""
        if isinstance(record.args, dict):
            record.args = {name: _plain(value) for name, value in record.args.items()}
            if record.exc_info and "exc" in record.args:
                record.args["exc"] = kind_of(record.exc_info[1]) if record.exc_info[1] else ""
                record.args["traceback"] = ""
        elif isinstance(record.args, tuple):
            record.args = tuple(_plain(value) for value in record.args)
        # Celery's copy of its arguments, texts and traceback among them.
        vars(record).pop("data", None)
        return True


def describe_trace(error: BaseException | None) -> str:
    """Return a traceback without what any of its exceptions say."""
    if error is None:
        return ""
    lines: list[str] = []
    before = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    if before is not None:
        lines = [describe_trace(before), "which led to:"]
    lines.append("Traceback (most recent call last):")
    lines += [one.rstrip("\n") for one in traceback.format_tb(error.__traceback__)]
    return "\n".join([*lines, kind_of(error)])


def kind_of(error: BaseException) -> str:
    """Return what may be said of an exception: its kind, PostgreSQL's code, our own words."""
    name = type(error).__name__
    cause = error.__cause__
    is_wrapped = type(error).__module__ == "django.db.utils"  # of the driver's own
    state = getattr(cause if is_wrapped else error, "sqlstate", None)
    if state:
        return f"{name} ({state})"
    module = type(error).__module__.partition(".")[0]
    is_ours = module in OURS and not hasattr(error, "errors")
    is_connection = isinstance(error, OSError) or name in ("OperationalError", "InterfaceError")
    return f"{name}: {error}" if is_ours or is_connection else name


def trace_of_this() -> str:
    """Return the id of the trace at hand; empty where tracing is off."""
    api = sys.modules.get("opentelemetry.trace")
    context = api.get_current_span().get_span_context() if api is not None else None
    return f"{context.trace_id:032x}" if context is not None and context.is_valid else ""


def _plain(value: object) -> object:
    return kind_of(value) if isinstance(value, BaseException) else value


def process_name() -> str:
    """Return what this process is called: web, worker, maintenance, beat; or its id."""
    return os.environ.get("MEMCONSOLE_PROCESS") or f"pid-{os.getpid()}"


def configuration(*, form: str, level: str) -> dict[str, Any]:
    """Return logging's configuration; ValueError for an unknown form or level."""
    if form not in FORMS:
        raise ValueError(f"MEMCONSOLE_LOG must be one of {', '.join(FORMS)}, not {form!r}.")
    if level.upper() not in LEVELS:
        raise ValueError(f"MEMCONSOLE_LOG_LEVEL must be one of {', '.join(LEVELS)}, not {level!r}.")
    formatter = JsonFormatter if form == "json" else HumanFormatter
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"line": {"()": formatter}},
        "filters": {"texts": {"()": WithoutTexts}},
        "handlers": {
            "lines": {
                "class": "logging.StreamHandler",
                "formatter": "line",
                "filters": ["texts"],
            }
        },
        "root": {"handlers": ["lines"], "level": level.upper()},
        "loggers": {
            # Django's own handlers would print each line a second time.
            "django": {"handlers": [], "propagate": True},
            "django.server": {"handlers": [], "propagate": True},
            # At DEBUG these log what they send: statements with their values, bodies, mails.
            **{name: {"level": _at_least("INFO", level, most=False)} for name in TALKATIVE},
            # Jobs come by every few seconds, and PostgreSQL keeps what each has done: a line
            # for each message would bury what a person should read.
            **{
                name: {"level": _at_least("WARNING", level)}
                for name in ("celery.app.trace", "celery.beat", "celery.worker.strategy")
            },
        },
    }


def _at_least(floor: str, level: str, *, most: bool = True) -> str:
    """Return the stricter of two levels; asking for DEBUG asks for everything, or for ``most``."""
    if level.upper() == "DEBUG" and most:
        return "DEBUG"
    return max(floor, level.upper(), key=logging.getLevelNamesMapping().__getitem__)


def _utc(seconds: float) -> str:
    whole = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds))
    return f"{whole}.{int(seconds % 1 * 1000):03d}Z"
