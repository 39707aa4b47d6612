"""The agents' door for reading: recall, and what came of it.

Owns parsing and rendering; what may be served, and the log of it, is
``records/retrieve``'s.
"""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from ninja import Router

from records import feedback, retrieve
from records.access import Access, Scope
from records.api.answers import answer, endpoint
from records.api.auth import access_of, require_reach
from records.api.once import once
from records.api.problems import invalid
from records.api.reading import read_id, read_model
from records.items import FieldError
from records.retrieve import RecallAnswer, Recalled, RecallRequest
from records.schemas.recall import FeedbackAnswer, FeedbackGiven, Question, RecallGiven

router = Router(tags=["recall"])
STANDING = [
    "memory_id",
    "verdict",
    "confirmed",
    "wrong",
    "stale",
    "status",
    "confidence",
    "recheck",
]
WHY = {
    "own": "the session wrote this memory itself",
    "repeated": "the session said so before",
    "not_active": "the memory is not in service",
}


@router.post(
    "/recall",
    **endpoint(
        RecallGiven,
        scope=Scope.RECALL,
        summary="Recall memories",
        takes=Question,
        errors=(404,),
    ),
)
def recall(request: HttpRequest) -> HttpResponse:
    """Return the memories of one partition that answer a question best.

    A partition is made by its first write; until then it is unknown here too.
    """
    access = access_of(request)
    asked = read_model(request, Question)
    return answer(found(retrieve.recall(_request(asked, access), access=access)))


@router.post(
    "/recalls/{recall_id}/feedback",
    **endpoint(
        FeedbackAnswer,
        scope=Scope.RECALL,
        summary="Say what came of a memory",
        takes=FeedbackGiven,
        once=True,
        errors=(404,),
    ),
)
def give_feedback(request: HttpRequest, recall_id: str) -> HttpResponse:
    """Confirm a memory that a recall served, or call it wrong or stale."""
    access = access_of(request)
    said = read_model(request, FeedbackGiven)
    wanted = read_id(recall_id)

    def run() -> dict[str, Any]:
        result = feedback.give(
            wanted, said.memory_id, said.verdict, session=said.session, access=access
        )
        return {
            "matched": 1,
            "changed": int(result.counted),
            "skipped": int(not result.counted),
            "why": WHY.get(result.why, result.why),
            **{name: getattr(result, name) for name in STANDING},
        }

    return once(request, access, run)


def found(given: RecallAnswer) -> dict[str, Any]:
    """Return a recall's answer as JSON."""
    return {
        "recall_id": given.recall_id,
        "complete": given.is_complete,
        "items": [_item(one) for one in given.items],
    }


def _request(asked: Question, access: Access) -> RecallRequest:
    partition = asked.partition or access.partition
    if partition is None:
        raise invalid(FieldError("partition", "is required", "required"))
    require_reach(access, partition)
    return RecallRequest(
        partition=partition,
        query=asked.query,
        top_k=asked.top_k,
        session=asked.session,
        current_only=asked.current_only,
        corroborated_only=asked.corroborated_only,
        min_trust=asked.min_trust,
        min_score=asked.min_score,
        predicates=tuple(asked.predicates),
        as_of=asked.as_of,
        valid_at=asked.valid_at,
        embedding=asked.embedding,
    )


def _item(one: Recalled) -> dict[str, Any]:
    return {
        "id": one.id,
        "content": one.content,
        "subject": one.subject,
        "predicate": one.predicate,
        "value": one.value,
        "score": one.score,
        "factors": one.factors,
        "current": one.current,
        "why_not_current": one.why_not_current,
        "provenance": one.provenance,
    }
