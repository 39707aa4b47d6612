"""One error shape for everything, and no 5xx for any input."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.db import connections
from django.test import Client
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from records import lists
from records.access import Scope
from records.schemas import items
from records.schemas.corrections import CorrectionAsked, RetractionAsked
from records.schemas.policies import PolicyBody
from records.schemas.recall import FeedbackGiven, Question
from tests.api.conftest import Agent, error

BODIES = [
    b"",
    b" ",
    b"{",
    b"}",
    b"[",
    b'{"items": [}',
    b"\xff\xfe{}",
    b"\xef\xbb\xbf{}",
    b'{"a": "\xff"}',
    b"[" * 100_000,
    b'{"a":' * 100_000,
    b'{"items": ' + b"[" * 50_000 + b"]" * 50_000 + b"}",
    b'{"metadata": ' + b'{"a":' * 500 + b"1" + b"}" * 500 + b"}",
    b'{"partition": "p", "content": "a b", "metadata": {"a":' + b"[" * 60 + b"]" * 60 + b"}}",
    b'{"query": ' + b"9" * 10_000 + b"}",
    b'{"a": 1, "a": 2}',
    b'{"\\ud800": 1}',
    b'{"\\u0000": 1}',
    b'{"query": "\\ud800", "partition": "\\udfff"}',
    b'{"query": NaN, "partition": Infinity}',
    b'{"items": [NaN, -Infinity, 1e999, null, [], {}, {"partition": {}}]}',
    b"null",
    b"true",
    b"0",
    b'""',
    b"[]",
    b"{}",
]
PATHS = [
    ("post", "memories"),
    ("post", "memories/batch"),
    ("post", "recall"),
    ("post", "memories/01980c1e-7f43-7cc0-b2a4-1f4f0c1d2e3f/correct"),
    ("post", "memories/01980c1e-7f43-7cc0-b2a4-1f4f0c1d2e3f/retract"),
    ("post", "recalls/01980c1e-7f43-7cc0-b2a4-1f4f0c1d2e3f/feedback"),
    ("post", "sources/feed/runs"),
    ("post", "sources/feed/runs/01980c1e-7f43-7cc0-b2a4-1f4f0c1d2e3f/finish"),
    ("put", "policies/employer"),
]


@pytest.fixture
def hostile(shared: Agent) -> Agent:
    """One key for many hostile requests."""
    return shared


@pytest.mark.parametrize("body", BODIES, ids=lambda body: repr(body[:30]))
@pytest.mark.parametrize(("method", "path"), PATHS)
def test_a_hostile_body_gets_a_clear_4xx(
    hostile: Agent, method: str, path: str, body: bytes
) -> None:
    response = hostile.raw(method, path, body)
    assert response.status_code < 500
    if response.status_code >= 400:
        error(response, response.status_code, json.loads(response.content)["error"]["code"])


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=30),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=8,
)
FIELDS = st.sampled_from(
    sorted(
        set(items.FIELDS)
        | set(Question.model_fields)
        | set(FeedbackGiven.model_fields)
        | set(CorrectionAsked.model_fields)
        | set(RetractionAsked.model_fields)
        | set(PolicyBody.model_fields)
        | {"items", "run_id"}
    )
)
PARAMETERS = ("partition", "status", "session", "text", "as_of", "limit", "cursor", "subject", "x")


@given(
    door=st.sampled_from(PATHS),
    body=st.dictionaries(FIELDS, JSON_VALUES | st.text(max_size=300), max_size=8) | JSON_VALUES,
)
@settings(
    max_examples=150,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
def test_no_json_at_all_makes_a_5xx(hostile: Agent, door: tuple[str, str], body: Any) -> None:
    response = hostile.raw(*door, json.dumps(body).encode())
    assert response.status_code < 500


@given(
    path=st.sampled_from(["memories", "sessions", "policies", "policies/x", "whoami"]),
    parameters=st.dictionaries(
        st.sampled_from(PARAMETERS),
        st.text(max_size=30),
        max_size=4,
    ),
)
@settings(
    max_examples=100,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
def test_no_query_makes_a_5xx(hostile: Agent, path: str, parameters: dict[str, str]) -> None:
    try:
        response = hostile.get(path, **parameters)
    except UnicodeEncodeError:
        return  # a surrogate cannot be sent in a URL
    assert response.status_code < 500


@pytest.mark.parametrize(
    "path",
    [
        "",
        "nothing",
        "memories/",
        "memories/%00",
        "memories/%ff%fe",
        "memories/a/b/c",
        "policies/%00",
        "policies/" + "x" * 5000,
        "sources/%00/runs",
        "../../etc/passwd",
    ],
)
def test_an_odd_path_is_no_crash(hostile: Agent, path: str) -> None:
    response = hostile.get(path)
    assert response.status_code in (404, 405)
    error(response, response.status_code, json.loads(response.content)["error"]["code"])


def test_names_in_paths_may_be_in_any_script(hostile: Agent) -> None:
    response = hostile.post("sources/Звёзды/runs", {"partition": "p"})
    assert response.json()["source"] == "Звёзды"
    error(hostile.post("sources/%00/runs", {"partition": "p"}), 422, "invalid")
    error(hostile.post("sources/" + "x" * 201 + "/runs", {"partition": "p"}), 422, "invalid")
    error(hostile.put("policies/" + "x" * 201, {"reason": "x"}), 422, "invalid")


def test_bytes_that_are_no_json_are_told_apart(hostile: Agent) -> None:
    fact = b'{"partition": "p", "content": "Ana likes tea."}'
    for wrong in (
        hostile.raw("post", "memories", fact, content_type="text/plain"),
        hostile.raw("post", "memories", fact, content_type="application/json; charset=latin-1"),
        hostile.raw("post", "memories", fact, Content_Encoding="gzip"),
    ):
        error(wrong, 415, "unsupported_media_type")
    assert (
        hostile.raw(
            "post", "memories", fact, content_type="application/json; charset=UTF-8"
        ).status_code
        == 200
    )
    error(hostile.raw("post", "memories", b"{"), 400, "bad_json")


def test_an_empty_host_or_an_unknown_one_is_shaped_too(hostile: Agent) -> None:
    response = Client().get("/api/v1/whoami", headers={"Host": "evil.example"})
    error(response, 400, "bad_request")
    error(Client().get("/api/v2/whoami"), 404, "not_found")


def test_a_crash_tells_nothing_but_its_id(hostile: Agent, monkeypatch: pytest.MonkeyPatch) -> None:
    def crash(*args: Any, **kwargs: Any) -> None:
        raise RuntimeError("secret detail")

    monkeypatch.setattr("records.api.whoami.access_of", crash)
    quiet = Client(raise_request_exception=False)
    response = quiet.get("/api/v1/whoami", headers=hostile.headers())
    assert "secret" not in error(response, 500, "internal")["message"]


def test_a_database_that_is_away_is_no_fault_of_ours(
    hostile: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert hostile.get("whoami").status_code == 200
    connections["default"].close()
    monkeypatch.setitem(connections["default"].settings_dict, "HOST", "/nowhere")
    for path, body in (
        ("memories", {"partition": "p", "content": "Ana likes tea."}),
        ("recall", {"partition": "p", "query": "tea"}),
    ):
        response = hostile.post(path, body)
        assert "nowhere" not in error(response, 503, "unavailable")["message"]
        assert response.headers["Retry-After"]


def test_a_search_without_end_is_refused_with_advice(
    hostile: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lists, "PATIENCE", "50ms")
    monkeypatch.setattr(lists, "RECORD", f"{lists.RECORD} CROSS JOIN pg_sleep(5)")
    hostile.write()
    found = error(hostile.get("memories"), 422, "invalid")
    assert found["fields"][0]["code"] == "too_broad"


def test_a_request_id_is_kept_and_told(hostile: Agent) -> None:
    response = hostile.client.get("/api/v1/whoami", headers={"X-Request-ID": "mine-1"})
    assert error(response, 401, "unauthorized")["request_id"] == "mine-1"
    assert hostile.get("whoami").headers["X-Request-ID"]


def test_a_write_key_opens_no_other_door(hostile: Agent) -> None:
    writer = hostile.with_scopes(Scope.WRITE)
    assert writer.get("whoami").status_code == 200
    error(writer.put("policies/employer", {"reason": "x"}), 403, "forbidden")
    error(writer.post("recall", {}), 403, "forbidden")
