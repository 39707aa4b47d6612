"""Log lines: one JSON object each, with the process and what was attached."""

import json
import logging
import sys

import pytest

from memconsole import logs


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


def test_an_exception_stays_on_its_line() -> None:
    try:
        raise ValueError("no")
    except ValueError:
        line = logs.JsonFormatter().format(record("failed", exc_info=sys.exc_info()))
    assert json.loads(line)["exception"].endswith("ValueError: no")


def test_an_unknown_form_is_refused_by_name() -> None:
    with pytest.raises(ValueError, match="MEMCONSOLE_LOG must be one of human, json, not 'xml'"):
        logs.configuration(form="xml", level="INFO")


def test_messages_of_jobs_are_quiet_unless_everything_is_asked_for() -> None:
    def level(asked: str) -> str:
        loggers = logs.configuration(form="human", level=asked)["loggers"]
        return str(loggers["celery.beat"]["level"])

    assert [level(one) for one in ("INFO", "ERROR", "DEBUG")] == ["WARNING", "ERROR", "DEBUG"]
