"""The door for policies: list, read, change with a preview.

Changing needs the scope ``respond``: an agent's key says what is so, never what
counts as so. The versions are ``records/policies.py``'s.
"""

from __future__ import annotations

from typing import Any

from django.db import IntegrityError
from django.http import HttpRequest, HttpResponse
from ninja import Router

from records import policies, recast
from records.access import Access, Scope
from records.api.answers import answer, endpoint
from records.api.auth import access_of
from records.api.paging import parameter
from records.api.problems import Problem, invalid, not_found
from records.api.reading import read_model, read_parameters, text_fault
from records.domain import canonical
from records.domain.facts import Policy
from records.domain.normalise.contact import is_region
from records.domain.validators import spec_problems
from records.items import NAME_LIMIT, FieldError
from records.models import MemoryRecord, PredicatePolicy
from records.schemas.policies import PolicyAnswer, PolicyBody, PolicyChanged, PolicyList
from records.scope import workspace_scope

router = Router(tags=["policies"])
BOOLEANS = {"true": True, "false": False}
RECAST_BATCHES = 25  # of slots, at once with the change
SAME = "the live version says the same"
PREVIEW = [parameter("preview", "Say what would change, and change nothing", type="boolean")]


@router.get("/policies", **endpoint(PolicyList, scope=Scope.READ, summary="List policies"))
def list_policies(request: HttpRequest) -> HttpResponse:
    """List the live version of every policy, by predicate."""
    read_parameters(request, ())
    access = access_of(request)
    with workspace_scope(access.workspace_id):
        rows = _live(access).order_by("predicate")
        return answer({"items": [_body(row) for row in rows]})


@router.get(
    "/policies/{predicate}",
    **endpoint(PolicyAnswer, scope=Scope.READ, summary="One policy", errors=(404, 422)),
)
def get_policy(request: HttpRequest, predicate: str) -> HttpResponse:
    """Return the live policy of a predicate, by any spelling or alias."""
    read_parameters(request, ())
    access = access_of(request)
    if text_fault(predicate):
        raise not_found()
    with workspace_scope(access.workspace_id):
        policy = policies.book(access.workspace_id).resolve(predicate)
        row = _live(access).filter(predicate=policy.predicate).first()
    if row is None:
        raise not_found()
    return answer(_body(row))


@router.put(
    "/policies/{predicate}",
    **endpoint(
        PolicyChanged,
        scope=Scope.RESPOND,
        summary="Change a policy",
        takes=PolicyBody,
        parameters=PREVIEW,
    ),
)
def put_policy(request: HttpRequest, predicate: str) -> HttpResponse:
    """Make this the live version of the predicate's policy; the one before stays on record."""
    found = read_parameters(request, ("preview",))
    if found.get("preview", "false") not in BOOLEANS:
        raise invalid(FieldError("preview", "must be true or false", "choice"))
    access = access_of(request)
    if access.partition is not None:
        raise Problem(403, "A policy is the whole workspace's; this key reaches one partition.")
    body = read_model(request, PolicyBody)
    wanted = _policy(predicate, body)
    try:
        with workspace_scope(access.workspace_id):
            changed = _change(
                wanted,
                reason=body.reason,
                is_preview=BOOLEANS[found.get("preview", "false")],
                access=access,
            )
    except IntegrityError as error:
        raise Problem(409, "Somebody else changed this policy meanwhile; look again.") from error
    if changed["changed"]:
        # The first batches at once; a job does the rest of a large store.
        recast.apply(wanted.predicate, access=access, batches=RECAST_BATCHES)
    return answer(changed)


def _change(wanted: Policy, *, reason: str, is_preview: bool, access: Access) -> dict[str, Any]:
    _check_names(wanted, access)
    live = _live(access).filter(predicate=wanted.predicate).first()
    before = policies.to_policy(live) if live is not None else None
    fields = [
        name
        for name in policies.COLUMNS
        if name not in ("version", "predicate")
        and (before is None or getattr(before, name) != getattr(wanted, name))
    ]
    facts = MemoryRecord.objects.filter(
        workspace_id=access.workspace_id,
        predicate__in=[wanted.predicate, *wanted.aliases],
        status__in=["active", "quarantined"],
    ).count()
    is_changed = bool(fields) and not is_preview
    effect = recast.preview(wanted, access=access) if fields else recast.Effect()
    row = policies.change(wanted, reason=reason, access=access) if is_changed else live
    if is_changed and row is not None:
        row.refresh_from_db()
    return {
        "matched": int(live is not None),
        "changed": int(is_changed),
        "skipped": int(not is_changed),
        "why": "" if is_changed else ("this is a preview" if fields else SAME),
        "preview": is_preview,
        "fields": fields,
        "facts": facts,
        "superseded": effect.superseded,
        "merged": effect.merged,
        "expired": effect.expired,
        "revived": effect.revived,
        "is_partial": effect.is_partial,
        "policy": _body(row) if row is not None else None,
    }


def _policy(predicate: str, body: PolicyBody) -> Policy:
    """Return the policy as the rules read it; its names in canonical spelling."""
    if text_fault(predicate) or not (key := canonical.predicate_key(predicate)):
        raise invalid(FieldError("predicate", "must not be blank or unprintable", "required"))
    if len(key) > NAME_LIMIT:
        message = f"is longer than {NAME_LIMIT} characters"
        raise invalid(FieldError("predicate", message, "too_long", NAME_LIMIT))
    errors = [
        FieldError(f"validators[{place}]", problem)
        for place, spec in enumerate(body.validators)
        for problem in spec_problems(spec)
    ]
    if not is_region(body.region):
        errors.append(FieldError("region", "is no region that has phone numbers", "invalid"))
    if errors:
        raise invalid(*errors)
    values = body.model_dump(exclude={"reason", "aliases", "dependents", "validators"})
    return Policy(
        predicate=key,
        aliases=_names(body.aliases),
        dependents=_names(body.dependents),
        validators=tuple(body.validators),
        **values,
    )


def _check_names(wanted: Policy, access: Access) -> None:
    """Refuse an alias that another policy has already: one spelling has one policy."""
    taken = {
        name: row.predicate
        for row in _live(access).exclude(predicate=wanted.predicate)
        for name in (row.predicate, *map(canonical.predicate_key, row.aliases))
    }
    errors = [
        FieldError("aliases", f"{name} belongs to the policy of {taken[name]}", "taken")
        for name in wanted.aliases
        if name in taken
    ]
    if wanted.predicate in taken:
        message = f"is an alias in the policy of {taken[wanted.predicate]}"
        errors.append(FieldError("predicate", message, "taken"))
    if errors:
        raise invalid(*errors)


def _names(names: list[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(filter(None, map(canonical.predicate_key, names))))


def _live(access: Access) -> Any:
    return PredicatePolicy.objects.filter(workspace_id=access.workspace_id, retired_at=None)


def _body(row: PredicatePolicy) -> dict[str, Any]:
    return {name: getattr(row, name) for name in PolicyAnswer.model_fields}
