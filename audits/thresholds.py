"""What of a workspace needs a second person, and how long things are kept: read, and changed.

Owns the settings and their events. Making a rule of four eyes weaker, or
shortening how long evidence is kept, itself takes a second person: whoever
could lift the limit alone would not be limited by it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any
from uuid import UUID

from django.conf import settings as installation

from audits import approvals
from audits.domain.operations import BULK_THRESHOLD, UNDO_DAYS
from audits.models import Approval
from audits.second import ask_or_do_alone
from records import events
from records.access import Access
from records.events import Happening
from records.items import Conflict
from records.models import Workspace
from records.scope import workspace_scope

KIND = "settings_change"
WORDS: Mapping[str, str] = {
    "bulk": "Evictions need a second person above so many facts",
    "high_risk": "Approving a high-risk fact needs a second person",
    "undo_days": "Operations can be undone for so many days",
    "log_days": "Recalls and serves are kept for so many days",
}
PLACES: Mapping[str, tuple[str, ...]] = {
    "bulk": ("four_eyes", "bulk"),
    "high_risk": ("four_eyes", "high_risk"),
    "undo_days": ("operations", "undo_days"),
    "log_days": ("log_retention_days",),
}


@dataclass(frozen=True, slots=True)
class Thresholds:
    """The settings as they count, defaults filled in."""

    bulk: int = BULK_THRESHOLD
    high_risk: bool = False
    undo_days: int = UNDO_DAYS
    log_days: int = 0


def load(workspace_id: UUID) -> Thresholds:
    """Return a workspace's settings. Inside its scope."""
    found: Any = Workspace.objects.values_list("settings", flat=True).get(id=workspace_id)
    return read(found)


def read(found: Mapping[str, Any]) -> Thresholds:
    """Return the settings that a workspace's row says."""
    defaults = asdict(Thresholds(log_days=installation.LOG_RETENTION_DAYS))
    values = {}
    for name, default in defaults.items():
        value: Any = found
        for part in PLACES[name]:
            value = value.get(part) if isinstance(value, Mapping) else None
        values[name] = value if type(value) is type(default) else default
    return Thresholds(**values)


def loosened(before: Thresholds, after: Thresholds) -> list[str]:
    """Return which changes make things weaker: they need a second person."""
    found = []
    if after.bulk > before.bulk:
        found.append("bulk")
    if before.high_risk and not after.high_risk:
        found.append("high_risk")
    found += [
        name for name in ("undo_days", "log_days") if getattr(after, name) < getattr(before, name)
    ]
    return found


def change(wanted: Thresholds, *, reason: str, access: Access, user_id: UUID) -> Approval | None:
    """Change the settings; where that loosens any, ask a second person and return the question.

    Conflict: nothing differs, or a change waits for an answer already. Where
    nobody else could answer, it is done alone and said aloud.
    """
    with workspace_scope(access.workspace_id):
        before = load(access.workspace_id)
        if wanted == before:
            raise Conflict("nothing differs from what counts now")
        weaker = loosened(before, wanted)
        if not weaker:
            _save(before, wanted, reason, access)
            return None
        said = "; ".join(
            f"{WORDS[name].lower()}: {_word(getattr(before, name))} to {_word(getattr(wanted, name))}"
            for name in weaker
        )
        return ask_or_do_alone(
            KIND,
            target_kind="workspace",
            target_id=access.workspace_id,
            summary=f"Loosen {said}"[:500],
            payload={"before": asdict(before), "after": asdict(wanted)},
            reason=reason,
            access=access,
            user_id=user_id,
        )


def _perform(approval: Approval, access: Access) -> None:
    """Do what was asked, if the settings are still those that were to be changed."""
    before = load(approval.workspace_id)
    if asdict(before) != approval.payload["before"]:
        raise Conflict("the settings have changed since it was asked")
    _save(before, Thresholds(**approval.payload["after"]), approval.reason, access)


def _save(before: Thresholds, after: Thresholds, reason: str, access: Access) -> None:
    row = Workspace.objects.select_for_update().get(id=access.workspace_id)
    changes = {
        name: [value, getattr(after, name)]
        for name, value in asdict(before).items()
        if value != getattr(after, name)
    }
    found: dict[str, Any] = dict(row.settings)
    for name in changes:
        place: dict[str, Any] = found
        *way, last = PLACES[name]
        for part in way:
            place[part] = dict(place.get(part) or {})
            place = place[part]
        place[last] = getattr(after, name)
    row.settings = found
    row.save(update_fields=["settings"])
    events.append(
        [
            Happening(
                "settings.changed",
                "workspace",
                target_id=access.workspace_id,
                reason=reason,
                details={"changes": changes},
            )
        ],
        access=access,
    )


def _word(value: int | bool) -> str:
    return f"{value:,}" if type(value) is int else ("on" if value else "off")


approvals.register(KIND, "Looser settings", _perform)
