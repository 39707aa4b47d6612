"""The draft of a workspace's own rules: edit it, replay it, let it rule or give it up.

Everybody may read it; only who manages the gate changes it. Every form carries
the revision that its reader saw.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django import forms
from django.http import Http404, HttpResponse, HttpResponseRedirect
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from audits import gate_acts
from audits.access import ConsoleRequest, require
from audits.domain.roles import Permission
from audits.forms.gate import ActivateForm, ReplayForm, RuleForm, SoftenForm, rule_initial
from audits.models import Approval
from audits.queries import gate as queries
from audits.views.pages import done, reading, show, url
from records import gate_editing, gate_replay, tasks
from records.domain.facts import Outcome
from records.domain.gate import default_ruleset
from records.items import BadRequest, Conflict, NotFound
from records.jobs import catalogue
from records.models import GateRuleset
from records.scope import workspace_scope

Form = forms.Form


@require_safe
@require(Permission.VIEW)
def show_draft(request: ConsoleRequest) -> HttpResponse:
    """Show the draft, what it changes, and what its replay found."""
    return _show(request)


@require_POST
@require(Permission.MANAGE_GATE)
def start(request: ConsoleRequest) -> HttpResponse:
    """Make a draft of the rules that rule now; one that exists is opened."""
    with workspace_scope(request.here.id):
        gate_editing.start_draft(access=request.access, now=timezone.now())
    return HttpResponseRedirect(url(request, "gate-draft"))


@require_http_methods(["GET", "POST"])
@require(Permission.MANAGE_GATE)
def edit_rule(request: ConsoleRequest, rule_id: str = "") -> HttpResponse:
    """Add an own rule to the draft, or change one; its examples are run first."""
    draft = _draft(request)
    entry = next((one for one in draft.rules if one["id"] == rule_id), None)
    if rule_id and entry is None:
        raise Http404("rule")
    form = RuleForm(request.POST or None, initial=rule_initial(entry) if entry else None)
    if entry:
        form.fields["id"].disabled = True
    context = {"form": form, "draft": draft, "rule_id": rule_id, "tab": "draft"}
    return _edit(
        request,
        "gate/edit_rule.html",
        form,
        context,
        lambda revision: gate_editing.put_rule(
            form.entry(), revision=revision, access=request.access, now=timezone.now()
        ),
    )


@require_http_methods(["GET", "POST"])
@require(Permission.MANAGE_GATE)
def soften(request: ConsoleRequest) -> HttpResponse:
    """Make a shipped rule milder in the draft."""
    draft = _draft(request)
    form = SoftenForm(request.POST or None, initial={"rule": request.GET.get("rule", "")[:100]})
    shipped = [one for one in default_ruleset().rules if one.outcome is not Outcome.ALLOW]
    context = {"form": form, "draft": draft, "shipped": shipped, "tab": "draft"}
    return _edit(
        request,
        "gate/soften.html",
        form,
        context,
        lambda revision: gate_editing.soften(
            form.cleaned_data["rule"],
            Outcome(form.cleaned_data["outcome"]),
            form.cleaned_data["reason"],
            revision=revision,
            access=request.access,
            now=timezone.now(),
        ),
    )


@require_POST
@require(Permission.MANAGE_GATE)
def remove_rule(request: ConsoleRequest, rule_id: str) -> HttpResponse:
    """Take an own rule out of the draft."""
    return _act(request, gate_editing.drop_rule, rule_id, message="The rule is out of the draft.")


@require_POST
@require(Permission.MANAGE_GATE)
def harden(request: ConsoleRequest, rule_id: str) -> HttpResponse:
    """Give a shipped rule its own outcome back."""
    message = "The rule has its own outcome again in the draft."
    return _act(request, gate_editing.harden, rule_id, message=message)


@require_POST
@require(Permission.MANAGE_GATE)
def discard(request: ConsoleRequest) -> HttpResponse:
    """Give the draft up."""
    return _act(request, gate_editing.discard, message="The draft is given up; nothing changed.")


@require_POST
@require(Permission.MANAGE_GATE)
def replay(request: ConsoleRequest) -> HttpResponse:
    """Compare the draft with the active rules: on the last writes at once, on the store by a job."""
    form = ReplayForm(request.POST)
    if not form.is_valid():
        return _show(request, replay_form=form, status=422)
    with workspace_scope(request.here.id):
        draft = gate_editing.load_draft(request.here.id)
        if draft is None:
            raise Http404("draft")
        if form.cleaned_data["population"] == "store":
            gate_replay.ask_for_store(draft, access=request.access, now=timezone.now())
            tasks.start(catalogue.GATE_REPLAY, access=request.access)
        else:
            count = form.cleaned_data["count"] or gate_replay.WRITES
            gate_replay.replay_writes(draft, count, access=request.access, now=timezone.now())
    target = url(request, "gate-draft") + "#replay-title"
    return done(request, "The replay is below; nothing was changed by it.", target)


@require_POST
@require(Permission.MANAGE_GATE)
def activate(request: ConsoleRequest) -> HttpResponse:
    """Let the draft rule from now on."""
    form = ActivateForm(request.POST)
    if not form.is_valid():
        return _show(request, activate_form=form, status=422)
    try:
        with workspace_scope(request.here.id):
            row = gate_acts.activate(
                form.cleaned_data["reason"],
                rescan=form.cleaned_data["rescan"],
                revision=_revision(request),
                access=request.access,
                user_id=request.user.id,
                now=timezone.now(),
            )
    except NotFound as error:
        raise Http404("draft") from error
    except Conflict as error:
        return _show(request, activate_form=form, conflict=str(error), status=409)
    if isinstance(row, Approval):
        return HttpResponseRedirect(url(request, "approval", row.id))
    message = f"Rules {row.number} judge every write from now on."
    return done(request, message, url(request, "gate"))


def _draft(request: ConsoleRequest) -> GateRuleset:
    """Load the draft and the shell of a form about it."""
    with reading(request):
        draft = gate_editing.load_draft(request.here.id)
    if draft is None:
        raise Http404("draft")
    return draft


def _edit(
    request: ConsoleRequest,
    template: str,
    form: Form,
    context: dict[str, Any],
    act: Callable[[int], GateRuleset],
) -> HttpResponse:
    """Show a form, or do what it says; field errors come back beside what was typed."""
    if request.method == "GET":
        return show(request, template, context)
    if not form.is_valid():
        return show(request, template, context, status=422)
    try:
        with workspace_scope(request.here.id):
            act(_revision(request))
    except BadRequest as error:
        for one in error.errors:
            form.add_error(one.field if one.field in form.fields else None, one.message)
        return show(request, template, context, status=422)
    except Conflict as error:
        return show(request, template, {**context, "conflict": str(error)}, status=409)
    except NotFound as error:
        raise Http404("draft") from error
    return done(request, "The draft is saved. Replay it next.", url(request, "gate-draft"))


def _act(
    request: ConsoleRequest, act: Callable[..., GateRuleset], *about: str, message: str
) -> HttpResponse:
    try:
        with workspace_scope(request.here.id):
            act(*about, revision=_revision(request), access=request.access, now=timezone.now())
    except NotFound as error:
        raise Http404("draft") from error
    except Conflict as error:
        return _show(request, conflict=str(error), status=409)
    return done(request, message, url(request, "gate-draft"))


def _revision(request: ConsoleRequest) -> int:
    """Return the revision that the form was made for; none fits one that is missing."""
    text = request.POST.get("revision", "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 9 else -1


def _show(
    request: ConsoleRequest,
    *,
    replay_form: ReplayForm | None = None,
    activate_form: ActivateForm | None = None,
    conflict: str = "",
    status: int = 200,
) -> HttpResponse:
    with reading(request):
        draft = gate_editing.load_draft(request.here.id)
        active = gate_editing.load_active(request.here.id)
        replays = queries.load_replays(draft.id, workspace_id=request.here.id) if draft else {}
        may_manage = request.here.may(Permission.MANAGE_GATE)
        alone = (
            gate_acts.weakened_alone(draft, active, access=request.access)
            if draft and may_manage
            else []
        )
        waits = bool(alone) and gate_acts.is_somebody_else(request.access, user_id=request.user.id)
    context: dict[str, Any] = {
        "tab": "draft",
        "draft": draft,
        "active": active,
        "conflict": conflict,
        "may_manage": may_manage,
        "replay_form": replay_form or ReplayForm(),
        "activate_form": activate_form or ActivateForm(),
    }
    if draft is not None:
        digest = gate_editing.digest_of(draft)
        changes = gate_editing.changes_of(draft, active)
        shipped = default_ruleset()
        writes = replays.get("writes")
        context |= {
            "digest": digest,
            "changes": [(kind, names) for kind, names in changes.items() if names],
            "softened": [(name, shipped.rule(name), said) for name, said in draft.softened.items()],
            "replays": list(replays.values()),
            "is_replayed": writes is not None
            and (writes["state"], writes["digest"]) == ("done", digest),
            "alone": alone,
            "waits": waits,
        }
    return show(request, "gate/draft.html", context, status=status)
