"""The gate's pages: its figures, a text to try, its rules with what they did here."""

from __future__ import annotations

from django.http import Http404, HttpResponse
from django.utils import timezone
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_safe

from audits import gate_figures
from audits.access import ConsoleRequest, require
from audits.domain import tried
from audits.domain.roles import Permission
from audits.forms.gate import TryForm
from audits.queries import gate as queries
from audits.queries.scans import load_unscanned
from audits.views.pages import is_partial, reading, show
from records import gate_editing, judges, policies, rulesets
from records.domain.gate import check, default_ruleset


@require_safe
@require(Permission.VIEW)
def show_gate(request: ConsoleRequest) -> HttpResponse:
    """Show which rules judge here, since when, and a form to try a text."""
    with reading(request):
        active = gate_editing.load_active(request.here.id)
        ruleset = rulesets.ruleset(request.here.id)
        versions = queries.list_versions(request.here.id)
        unscanned = load_unscanned(request.here.id)
    shipped = default_ruleset()
    context = {
        "tab": "gate",
        "active": active,
        "ruleset": ruleset,
        "shipped": shipped,
        "softened": [
            (rule_id, shipped.rule(rule_id), said)
            for rule_id, said in (active.softened if active else {}).items()
        ],
        "broken": rulesets.broken_rules(ruleset),
        "versions": versions,
        "unscanned": unscanned,
        "may_start": request.here.may(Permission.RUN_JOBS),
        "form": TryForm(),
    }
    return show(request, "gate/gate.html", context)


@require_safe
@require(Permission.VIEW)
def show_figures(request: ConsoleRequest) -> HttpResponse:
    """Show recall and false alarms of the active rules on the own corpus."""
    with reading(request):
        ruleset = rulesets.ruleset(request.here.id)
    context = {
        "tab": "gate",
        "figures": gate_figures.published(ruleset),
        "is_shipped": ruleset is default_ruleset(),
    }
    template = "gate/_gate_figures.html" if is_partial(request) else "gate/figures.html"
    return show(request, template, context)


@require_http_methods(["GET", "POST"])
@sensitive_post_parameters()
@require(Permission.VIEW)
def try_text(request: ConsoleRequest) -> HttpResponse:
    """Judge a pasted text as a write; nothing of it is stored or logged."""
    form = TryForm(request.POST or None)
    context = {"tab": "try", "form": form}
    is_valid = request.method == "POST" and form.is_valid()
    with reading(request):
        draft = gate_editing.load_draft(request.here.id)
        context["draft"] = draft
        if is_valid:
            fact = form.fact()
            is_draft = form.cleaned_data["rules"] == "draft" and draft is not None
            ruleset = rulesets.merged(draft) if is_draft else rulesets.ruleset(request.here.id)
            policy = policies.book(request.here.id).resolve(fact.predicate)
    if is_valid:
        verdict = check(
            fact, context=form.context(), policy=policy, ruleset=ruleset, now=timezone.now()
        )
        verdict = judges.add_to_one(fact, verdict)
        context |= {
            "tried": tried.show(fact, verdict, ruleset),
            "policy": policy,
            "is_draft": is_draft,
            # What was typed stays in the form, but never a credential.
            "form": TryForm(initial={**form.cleaned_data, **verdict.redacted}),
        }
    status = 422 if request.method == "POST" and not is_valid else 200
    return show(request, "gate/try.html", context, status=status)


@require_safe
@require(Permission.VIEW)
def list_rules(request: ConsoleRequest) -> HttpResponse:
    """Show every rule with its hits, and how often reviewers let its holds in."""
    with reading(request):
        active = gate_editing.load_active(request.here.id)
        ruleset = rulesets.ruleset(request.here.id)
        rows = queries.list_rules(
            ruleset, active, workspace_id=request.here.id, today=timezone.now().date()
        )
    context = {"tab": "rules", "rows": rows, "ruleset": ruleset, "shown_from": queries.SHOWN_FROM}
    return show(request, "gate/rules.html", context)


@require_safe
@require(Permission.VIEW)
def show_rule(request: ConsoleRequest, rule_id: str) -> HttpResponse:
    """Show one rule: what it looks for, its examples, what it did by day."""
    with reading(request):
        active = gate_editing.load_active(request.here.id)
        ruleset = rulesets.ruleset(request.here.id)
        today = timezone.now().date()
        rows = queries.list_rules(ruleset, active, workspace_id=request.here.id, today=today)
        row = next((one for one in rows if one.id == rule_id), None)
        if row is None:
            raise Http404("rule")
        days = queries.list_days(rule_id, workspace_id=request.here.id, today=today)
    entries = {one["id"]: one for one in active.rules} if active else {}
    context = {
        "tab": "rules",
        "row": row,
        "days": days,
        "entry": entries.get(rule_id),
        "softened": (active.softened if active else {}).get(rule_id),
        "shown_from": queries.SHOWN_FROM,
        "may_manage": request.here.may(Permission.MANAGE_GATE),
    }
    return show(request, "gate/rule.html", context)
