"""What people do with notifications: channels, rules, tests, another attempt.

Owns the acts and their events. An event says which and what, never an address.
Each act opens its own scope; who may do it is the view's to ask.
"""

from __future__ import annotations

import secrets as random
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.utils import timezone

from audits.domain.notices import ABOUT, QUIET_MOST, Channel, Kind
from audits.models import Notice, NoticeChannel, NoticeRule
from audits.notices import channels, secrets
from audits.notices.delivering import attempt, claim
from records import events
from records.access import Access
from records.domain.ids import uuid7
from records.events import Happening
from records.items import BadRequest, Conflict, FieldError, NotFound
from records.scope import workspace_scope

CHANNELS_MOST = 50
RULES_MOST = 200


@dataclass(frozen=True, slots=True)
class Told:
    """What a rule says: which kind, by which channel, from which number, how often at most."""

    kind: Kind
    channel_id: UUID
    threshold: float | None
    quiet_minutes: int
    is_active: bool = True


def make_channel(name: str, kind: Channel, address: str, *, access: Access) -> tuple[UUID, str]:
    """Make a channel; return its id, and the signing key of a webhook, which nobody sees again.

    BadRequest names ``address`` when nothing can be sent there.
    """
    if fault := channels.address_fault(kind, address):
        raise BadRequest(FieldError("address", fault))
    key = random.token_urlsafe(32) if kind is Channel.WEBHOOK else ""
    channel_id = uuid7(timezone.now())
    with workspace_scope(access.workspace_id):
        _bound(NoticeChannel.objects.filter(removed_at=None).count(), CHANNELS_MOST, "channels")
        NoticeChannel.objects.create(
            id=channel_id,
            workspace_id=access.workspace_id,
            name=name,
            kind=str(kind),
            place=channels.place_of(kind, address),
            secret=secrets.seal({"address": address, "key": key}),
            created_by=access.actor.name,
        )
        _tell("notice.channel_made", "notice_channel", channel_id, access, kind=str(kind))
    return channel_id, key


def change_channel(
    channel_id: UUID, *, name: str, address: str, is_active: bool, access: Access
) -> None:
    """Change a channel; an empty address leaves the one there is. A webhook keeps its key."""
    with workspace_scope(access.workspace_id):
        channel = _channel(channel_id, access)
        kind = Channel(channel.kind)
        if address:
            if fault := channels.address_fault(kind, address):
                raise BadRequest(FieldError("address", fault))
            try:
                key = secrets.unseal(channel.secret)["key"]
            except secrets.SealedError as error:
                raise BadRequest(FieldError("address", f"cannot be changed: {error}")) from error
            channel.secret = secrets.seal({"address": address, "key": key})
            channel.place = channels.place_of(kind, address)
        channel.name, channel.is_active = name, is_active
        channel.save(update_fields=["name", "is_active", "secret", "place"])
        _tell(
            "notice.channel_changed",
            "notice_channel",
            channel_id,
            access,
            active=is_active,
            address=bool(address),
        )


def remove_channel(channel_id: UUID, *, reason: str, access: Access) -> None:
    """Take a channel away with its rules, and destroy its secret."""
    now = timezone.now()
    with workspace_scope(access.workspace_id):
        channel = _channel(channel_id, access)
        channel.removed_at, channel.is_active, channel.secret = now, False, b""
        channel.save(update_fields=["removed_at", "is_active", "secret"])
        rules = NoticeRule.objects.filter(
            workspace_id=access.workspace_id, channel_id=channel_id, removed_at=None
        ).update(removed_at=now)
        _tell(
            "notice.channel_removed",
            "notice_channel",
            channel_id,
            access,
            reason=reason,
            rules=rules,
        )


def make_rule(told: Told, *, access: Access) -> UUID:
    """Make a rule. BadRequest names the field that is out of bounds; NotFound: no such channel."""
    told = _checked(told)
    rule_id = uuid7(timezone.now())
    with workspace_scope(access.workspace_id):
        _bound(NoticeRule.objects.filter(removed_at=None).count(), RULES_MOST, "rules")
        _channel(told.channel_id, access)
        NoticeRule.objects.create(
            id=rule_id,
            workspace_id=access.workspace_id,
            channel_id=told.channel_id,
            kind=str(told.kind),
            threshold=told.threshold,
            quiet_minutes=told.quiet_minutes,
            is_active=told.is_active,
            created_by=access.actor.name,
        )
        _tell_rule("notice.rule_made", rule_id, told, access)
    return rule_id


