"""The pages of notifications: channels and rules, what was sent, and a test."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import UUID

from django import forms
from django.contrib import messages
from django.http import Http404, HttpResponse, HttpResponseRedirect
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from audits.access import ConsoleRequest, require
from audits.domain.notices import ABOUT, Channel, Kind, describe, page_of
from audits.domain.roles import Permission
from audits.forms.acts import ReasonForm
from audits.forms.notices import CHANNELS, ChannelForm, RuleForm
from audits.notices import managing
from audits.queries import notices as queries
from audits.views.modal import finish, show_form
from audits.views.pages import done, reading, show, url
from records.cursors import Page
from records.items import BadRequest, Conflict, NotFound

STATES = {
    "": "All",
    "waiting": "Waiting",
    "sending": "Being sent",
    "sent": "Sent",
    "failed": "Failed",
}


@require_safe
@require(Permission.SEE_ACCESS)
def list_notifications(request: ConsoleRequest) -> HttpResponse:
    """Show the channels and the rules."""
    with reading(request):
        channels = queries.list_channels(request.here.id)
        rules = queries.list_rules(request.here.id)
    for channel in channels:
        channel["kind_title"] = CHANNELS[Channel(channel["kind"])]
    for rule in rules:
        rule["about"] = ABOUT[Kind(rule["kind"])]
    context = {"channels": channels, "rules": rules, "may_manage": _may_manage(request)}
    return show(request, "notifications/list.html", context)


@require_safe
@require(Permission.SEE_ACCESS)
def list_deliveries(request: ConsoleRequest) -> HttpResponse:
    """Show what was sent, waits or failed."""
    state = request.GET.get("state", "")
    warnings = [] if state in STATES else [f"There is no state {state[:40]}: all are shown."]
    state = state if state in STATES else ""
    with reading(request):
        try:
            page = queries.list_deliveries(
                request.here.id, state=state, cursor=request.GET.get("after")
            )
        except BadRequest:
            page = Page((), None)
            warnings.append("This page of the list is no longer there: begin again.")
    for one in page.items:
        one["words"] = describe(
            Kind(one["kind"]), one["numbers"], target=one["target"], more=one["more"]
        )
        one["may_retry"] = one["state"] == "failed" and _may_manage(request)
    context = {
        "page": page,
        "state": state,
        "states": list(STATES.items()),
        "warnings": warnings,
        "now": timezone.now(),
    }
    return show(request, "notifications/deliveries.html", context)


@require_safe
@require(Permission.SEE_ACCESS)
def show_delivery(request: ConsoleRequest, notice_id: UUID) -> HttpResponse:
    """Show one notice's attempts."""
    with reading(request):
        found = queries.find_delivery(request.here.id, notice_id)
        attempts = queries.list_attempts(request.here.id, notice_id) if found else []
    if found is None:
        raise Http404("notice")
    words = describe(
        Kind(found["kind"]), found["numbers"], target=found["target"], more=found["more"]
    )
    context = {
        "notice": found,
        "words": words,
        "target_url": url(request, "overview")
        + page_of(Kind(found["kind"]), found["target_kind"], found["target"]),
        "attempts": attempts,
        "may_retry": found["state"] == "failed" and _may_manage(request),
    }
    return show(request, "notifications/delivery.html", context)


@never_cache
@require_http_methods(["GET", "POST"])
@require(Permission.MANAGE_PEOPLE)
def make_channel(request: ConsoleRequest) -> HttpResponse:
    """Ask for a channel, then show a webhook's signing key, once."""
    form = ChannelForm(request.POST or None)
    with reading(request):
        pass
    if request.method == "POST" and form.is_valid():
        given = form.cleaned_data
        try:
            channel_id, key = managing.make_channel(
                given["name"], Channel(given["kind"]), given["address"], access=request.access
            )
        except (BadRequest, Conflict) as error:
            _add_fault(form, error)
        else:
            if not key:
                return done(request, "The channel is made.", url(request, "notifications"))
            context = {"key": key, "name": given["name"], "channel_id": channel_id}
            return show(request, "notifications/channel_made.html", context)
    return _page(request, form, "New channel", "Make the channel")


@never_cache
@require_http_methods(["GET", "POST"])
@require(Permission.MANAGE_PEOPLE)
def edit_channel(request: ConsoleRequest, channel_id: UUID) -> HttpResponse:
    """Change a channel's name, address, or whether it is on."""
    with reading(request):
        channel = managing.find_channel(channel_id, workspace_id=request.here.id)
    if channel is None:
        raise Http404("channel")
    initial = {"name": channel.name, "is_active": channel.is_active}
    form = ChannelForm(request.POST or None, initial=initial).for_change()
    if request.method == "POST" and form.is_valid():
        given = form.cleaned_data
        try:
            managing.change_channel(
                channel_id,
                name=given["name"],
                address=given["address"],
                is_active=given["is_active"],
                access=request.access,
            )
        except BadRequest as error:
            _add_fault(form, error)
        else:
            return done(request, "The channel is changed.", url(request, "notifications"))
    return _page(request, form, f"Channel: {channel.name}", "Change it")


