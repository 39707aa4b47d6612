"""OCSF: each class has what its published attribute lists ask for, and nothing they do not know.

The lists below are those of OCSF 1.8.0 for the attributes that are used here:
what is required, which numbers an enumeration has, which type a value is.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta, timezone
from typing import Any
from uuid import uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from audits.domain.ocsf import class_of, ocsf_event

BASE = {
    "activity_id": int,
    "activity_name": str,
    "category_uid": int,
    "category_name": str,
    "class_uid": int,
    "class_name": str,
    "type_uid": int,
    "type_name": str,
    "time": int,
    "severity_id": int,
    "severity": str,
    "status_id": int,
    "status": str,
    "status_code": str,
    "status_detail": str,
    "message": str,
    "count": int,
    "metadata": "metadata",
    "unmapped": dict,
}
CLASS: dict[int, dict[str, Any]] = {
    3001: {**BASE, "actor": "actor", "user": "user", "user_result": "user"},
    3002: {**BASE, "actor": "actor", "user": "user", "service": "service"},
    3004: {**BASE, "actor": "actor", "entity": "managed_entity", "comment": str},
    6003: {
        **BASE,
        "actor": "actor",
        "api": "api",
        "src_endpoint": "network_endpoint",
        "resources": ["resource_details"],
    },
}
REQUIRED_OF_ALL = {
    *("activity_id", "category_uid", "class_uid", "metadata", "severity_id", "time", "type_uid"),
}
REQUIRED = {
    3001: {"user"},
    3002: {"user"},
    3004: {"entity"},
    6003: {"actor", "api", "src_endpoint"},
}
ACTIVITY = {
    3001: {0, *range(1, 13), 99},
    3002: {0, *range(1, 8), 99},
    3004: {0, *range(1, 14), 99},
    6003: {0, 1, 2, 3, 4, 99},
}
OBJECTS: dict[str, dict[str, Any]] = {
    "metadata": {
        **dict.fromkeys(("version", "uid", "event_code", "log_name", "tenant_uid"), str),
        **{"original_time": str, "correlation_uid": str, "sequence": int, "product": "product"},
    },
    "product": {"name": str, "vendor_name": str, "uid": str, "version": str},
    "actor": {"user": "user"},
    "user": {"name": str, "uid": str, "type_id": int, "groups": ["group"]},
    "group": {"name": str, "type": str, "uid": str},
    "service": {"name": str, "uid": str},
    "managed_entity": {"name": str, "uid": str, "type": str, "type_id": int},
    "api": {"operation": str, "service": "service", "request": "request"},
    "request": {"uid": str},
    "network_endpoint": {"name": str, "type_id": int},
    "resource_details": {"name": str, "type": str, "uid": str},
}
OBJECT_REQUIRED = {
    "metadata": {"product", "version"},
    "api": {"operation"},
    "request": {"uid"},
}
AT_LEAST_ONE = {
    name: {"name", "uid"}
    for name in ("product", "user", "group", "service", "managed_entity", "network_endpoint")
}


def check(said: Any, kind: Any, where: str) -> None:
    """Assert that a value is what the lists say of it."""
    if isinstance(kind, list):
        assert isinstance(said, list), where
        for one in said:
            check(one, kind[0], where)
        return
    if isinstance(kind, str):
        assert isinstance(said, dict), where
        known = OBJECTS[kind]
        assert said.keys() <= known.keys(), (where, said.keys() - known.keys())
        assert OBJECT_REQUIRED.get(kind, set()) <= said.keys(), where
        if kind in AT_LEAST_ONE:
            assert AT_LEAST_ONE[kind] & said.keys(), where
        for name, value in said.items():
            check(value, known[name], f"{where}.{name}")
        return
    assert isinstance(said, kind), (where, said)
    assert not isinstance(said, bool), where
    if kind is str:
        assert said, where


def check_event(said: dict[str, Any]) -> None:
    kind = said["class_uid"]
    assert REQUIRED_OF_ALL | REQUIRED[kind] <= said.keys()
    assert said.keys() <= CLASS[kind].keys(), said.keys() - CLASS[kind].keys()
    for name, value in said.items():
        check(value, CLASS[kind][name], name)
    assert said["activity_id"] in ACTIVITY[kind]
    assert said["category_uid"] == kind // 1000
    assert said["type_uid"] == kind * 100 + said["activity_id"]
    assert said["severity_id"] in range(7)
    assert said["status_id"] in (1, 2)
    if kind == 3002:
        assert said.get("service") or said.get("dst_endpoint")


def row(**more: Any) -> dict[str, Any]:
    return {
        "position": 7,
        "leaf": "ab" * 32,
        "at": datetime(2026, 3, 1, 12, 0, 0, 123456, tzinfo=UTC),
        "actor_kind": "user",
        "actor": "ann",
        "role": "administrator",
        "action": "record.evicted",
        "outcome": "done",
        "target_kind": "record",
        "target_id": uuid4(),
        "partition_id": None,
        "session_id": None,
        "reason": "poison",
        "request_id": "r-1",
        "count": 1,
        "details": {"from": "active"},
        "id": 41,
        **more,
    }


def said_of(**more: Any) -> dict[str, Any]:
    return ocsf_event(row(**more), workspace_id=str(uuid4()), workspace="w")


@pytest.mark.parametrize(
    ("action", "kind", "activity"),
    [
        ("record.added", 3004, 1),
        ("record.evicted", 3004, 9),
        ("record.erased", 3004, 4),
        ("session.suspended", 3004, 12),
        ("session.released", 3004, 13),
        ("record.approved", 3004, 8),
        ("key.made", 3001, 1),
        ("key.revoked", 3001, 5),
        ("person.password_changed", 3001, 3),
        ("person.logged_in", 3002, 1),
        ("person.logged_out", 3002, 2),
        ("login.refused", 3002, 1),
        ("console.refused", 6003, 99),
        ("export.started", 6003, 1),
        ("trail.verified", 6003, 2),
        ("something.unheard_of", 6003, 99),
    ],
)
def test_each_action_is_of_the_class_that_fits(action: str, kind: int, activity: int) -> None:
    said = said_of(action=action)
    check_event(said)
    assert (said["class_uid"], said["activity_id"]) == (kind, activity)


def test_event_says_who_what_when_and_how_it_ended() -> None:
    said = said_of(outcome="denied", action="console.refused", reason="")
    assert (said["status"], said["status_code"], said["severity_id"]) == ("Failure", "denied", 3)
    assert said["actor"]["user"]["name"] == "ann"
    assert said["time"] == 1_772_366_400_123
    assert said["metadata"]["sequence"] == 7
    assert said["metadata"]["original_time"] == "2026-03-01T12:00:00.123456Z"
    assert "status_detail" not in said
    assert said_of(action="trail.broken", outcome="failed")["severity"] == "Critical"
    away = datetime(2026, 3, 1, 14, 0, 0, 999999, tzinfo=timezone(timedelta(hours=2)))
    assert said_of(at=away)["time"] == 1_772_366_400_999


@given(
    st.fixed_dictionaries(
        {
            "action": st.from_regex(r"\A[a-z]{1,8}(\.[a-z_]{1,12}){0,2}\Z"),
            "actor": st.text(max_size=20),
            "actor_kind": st.sampled_from(["key", "user", "job", "command", "system", "anonymous"]),
            "role": st.sampled_from(["", "auditor", "administrator"]),
            "outcome": st.sampled_from(["done", "denied", "failed", "held"]),
            "target_kind": st.sampled_from(["", "record", "api_key", "session"]),
            "target_id": st.one_of(st.none(), st.uuids()),
            "position": st.one_of(st.none(), st.integers(1, 2**60)),
            "reason": st.text(max_size=20),
            "request_id": st.sampled_from(["", "r-1"]),
        }
    )
)
def test_whatever_happened_the_object_is_valid_and_is_json(changes: dict[str, Any]) -> None:
    said = said_of(**changes)
    check_event(said)
    assert json.loads(json.dumps(said)) == said
    assert said["class_uid"] == class_of(changes["action"])
