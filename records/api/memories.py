"""The agents' door for writing: one fact, or a batch.

Owns what a writer learns of the outcome. Every rule is behind
``records/write.py``; corrections and retractions are in ``corrections.py``,
reading in ``history.py``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.http import HttpRequest, HttpResponse
from ninja import Router

from records import write
from records.access import Access, Scope
from records.api.answers import endpoint
from records.api.auth import access_of, require_reach
from records.api.once import once
from records.api.problems import Problem, body_of, field_body, invalid, summary
from records.api.reading import read_json
from records.domain.facts import Decision
from records.items import BATCH_LIMIT, FieldError, Refused, WriteItem, Written
from records.schemas.items import RepeatedKeys, read_item
from records.schemas.memories import BatchAnswer, Fact, Facts, WriteAnswer, parts

router = Router(tags=["memories"])
INVALID = "invalid"
NO_COUNTS = {**dict.fromkeys(map(str, Decision), 0), INVALID: 0}


@router.post(
    "/memories",
    **endpoint(
        WriteAnswer,
        scope=Scope.WRITE,
        summary="Write one fact",
        takes=Fact,
        once=True,
        errors=(404,),
    ),
)
def write_one(request: HttpRequest) -> HttpResponse:
    """Write one fact. Held and rejected writes answer 200: look at `decision`."""
    access = access_of(request)
    item = read_item(read_json(request), partition=access.partition)
    if isinstance(item, Refused):
        raise invalid(*item.errors)
    _require_reach(item, access)
    well_formed = item

    def run() -> Mapping[str, Any]:
        (outcome,) = write.write_facts([well_formed], access=access)
        if isinstance(outcome, Refused):
            raise invalid(*outcome.errors)
        return written(outcome, access)

    return once(request, access, run)


@router.post(
    "/memories/batch",
    **endpoint(
        BatchAnswer, scope=Scope.WRITE, summary="Write up to 1,000 facts", takes=Facts, once=True
    ),
)
def write_batch(request: HttpRequest) -> HttpResponse:
    """Write a batch: the same outcome as one by one, and a bad item harms no other."""
    access = access_of(request)
    items = _items(read_json(request))
    return once(request, access, lambda: _write_all(items, access))


def written(outcome: Written, access: Access) -> dict[str, Any]:
    """Return one outcome as this key may see it.

    Without ``read`` a writer learns the decision and not what gave it away, or
    it could try wordings until one passes.
    """
    sees_all = Scope.READ in access.scopes
    return {
        "id": outcome.id,
        "fingerprint": outcome.fingerprint,
        "decision": outcome.decision,
        "status": outcome.status,
        "verdict": outcome.verdict,
        "hold_reason": outcome.hold_reason if sees_all else "",
        "superseded": outcome.superseded,
        "seen_count": outcome.seen_count,
        "findings": [parts(one) for one in outcome.findings] if sees_all else [],
    }


def _items(body: Any) -> list[Any]:
    if isinstance(body, RepeatedKeys):
        raise invalid(FieldError(body.key, "is named twice", "repeated"))
    if not isinstance(body, dict):
        raise invalid(FieldError("", "the body must be a JSON object", "type"))
    unknown = [name for name in body if name != "items"]
    if unknown:
        raise invalid(*(FieldError(name, "is not a field here", "unknown") for name in unknown))
    items = body.get("items")
    if not isinstance(items, list):
        raise invalid(FieldError("items", "must be a list of facts", "type"))
    if len(items) > BATCH_LIMIT:
        message = f"has {len(items):,} facts; at most {BATCH_LIMIT:,} in one request"
        raise invalid(FieldError("items", message, "too_long", BATCH_LIMIT))
    return items


def _write_all(items: Sequence[Any], access: Access) -> dict[str, Any]:
    results: list[Any] = [None] * len(items)
    good: list[WriteItem] = []
    places: list[int] = []
    counts = dict(NO_COUNTS)
    for place, raw in enumerate(items):
        item = read_item(raw, partition=access.partition)
        if isinstance(item, Refused):
            results[place] = refused(item)
            continue
        try:
            _require_reach(item, access)
        except Problem as problem:
            results[place] = {"error": body_of(problem)}
            continue
        good.append(item)
        places.append(place)
    outcomes = write.write_facts(good, access=access) if good else []
    for place, outcome in zip(places, outcomes, strict=True):
        if isinstance(outcome, Refused):
            results[place] = refused(outcome)
        else:
            results[place] = written(outcome, access)
            counts[outcome.decision] += 1
    counts[INVALID] = len(items) - sum(counts.values())
    return {"results": results, "counts": counts}


def _require_reach(item: WriteItem, access: Access) -> None:
    name: Any = item.partition  # as it came; what is no name is for the rules to tell
    if isinstance(name, str):
        require_reach(access, name)


def refused(item: Refused) -> dict[str, Any]:
    """Return why one item of a batch was not understood."""
    return {
        "error": {
            "code": INVALID,
            "message": summary(item.errors),
            "fields": [field_body(one) for one in item.errors],
        }
    }
