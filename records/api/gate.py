"""The door of the gate: which rules judge, and what they say of a text nobody writes.

Both need the scope ``read``: a key that only writes learns decisions, never
which words decided. Drafting and activating rules is for people, in the console.
"""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.views.decorators.debug import sensitive_variables
from ninja import Router

from records import gate_editing, judges, policies, rulesets
from records.access import Scope
from records.api.answers import answer, endpoint
from records.api.auth import access_of
from records.api.reading import read_model, read_parameters
from records.domain.facts import Fact, GateContext
from records.domain.gate import check, default_ruleset
from records.models import GateRuleset
from records.schemas.gate import GateAnswer, GateCheck, GateVerdict, OwnRule
from records.scope import workspace_scope

router = Router(tags=["gate"])


@router.get("/gate", **endpoint(GateAnswer, scope=Scope.READ, summary="The rules that judge"))
def get_gate(request: HttpRequest) -> HttpResponse:
    """Return the active ruleset's version, the workspace's own rules and what it has softened."""
    read_parameters(request, ())
    access = access_of(request)
    with workspace_scope(access.workspace_id):
        active = gate_editing.load_active(access.workspace_id)
        ruleset = rulesets.ruleset(access.workspace_id)
    return answer(
        {
            "ruleset": ruleset.version,
            "shipped": default_ruleset().version,
            "number": active.number if active else None,
            "activated_at": active.activated_at if active else None,
            "activated_by": active.activated_by if active else "",
            "own": [_own(entry) for entry in active.rules] if active else [],
            "softened": _softened(active) if active else [],
        }
    )


@router.post(
    "/gate/check",
    **endpoint(GateVerdict, scope=Scope.READ, summary="Judge a text", takes=GateCheck),
)
@sensitive_variables()
def check_text(request: HttpRequest) -> HttpResponse:
    """Judge a fact as if it were written now, with the workspace's policy; store nothing."""
    read_parameters(request, ())
    access = access_of(request)
    body = read_model(request, GateCheck)
    fact = Fact(body.subject, body.predicate, body.value, body.value, body.evidence)
    context = GateContext(
        tier=body.tier,
        recent_texts=tuple(body.recent),
        session_writes=len(body.recent),
        corroborating_sessions=body.corroborating_sessions,
    )
    with workspace_scope(access.workspace_id):
        policy = policies.book(access.workspace_id).resolve(fact.predicate)
        ruleset = rulesets.ruleset(access.workspace_id)
    verdict = check(fact, context=context, policy=policy, ruleset=ruleset, now=timezone.now())
    verdict = judges.add_to_one(fact, verdict)
    found = answer(
        {
            "verdict": verdict.outcome,
            "score": verdict.score,
            "ruleset": verdict.ruleset,
            "labels": verdict.labels,
            "redacted": dict(verdict.redacted),
            "findings": [one.as_json() for one in verdict.findings],
        }
    )
    found.headers["Cache-Control"] = "no-store"
    return found


def _own(entry: dict[str, Any]) -> dict[str, Any]:
    return {name: entry.get(name) for name in OwnRule.model_fields} | {"rule": entry["id"]}


def _softened(active: GateRuleset) -> list[dict[str, Any]]:
    return [
        {"rule": name, "outcome": said["outcome"], "reason": said["reason"], "by": said["by"]}
        for name, said in sorted(active.softened.items())
    ]
