"""Liveness and readiness: no key, no secrets, and the failing part by name."""

import json
import urllib.request

import pytest
from django.db import connections
from django.test import Client

from memconsole import health
from memconsole.celery import app
from tests import server


def test_alive_needs_nothing() -> None:
    response = Client().get("/healthz")
    assert response.status_code == 200
    assert response.json() == {"status": "ok"}


def test_ready_when_every_part_works() -> None:
    response = Client().get("/readyz")
    assert response.status_code == 200
    assert response.json()["failing"] == []


def test_a_missing_broker_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    nobody = f"redis://:hunter2@127.0.0.1:{server.free_port()}"
    monkeypatch.setattr(app.conf, "broker_write_url", nobody)
    response = Client().get("/readyz")
    assert response.status_code == 503
    assert response.json()["failing"] == ["broker"]
    assert b"hunter2" not in response.content


def test_a_missing_database_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    connections["default"].close()
    monkeypatch.setitem(connections["default"].settings_dict, "HOST", "/nowhere")
    response = Client().get("/readyz")
    assert response.status_code == 503
    assert "database" in response.json()["failing"]
    assert b"nowhere" not in response.content


def test_a_migration_not_applied_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    with connections["owner"].cursor() as cursor:
        cursor.execute(
            "DELETE FROM django_migrations WHERE app = 'audits' AND name = '0001_people'"
            " RETURNING applied"
        )
        (applied,) = cursor.fetchone()
    monkeypatch.setattr(health, "_migrated", False)
    try:
        response = Client().get("/readyz")
    finally:
        with connections["owner"].cursor() as cursor:
            cursor.execute(
                "INSERT INTO django_migrations (app, name, applied)"
                " VALUES ('audits', '0001_people', %s)",
                [applied],
            )
    assert response.status_code == 503
    assert response.json()["failing"] == ["migrations"]


@pytest.mark.parametrize("path", ["/healthz", "/readyz"])
def test_only_reading_is_allowed(path: str) -> None:
    assert Client().post(path).status_code == 405


def test_a_request_keeps_its_id_or_gets_one() -> None:
    client = Client()
    assert client.get("/healthz", headers={"X-Request-ID": "abc-1"})["X-Request-ID"] == "abc-1"
    forged = "a\tb" * 40
    given = client.get("/healthz", headers={"X-Request-ID": forged})["X-Request-ID"]
    assert given != forged
    assert len(given) == 36


def test_every_answer_carries_the_security_headers() -> None:
    response = Client().get("/healthz")
    policy = response["Content-Security-Policy"]
    assert "script-src 'self'" in policy
    assert "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy
    assert response["X-Frame-Options"] == "DENY"
    assert response["X-Content-Type-Options"] == "nosniff"


def test_the_real_server_is_ready(live_server_url: str) -> None:
    with urllib.request.urlopen(f"{live_server_url}/readyz") as response:
        assert json.load(response)["status"] == "ok"