@require_http_methods(["GET", "POST"])
@require(Permission.MANAGE_PEOPLE)
def remove_channel(request: ConsoleRequest, channel_id: UUID) -> HttpResponse:
    """Ask why, then take a channel and its rules away."""
    with reading(request):
        channel = managing.find_channel(channel_id, workspace_id=request.here.id)
    if channel is None:
        raise Http404("channel")
    title = f"Remove the channel {channel.name} and its rules"
    return _remove(request, title, channel_id, managing.remove_channel)


@require_POST
@require(Permission.MANAGE_PEOPLE)
def send_test(request: ConsoleRequest, channel_id: UUID) -> HttpResponse:
    """Send a test by a channel, and say whether it was taken."""
    try:
        fault = managing.send_test(channel_id, access=request.access)
    except NotFound as error:
        raise Http404("channel") from error
    if fault:
        messages.error(request, f"The test was not taken: {fault}.")
    else:
        messages.success(request, "The test was taken.")
    return HttpResponseRedirect(url(request, "notifications"))


@require_http_methods(["GET", "POST"])
@require(Permission.MANAGE_PEOPLE)
def make_rule(request: ConsoleRequest) -> HttpResponse:
    """Ask what to be told of."""
    with reading(request):
        channels = _channels(request)
    form = RuleForm(request.POST or None, channels=channels)
    if request.method == "POST" and form.is_valid():
        try:
            managing.make_rule(form.told(), access=request.access)
        except (BadRequest, Conflict) as error:
            _add_fault(form, error)
        else:
            return done(request, "The rule is made.", url(request, "notifications"))
    return _page(request, form, "New rule", "Make the rule", is_empty=not channels)


@require_http_methods(["GET", "POST"])
@require(Permission.MANAGE_PEOPLE)
def edit_rule(request: ConsoleRequest, rule_id: UUID) -> HttpResponse:
    """Change a rule."""
    with reading(request):
        rule = managing.find_rule(rule_id, workspace_id=request.here.id)
        channels = _channels(request)
    if rule is None:
        raise Http404("rule")
    kind = Kind(rule.kind)
    initial = {
        "channel": str(rule.channel_id),
        "threshold": rule.threshold,
        "quiet_minutes": rule.quiet_minutes,
        "is_active": rule.is_active,
    }
    form = RuleForm(request.POST or None, initial=initial, channels=channels, fixed=kind)
    if request.method == "POST" and form.is_valid():
        try:
            managing.change_rule(rule_id, form.told(), access=request.access)
        except BadRequest as error:
            _add_fault(form, error)
        else:
            return done(request, "The rule is changed.", url(request, "notifications"))
    return _page(request, form, f"Rule: {ABOUT[kind].title}", "Change it")


@require_http_methods(["GET", "POST"])
@require(Permission.MANAGE_PEOPLE)
def remove_rule(request: ConsoleRequest, rule_id: UUID) -> HttpResponse:
    """Ask why, then take a rule away."""
    with reading(request):
        rule = managing.find_rule(rule_id, workspace_id=request.here.id)
    if rule is None:
        raise Http404("rule")
    title = f"Remove the rule: {ABOUT[Kind(rule.kind)].title}"
    return _remove(request, title, rule_id, managing.remove_rule)


@require_POST
@require(Permission.MANAGE_PEOPLE)
def retry_delivery(request: ConsoleRequest, notice_id: UUID) -> HttpResponse:
    """Let a notice that was given up go again."""
    target = url(request, "notification-deliveries")
    try:
        managing.retry(notice_id, access=request.access)
    except NotFound as error:
        raise Http404("notice") from error
    except Conflict:
        messages.error(request, "Nothing changed: only a notice that was given up goes again.")
        return HttpResponseRedirect(target)
    return done(request, "The notice goes again within a minute.", target)


def _remove(
    request: ConsoleRequest, title: str, target_id: UUID, remove: Callable[..., None]
) -> HttpResponse:
    form = ReasonForm(request.POST or None)
    context = {"title": title, "form": form, "action": request.path}
    if request.method == "GET":
        return show_form(request, "notifications/remove", context)
    if not form.is_valid():
        return show_form(request, "notifications/remove", context, status=422)
    try:
        remove(target_id, reason=form.cleaned_data["reason"], access=request.access)
    except NotFound as error:
        raise Http404("notification") from error
    return finish(request, "It is removed.", url(request, "notifications"))


def _page(
    request: ConsoleRequest, form: forms.Form, title: str, button: str, *, is_empty: bool = False
) -> HttpResponse:
    status = 422 if request.method == "POST" else 200
    context: dict[str, Any] = {
        "form": form, "title": title, "button": button, "is_empty": is_empty,
    }  # fmt: skip
    return show(request, "notifications/edit.html", context, status=status)


def _channels(request: ConsoleRequest) -> list[tuple[UUID, str]]:
    return [(one["id"], one["name"]) for one in queries.list_channels(request.here.id)]


def _add_fault(form: forms.Form, error: BadRequest | Conflict) -> None:
    if isinstance(error, Conflict):
        form.add_error(None, f"Nothing changed: {error}.")
        return
    for one in error.errors:
        form.add_error(one.field if one.field in form.fields else None, f"This {one.message}.")


def _may_manage(request: ConsoleRequest) -> bool:
    return request.here.may(Permission.MANAGE_PEOPLE)
