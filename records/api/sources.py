"""The door for source runs: a feed says when a complete pass begins and ends."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from ninja import Router

from records import sources
from records.access import Scope
from records.api.answers import endpoint
from records.api.auth import access_of, require_reach
from records.api.once import once
from records.api.problems import invalid, not_found
from records.api.reading import read_id, read_model, text_fault
from records.items import FieldError
from records.lists import source_of_run
from records.schemas.base import Sent
from records.schemas.sources import RunAnswer, RunFinished, RunStart

router = Router(tags=["sources"])


class Nothing(Sent):
    """No field at all."""


@router.post(
    "/sources/{name}/runs",
    **endpoint(
        RunAnswer,
        scope=Scope.WRITE,
        summary="Begin a source run",
        takes=RunStart,
        optional_body=True,
        once=True,
        errors=(404,),
    ),
)
def start_run(request: HttpRequest, name: str) -> HttpResponse:
    """Begin one complete pass over a source; derived facts written meanwhile count as seen."""
    access = access_of(request)
    wanted = read_model(request, RunStart, optional=True)
    partition = wanted.partition or access.partition
    if partition is None:
        raise invalid(FieldError("partition", "is required", "required"))
    for field, text in (("source", name), ("partition", partition), ("run_id", wanted.run_id)):
        if fault := text_fault(text):
            raise invalid(FieldError(field, fault, "characters"))
    require_reach(access, partition)

    def run() -> dict[str, Any]:
        begun = sources.start_run(
            name, partition=partition, external_id=wanted.run_id, access=access
        )
        return {
            "id": begun.id,
            "source": name.strip(),
            "partition": partition,
            "run_id": begun.external_id,
            "started_at": begun.started_at,
            "finished_at": begun.finished_at,
        }

    return once(request, access, run)


@router.post(
    "/sources/{name}/runs/{id_of_run}/finish",
    **endpoint(
        RunFinished,
        scope=Scope.WRITE,
        summary="Finish a source run",
        takes=Nothing,
        optional_body=True,
        once=True,
        errors=(404,),
    ),
)
def finish_run(request: HttpRequest, name: str, id_of_run: str) -> HttpResponse:
    """End a run by the `id` that its start answered; what it did not name is no longer current."""
    access = access_of(request)
    read_model(request, Nothing, optional=True)
    wanted = read_id(id_of_run)
    if source_of_run(wanted, access=access) != name.strip():
        raise not_found()

    def run() -> dict[str, Any]:
        report = sources.finish_run(wanted, access=access)
        done = report.already_finished
        return {
            "id": report.run_id,
            "matched": report.seen,
            "changed": 0 if done else report.unlisted,
            "skipped": 1 if done else 0,
            "why": "the run had finished already" if done else "",
            "seen": report.seen,
            "unlisted": report.unlisted,
            "relisted": report.relisted,
        }

    return once(request, access, run)