def change_rule(rule_id: UUID, told: Told, *, access: Access) -> None:
    """Change a rule; its kind stays."""
    told = _checked(told)
    with workspace_scope(access.workspace_id):
        rule = _rule(rule_id, access)
        if rule.kind != told.kind:
            raise BadRequest(FieldError("kind", "stays what it is; make another rule"))
        _channel(told.channel_id, access)
        rule.channel_id, rule.threshold = told.channel_id, told.threshold
        rule.quiet_minutes, rule.is_active = told.quiet_minutes, told.is_active
        rule.save(update_fields=["channel_id", "threshold", "quiet_minutes", "is_active"])
        _tell_rule("notice.rule_changed", rule_id, told, access)


def remove_rule(rule_id: UUID, *, reason: str, access: Access) -> None:
    """Take a rule away; what it has raised is still delivered."""
    with workspace_scope(access.workspace_id):
        rule = _rule(rule_id, access)
        rule.removed_at = timezone.now()
        rule.save(update_fields=["removed_at"])
        _tell("notice.rule_removed", "notice_rule", rule_id, access, reason=reason, kind=rule.kind)


def send_test(channel_id: UUID, *, access: Access) -> str:
    """Send a test at once; return what was wrong, empty when it was taken."""
    now = timezone.now()
    notice_id = uuid7(now)
    with workspace_scope(access.workspace_id):
        channel = _channel(channel_id, access)
        Notice.objects.create(
            id=notice_id,
            workspace_id=access.workspace_id,
            channel_id=channel.id,
            kind=str(Kind.INCIDENT_OPENED),
            is_test=True,
            created_at=now,
            next_at=now,
        )
        _tell("notice.tested", "notice_channel", channel_id, access)
        claimed = claim(access.workspace_id, now=now, only=notice_id)
    return attempt(claimed[0], access=access)


def retry(notice_id: UUID, *, access: Access, now: datetime | None = None) -> None:
    """Let a notice that was given up be sent again. Conflict: it was not given up."""
    with workspace_scope(access.workspace_id):
        found = Notice.objects.filter(workspace_id=access.workspace_id, id=notice_id)
        if not found.exists():
            raise NotFound("notice")
        changed = found.filter(state="failed").update(
            state="waiting", attempts=0, next_at=now or timezone.now()
        )
        if not changed:
            raise Conflict("was not given up")
        _tell("notice.retried", "notice", notice_id, access)


def find_channel(channel_id: UUID, *, workspace_id: UUID) -> NoticeChannel | None:
    """Return a channel that was not removed. Inside the scope."""
    return NoticeChannel.objects.filter(
        id=channel_id, workspace_id=workspace_id, removed_at=None
    ).first()


def find_rule(rule_id: UUID, *, workspace_id: UUID) -> NoticeRule | None:
    """Return a rule that was not removed. Inside the scope."""
    return NoticeRule.objects.filter(id=rule_id, workspace_id=workspace_id, removed_at=None).first()


def _checked(told: Told) -> Told:
    about = ABOUT[told.kind]
    if not 0 <= told.quiet_minutes <= QUIET_MOST:
        raise BadRequest(FieldError("quiet_minutes", f"must be from 0 to {QUIET_MOST}"))
    if not about.number:
        return Told(told.kind, told.channel_id, None, told.quiet_minutes, told.is_active)
    if told.threshold is None or not about.least <= told.threshold <= about.most:
        bounds = f"must be from {about.least:g} to {about.most:g}"
        raise BadRequest(FieldError("threshold", bounds))
    return told


def _bound(count: int, most: int, what: str) -> None:
    if count >= most:
        raise Conflict(f"there are {most} {what} already")


def _channel(channel_id: UUID, access: Access) -> NoticeChannel:
    found = NoticeChannel.objects.select_for_update().filter(
        id=channel_id, workspace_id=access.workspace_id, removed_at=None
    )
    if (channel := found.first()) is None:
        raise NotFound("channel")
    return channel


def _rule(rule_id: UUID, access: Access) -> NoticeRule:
    found = NoticeRule.objects.select_for_update().filter(
        id=rule_id, workspace_id=access.workspace_id, removed_at=None
    )
    if (rule := found.first()) is None:
        raise NotFound("rule")
    return rule


def _tell_rule(action: str, rule_id: UUID, told: Told, access: Access) -> None:
    _tell(
        action,
        "notice_rule",
        rule_id,
        access,
        kind=str(told.kind),
        channel=str(told.channel_id),
        threshold=told.threshold,
        quiet_minutes=told.quiet_minutes,
        active=told.is_active,
    )


def _tell(
    action: str,
    target_kind: str,
    target_id: UUID,
    access: Access,
    *,
    reason: str = "",
    **details: object,
) -> None:
    events.append(
        [Happening(action, target_kind, target_id, reason=reason, details=details)], access=access
    )
