"""The numbers at /metrics: who may read them, what they say, and that they stay few."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import pytest
from django.db import connections
from django.test import Client
from django.test.utils import CaptureQueriesContext
from prometheus_client.parser import text_string_to_metric_families

from audits import jobs, measures
from memconsole.metrics import standing
from records import curate
from records.access import Access
from records.domain.facts import HoldReason
from records.jobs.runs import perform
from records.retrieve import RecallRequest, recall
from tests.web.conftest import make_access, put

MARKER = "zanzibar-marker"
Samples = dict[tuple[str, tuple[tuple[str, str], ...]], float]


@pytest.fixture(autouse=True)
def _always_anew(settings: Any) -> None:
    settings.METRICS_CACHE_SECONDS = 0


def scrape(**headers: Any) -> Any:
    return Client().get("/metrics", **headers)


def samples(text: str) -> Samples:
    return {
        (one.name, tuple(sorted(one.labels.items()))): one.value
        for family in text_string_to_metric_families(text)
        for one in family.samples
    }


def value(found: Samples, name: str, **labels: str) -> float:
    return found.get((name, tuple(sorted(labels.items()))), 0.0)


def read() -> Samples:
    answer = scrape()
    assert answer.status_code == 200
    return samples(answer.content.decode())


def measure(access: Access) -> None:
    assert perform(jobs.MEASURES, access.workspace_id, measures.measure) is not None


@pytest.mark.parametrize("address", ["127.0.0.1", "127.8.9.1", "::1", "::ffff:127.0.0.1"])
def test_this_machine_may_scrape_without_a_key(address: str) -> None:
    assert scrape(REMOTE_ADDR=address).status_code == 200


@pytest.mark.parametrize("address", ["10.0.0.5", "203.0.113.9", "::2", "", "localhost", "unix:"])
def test_another_machine_may_not_scrape_without_a_key(address: str) -> None:
    answer = scrape(REMOTE_ADDR=address)
    assert answer.status_code == 403
    assert b"memconsole_writes" not in answer.content


@pytest.mark.parametrize(
    "header",
    ["X-Forwarded-For", "X-Real-IP", "Forwarded", "Via", "X-Forwarded-Proto", "X-Forwarded-Host"],
)
@pytest.mark.parametrize("claim", ["127.0.0.1", "for=127.0.0.1", ""])
def test_a_request_through_a_proxy_is_not_local_whatever_it_claims(header: str, claim: str) -> None:
    for address in ("127.0.0.1", "203.0.113.9"):
        answer = Client(headers={header: claim}).get("/metrics", REMOTE_ADDR=address)
        assert answer.status_code == 403


def test_behind_tls_a_key_is_needed(settings: Any) -> None:
    settings.HTTPS = True
    assert scrape().status_code == 403


def test_the_scrape_key_opens_from_anywhere_and_nothing_else_does(settings: Any) -> None:
    settings.METRICS_KEY = "a-long-scrape-key"
    right = {"HTTP_AUTHORIZATION": "Bearer a-long-scrape-key"}
    assert scrape(REMOTE_ADDR="203.0.113.9", **right).status_code == 200
    for wrong in ("", "Bearer", "Bearer a-long-scrape-ke", "Bearer é", "Basic a-long-scrape-key"):
        answer = scrape(HTTP_AUTHORIZATION=wrong)
        assert answer.status_code == 401
        assert answer.headers["WWW-Authenticate"].startswith("Bearer")
        assert b"memconsole_writes" not in answer.content


def test_metrics_are_read_not_written() -> None:
    assert Client().post("/metrics").status_code == 405


def test_writes_recalls_and_requests_are_counted() -> None:
    access = make_access()
    before = read()
    put(access, "Acme")
    put(access, "Acme")
    recall(RecallRequest(partition="ada", query="where does Ada work"), access=access)
    Client().get("/healthz")
    after = read()

    def gained(name: str, **labels: str) -> float:
        return value(after, name, **labels) - value(before, name, **labels)

    assert gained("memconsole_writes_total", decision="added") == 1
    assert gained("memconsole_writes_total", decision="reinforced") == 1
    assert gained("memconsole_gate_verdicts_total", outcome="allow") == 2
    assert gained("memconsole_recall_duration_seconds_count") == 1
    assert gained("memconsole_served_facts_total", current="yes") == 1
    request = {"method": "GET", "route": "healthz", "status": "200"}
    assert gained("memconsole_http_request_duration_seconds_count", **request) == 1


def test_an_expired_fact_that_is_served_is_counted() -> None:
    access = make_access()
    put(
        access,
        "Acme",
        valid_until=datetime(2020, 1, 1, tzinfo=UTC),
        valid_from=datetime(2019, 1, 1, tzinfo=UTC),
    )
    before = value(read(), "memconsole_expired_served_total")
    recall(RecallRequest(partition="ada", query="where does Ada work"), access=access)
    assert value(read(), "memconsole_expired_served_total") - before == 1


def test_the_memory_is_measured_and_added_up_over_workspaces() -> None:
    one, two = make_access(), make_access()
    before = read()
    for access, count in ((one, 2), (two, 3)):
        made = [put(access, f"value {i}", predicate="note").id for i in range(count)]
        curate.hold([made[0]], HoldReason.MANUAL, access=access)  # type: ignore[list-item]
        measure(access)
    after = read()

    def gained(name: str, **labels: str) -> float:
        return value(after, name, **labels) - value(before, name, **labels)

    assert gained("memconsole_records", status="active") == 3
    assert gained("memconsole_records", status="quarantined") == 2
    assert (
        sum(gained("memconsole_quarantine_facts", risk=r) for r in ("low", "medium", "high")) == 2
    )
    assert gained("memconsole_workspaces") == 2
    assert value(after, "memconsole_quarantine_oldest_age_seconds") > 0
    assert value(after, "memconsole_trail_unsealed_events") > 0
    assert value(after, "memconsole_duplicate_facts") == 0


def test_nothing_of_a_memory_or_of_names_is_shown() -> None:
    access = make_access(f"w-{MARKER}-{uuid4().hex[:6]}")
    put(access, MARKER, partition=MARKER, session=MARKER, predicate="note", subject=MARKER)
    Client().get(f"/w/{MARKER}/records?text={MARKER}")
    Client().get(f"/{MARKER}")
    measure(access)
    assert MARKER not in scrape().content.decode()


def test_requests_are_labelled_by_template_so_that_series_stay_few() -> None:
    for _ in range(3):
        Client().get(f"/w/{uuid4()}/records")
        Client().get(f"/{uuid4()}")
        Client().generic(f"X{uuid4().hex[:6]}".upper(), "/healthz")
    routes = {dict(labels).get("route") for name, labels in read() if "http_request" in name}
    assert "w/<str:workspace>/records" in routes
    assert "unknown" in routes
    assert not [one for one in routes if re.search(r"[0-9a-f]{8}-", one or "")]
    methods = {dict(labels).get("method") for name, labels in read() if "http_request" in name}
    assert methods <= {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "other"}


def test_workspaces_have_a_label_only_where_asked_and_never_more_than_asked(settings: Any) -> None:
    for access in (make_access(), make_access(), make_access()):
        measure(access)
    assert not [labels for _, labels in read() if "workspace" in dict(labels)]
    settings.METRICS_WORKSPACES = 2
    found = read()
    names = {dict(labels)["workspace"] for _, labels in found if "workspace" in dict(labels)}
    assert len(names) == 3
    assert "other" in names


def test_labelled_and_added_up_numbers_agree(settings: Any) -> None:
    access = make_access()
    put(access)
    measure(access)
    whole = value(read(), "memconsole_records", status="active")
    settings.METRICS_WORKSPACES = 2
    parts = [
        number
        for (name, labels), number in read().items()
        if name == "memconsole_records" and dict(labels)["status"] == "active"
    ]
    assert sum(parts) == whole


def test_a_part_that_cannot_be_read_is_left_out_and_said(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails() -> Any:
        raise OSError("no broker")

    monkeypatch.setattr(standing.broker, "queues", fails)
    found = read()
    assert value(found, "memconsole_up", part="broker") == 0
    assert value(found, "memconsole_up", part="measures") == 1


def test_a_scrape_costs_the_same_number_of_statements_whatever_there_is() -> None:
    def statements() -> int:
        with CaptureQueriesContext(connections["default"]) as captured:
            scrape()
        return len(captured)

    first = statements()
    for _ in range(3):
        measure(make_access())
    assert statements() == first


def test_measuring_again_changes_nothing_but_the_time() -> None:
    access = make_access()
    put(access)
    measure(access)
    first = [n for _, _, n in standing.measures.load_all()]
    measure(access)
    second = [n for _, _, n in standing.measures.load_all()]
    steady = ("records", "held", "fences", "duplicates", "incidents", "operations")
    assert [[n[key] for key in steady] for n in first] == [
        [n[key] for key in steady] for n in second
    ]
