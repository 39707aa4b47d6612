"""Log lines: one JSON object each, with the process and what was attached."""

import json
import logging
import sys
from typing import Any

import psycopg
import pytest

from memconsole import logs
from records.embeddings.model import EmbeddingError
from records.items import BadRequest, FieldError


def record(message: str, **extra: object) -> logging.LogRecord:
    made = logging.makeLogRecord({"msg": message, "levelname": "INFO", "name": "records.write"})
    vars(made).update(extra)
    return made


def test_a_line_is_one_json_object(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMCONSOLE_PROCESS", "worker")
    line = logs.JsonFormatter().format(record("two\nlines", items=3, request=object()))

    assert "\n" not in line
    parsed = json.loads(line)
    assert parsed["message"] == "two\nlines"
    assert parsed["process"] == "worker"
    assert parsed["level"] == "info"
    assert parsed["items"] == 3
    assert parsed["time"].endswith("Z")
    assert "request" not in parsed


def raised(error: Exception, cause: Exception | None = None) -> Any:
    try:
        raise error from cause
    except Exception:  # noqa: BLE001
        return sys.exc_info()


@pytest.mark.parametrize("form", [logs.JsonFormatter, logs.HumanFormatter])
def test_an_exception_is_its_kind_and_its_places_and_not_what_it_says(
    form: type[logging.Formatter],
) -> None:
    inner = psycopg.errors.CheckViolation("Failing row contains (Ada, Zanzibar)")
    info = raised(RuntimeError("Zanzibar"), raised(inner)[1])
    line = form().format(record("failed", exc_info=info))
    assert "Zanzibar" not in line
    assert "CheckViolation (23514)" in line
    assert "RuntimeError" in line
    assert "test_logs.py" in line
    if form is logs.JsonFormatter:
        assert json.loads(line)["exception"].endswith("RuntimeError")
        assert "\n" not in line


def test_what_a_connection_or_our_own_code_says_is_kept() -> None:
    away = psycopg.OperationalError("connection refused")
    assert logs.kind_of(away) == "OperationalError: connection refused"
    assert logs.kind_of(EmbeddingError("The server is away.")).endswith("server is away.")
    quoting = BadRequest(FieldError("value", "is not Zanzibar"))
    assert logs.kind_of(quoting) == "BadRequest"


def test_exceptions_among_a_lines_arguments_are_named_by_their_kind() -> None:
    line = record("It failed: %s", args=(ValueError("Zanzibar"),))
    assert logs.WithoutTexts().filter(line)
    assert line.getMessage() == "It failed: ValueError"


def test_celerys_line_about_a_failed_task_says_no_more_than_the_kind() -> None:
    context = {"name": "records.validity", "id": "1", "exc": "ValueError('Zanzibar')"}
    context["traceback"] = "... Zanzibar"
    line = record(
        "Task %(name)s[%(id)s] raised unexpected: %(exc)s\n%(traceback)s",
        args=context,
        data=context,
        exc_info=raised(ValueError("Zanzibar")),
    )
    assert logs.WithoutTexts().filter(line)
    text = logs.JsonFormatter().format(line)
    assert "Zanzibar" not in text
    assert "Task records.validity[1] raised unexpected: ValueError" in text


def test_an_unknown_form_is_refused_by_name() -> None:
    with pytest.raises(ValueError, match="MEMCONSOLE_LOG must be one of human, json, not 'xml'"):
        logs.configuration(form="xml", level="INFO")


def test_messages_of_jobs_are_quiet_unless_everything_is_asked_for() -> None:
    def level(asked: str) -> str:
        loggers = logs.configuration(form="human", level=asked)["loggers"]
        return str(loggers["celery.beat"]["level"])

    assert [level(one) for one in ("INFO", "ERROR", "DEBUG")] == ["WARNING", "ERROR", "DEBUG"]
