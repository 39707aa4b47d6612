"""An event in the words of the Open Cybersecurity Schema Framework, for a SIEM. Pure.

Written for OCSF 1.8.0 (schema.ocsf.io), with these of its classes:

* 3001 Account Change: keys, members, invitations, passwords;
* 3002 Authentication: log-ins, log-outs, refused keys;
* 3004 Entity Management: facts, sessions, sources, policies, rules, holds;
* 6003 API Activity: everything else: refusals, jobs, operations, exports, checks.

What the schema has no attribute for (the number in the trail, digests) stands
under ``unmapped``. docs/trail.md lists the attributes.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

VERSION = "1.8.0"
VENDOR = PRODUCT = "MemConsole"
CATEGORIES = {3: "Identity & Access Management", 6: "Application Activity"}
CLASSES = {
    3001: "Account Change",
    3002: "Authentication",
    3004: "Entity Management",
    6003: "API Activity",
}
SEVERITIES = {1: "Informational", 2: "Low", 3: "Medium", 5: "Critical"}
OTHER = 99
# The first word of an action -> its class; what is not here is API Activity.
FAMILIES = {
    "key": 3001,
    "member": 3001,
    "invitation": 3001,
    "person": 3001,
    "login": 3002,
    **dict.fromkeys(
        ("record", "session", "source", "partition", "policy", "policies", "hold", "ruleset"),
        3004,
    ),
}
AUTHENTICATIONS = frozenset(
    {"person.logged_in", "person.logged_out", "login.refused", "key.refused"}
)
# The last word of an action -> the activity of its class.
ACTIVITIES: Mapping[int, Mapping[str, int]] = {
    3001: {
        **dict.fromkeys(("added", "made", "created", "joined", "accepted", "invited"), 1),
        "password_changed": 3,
        **dict.fromkeys(("revoked", "removed"), 5),
    },
    3002: {"logged_in": 1, "refused": 1, "logged_out": 2},
    3004: {
        **dict.fromkeys(("added", "created", "installed", "placed"), 1),
        **dict.fromkeys(
            ("updated", "reinforced", "superseded", "extended", "confirmed", "edited", "changed"),
            3,
        ),
        **dict.fromkeys(("erased", "removed"), 4),
        **dict.fromkeys(("approved", "restored", "reopened"), 8),
        **dict.fromkeys(("evicted", "rejected", "retracted", "quarantined", "held"), 9),
        "activated": 10,
        "suspended": 12,
        "released": 13,
    },
    6003: {
        **dict.fromkeys(("created", "opened", "started", "requested", "added"), 1),
        **dict.fromkeys(("exported", "verified"), 2),
        **dict.fromkeys(("changed", "finished", "closed"), 3),
        **dict.fromkeys(("removed", "discarded"), 4),
    },
}
NAMES: Mapping[int, Mapping[int, str]] = {
    3001: {1: "Create", 3: "Password Change", 5: "Disable"},
    3002: {1: "Logon", 2: "Logoff"},
    3004: {
        **{1: "Create", 3: "Update", 4: "Delete", 8: "Enable", 9: "Disable", 10: "Activate"},
        **{12: "Suspend", 13: "Resume"},
    },
    6003: {1: "Create", 2: "Read", 3: "Update", 4: "Delete"},
}
DOORS = {"key": "API", "user": "console", "job": "worker", "command": "command line"}


def ocsf_event(row: Mapping[str, Any], *, workspace_id: str, workspace: str) -> dict[str, Any]:
    """Return one event as an OCSF object. ``row``: the columns of an event, its position, leaf."""
    action = str(row["action"])
    kind = class_of(action)
    activity = ACTIVITIES[kind].get(action.rsplit(".", 1)[-1], OTHER)
    severity = _severity(row)
    is_done = row["outcome"] in ("done", "held")
    said: dict[str, Any] = {
        "activity_id": activity,
        "activity_name": NAMES[kind].get(activity, action),
        "category_uid": kind // 1000,
        "category_name": CATEGORIES[kind // 1000],
        "class_uid": kind,
        "class_name": CLASSES[kind],
        "type_uid": kind * 100 + activity,
        "type_name": f"{CLASSES[kind]}: {NAMES[kind].get(activity, 'Other')}",
        "time": _millis(row["at"]),
        "severity_id": severity,
        "severity": SEVERITIES[severity],
        "status_id": 1 if is_done else 2,
        "status": "Success" if is_done else "Failure",
        "status_code": row["outcome"],
        "message": f"{action} by {row['actor_kind']} {row['actor']}",
        "count": row["count"],
        "metadata": _metadata(row, workspace_id),
        "actor": {"user": _user(row)},
        "unmapped": _unmapped(row, workspace),
    }
    if row["reason"]:
        said["status_detail"] = row["reason"]
    said.update(_of_class(kind, row, action))
    return said


def class_of(action: str) -> int:
    """Return the class of an action code."""
    if action in AUTHENTICATIONS:
        return 3002
    return FAMILIES.get(action.split(".", 1)[0], 6003)


def _of_class(kind: int, row: Mapping[str, Any], action: str) -> dict[str, Any]:
    """Return what a class asks for beyond the base event."""
    door = {"name": DOORS.get(row["actor_kind"], "MemConsole"), "type_id": 0}
    target = _text(row["target_id"])
    if kind == 3001:
        about = row["target_kind"] or action.split(".", 1)[0]
        user = {"name": about, "type_id": 4 if about == "api_key" else 1}
        return {"user": {**user, **({"uid": target} if target else {})}}
    if kind == 3002:
        return {"user": _user(row), "service": {"name": PRODUCT}}
    if kind == 3004:
        # "records" in a mass event has no id of its own.
        name = row["target_kind"] or action.split(".", 1)[0]
        entity = {"name": name, "type": name, "type_id": OTHER}
        found: dict[str, Any] = {"entity": {**entity, **({"uid": target} if target else {})}}
        return {**found, "comment": row["reason"]} if row["reason"] else found
    api: dict[str, Any] = {"operation": action, "service": {"name": PRODUCT}}
    if row["request_id"]:
        api["request"] = {"uid": row["request_id"]}
    resource = {"type": row["target_kind"] or "trail", **({"uid": target} if target else {})}
    return {"api": api, "src_endpoint": door, "resources": [{"name": resource["type"], **resource}]}


def _metadata(row: Mapping[str, Any], workspace_id: str) -> dict[str, Any]:
    said = {
        "version": VERSION,
        "product": {"name": PRODUCT, "vendor_name": VENDOR},
        "uid": f"{workspace_id}/{row['id']}",
        "event_code": row["action"],
        "log_name": "trail",
        "tenant_uid": workspace_id,
        "original_time": _iso(row["at"]),
    }
    if row["position"] is not None:
        said["sequence"] = row["position"]
    if row["request_id"]:
        said["correlation_uid"] = row["request_id"]
    return said


def _user(row: Mapping[str, Any]) -> dict[str, Any]:
    kinds = {"user": 1, "key": 4, "job": 3, "system": 3, "command": 3}
    is_admin = row["actor_kind"] == "user" and row["role"] == "administrator"
    # A nameless actor is named by its kind: a user of OCSF has a name or an id.
    user = {
        "name": row["actor"] or row["actor_kind"],
        "type_id": 2 if is_admin else kinds.get(row["actor_kind"], 0),
    }
    if row["role"]:
        user["groups"] = [{"name": row["role"], "type": "role"}]
    return user


def _unmapped(row: Mapping[str, Any], workspace: str) -> dict[str, Any]:
    said = {
        "workspace": workspace,
        "actor_kind": row["actor_kind"],
        "outcome": row["outcome"],
        "target_kind": row["target_kind"],
        "partition_id": _text(row["partition_id"]),
        "session_id": _text(row["session_id"]),
        "leaf_sha256": row["leaf"],
        "details": row["details"],
    }
    return {name: value for name, value in said.items() if value not in (None, "", {})}


def _severity(row: Mapping[str, Any]) -> int:
    if row["action"] == "trail.broken":
        return 5
    return {"held": 2, "denied": 3, "failed": 3}.get(row["outcome"], 1)


def _text(value: Any) -> str:
    return "" if value is None else str(value)


def _millis(at: datetime) -> int:
    whole = at.astimezone(UTC)
    return int(whole.timestamp()) * 1000 + whole.microsecond // 1000


def _iso(at: datetime) -> str:
    return at.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
