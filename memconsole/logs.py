"""Log lines of every process, and the request id that ties them to a request.

Owns the two forms (JSON with ``MEMCONSOLE_LOG=json``, human otherwise). Memory
text never reaches a log: log ids, counts and codes.
"""

from __future__ import annotations

import json
import logging
import os
import re
import time
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
        return json.dumps(line, default=str, ensure_ascii=False)


class HumanFormatter(logging.Formatter):
    """One line for people: time, process, level, message, and the request id when there is one."""

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
        "handlers": {"lines": {"class": "logging.StreamHandler", "formatter": "line"}},
        "root": {"handlers": ["lines"], "level": level.upper()},
        "loggers": {
            # Django's own handlers would print each line a second time.
            "django": {"handlers": [], "propagate": True},
            "django.server": {"handlers": [], "propagate": True},
            # Jobs come by every few seconds, and PostgreSQL keeps what each has done: a line
            # for each message would bury what a person should read.
            **{
                name: {"level": _at_least("WARNING", level)}
                for name in ("celery.app.trace", "celery.beat", "celery.worker.strategy")
            },
        },
    }


def _at_least(floor: str, level: str) -> str:
    """Return the stricter of two levels; asking for DEBUG asks for everything."""
    if level.upper() == "DEBUG":
        return "DEBUG"
    return max(floor, level.upper(), key=logging.getLevelNamesMapping().__getitem__)


def _utc(seconds: float) -> str:
    whole = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds))
    return f"{whole}.{int(seconds % 1 * 1000):03d}Z"
