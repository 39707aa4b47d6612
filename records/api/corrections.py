"""The door for mending: correct a fact, or retract it.

Owns parsing and rendering; the acts are ``records/correct.py`` and
``records/curate.py``. A key can mend what it may write; it can never approve.
"""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse

from records import correct, curate
from records.access import Scope
from records.api import memories
from records.api.answers import endpoint
from records.api.auth import access_of
from records.api.memories import written
from records.api.once import once
from records.api.reading import read_id, read_model
from records.schemas.corrections import (
    ActAnswer,
    CorrectionAnswer,
    CorrectionAsked,
    RetractionAsked,
)

router = memories.router
HELD = "the correction is held; the old fact stays in service until a person has decided"


@router.post(
    "/memories/{memory_id}/correct",
    **endpoint(
        CorrectionAnswer,
        scope=Scope.WRITE,
        summary="Correct a fact",
        takes=CorrectionAsked,
        once=True,
        errors=(404,),
    ),
)
def correct_one(request: HttpRequest, memory_id: str) -> HttpResponse:
    """Say what the fact should have said: the old becomes a tombstone linked to the new."""
    access = access_of(request)
    asked = read_model(request, CorrectionAsked)
    record_id = read_id(memory_id)

    def run() -> dict[str, Any]:
        done = correct.correct(record_id, **asked.model_dump(), access=access)
        return {
            "matched": 1,
            "changed": int(done.retracted),
            "skipped": int(not done.retracted),
            "why": "" if done.retracted else HELD,
            "result": written(done.written, access),
        }

    return once(request, access, run)


@router.post(
    "/memories/{memory_id}/retract",
    **endpoint(
        ActAnswer,
        scope=Scope.WRITE,
        summary="Retract a fact",
        takes=RetractionAsked,
        once=True,
        errors=(404,),
    ),
)
def retract_one(request: HttpRequest, memory_id: str) -> HttpResponse:
    """Mark a fact wrong: it leaves service and cannot be written again by anybody."""
    access = access_of(request)
    asked = read_model(request, RetractionAsked)
    record_id = read_id(memory_id)

    def run() -> dict[str, Any]:
        acted = curate.retract([record_id], asked.reason, version=asked.version, access=access)
        return {
            "matched": acted.matched,
            "changed": len(acted.changed),
            "skipped": len(acted.skipped),
            "why": "; ".join(dict.fromkeys(why for _, why in acted.skipped)),
        }

    return once(request, access, run)
