"""Re-embedding: every record gets a vector of the serving model, in the background.

Owns the walk over a workspace's records: those of a model that retires, and
those that were stored while no vector could be had. Texts are embedded between
transactions, and a row is written only if nobody changed it meanwhile, so that
two runs at once, a killed run and a writer all do no harm. Callers' own vectors
are never replaced. Read ``embeddings/registry.py`` for how a model takes over.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from pgvector import HalfVector

from records import embeddings, queries
from records.embeddings.embed import embed_with
from records.jobs.runs import Run
from records.scope import workspace_scope

BATCH = 500  # about 10 ms of the in-process model, one or two requests to a server
START = UUID(int=0)

# Records that are out of service for good need none; one that is restored later is found then.
NEXT = """SELECT id, subject, predicate, value, content, xmin::text FROM memory_record
          WHERE workspace_id = %(workspace)s AND status = ANY (%(statuses)s) AND id > %(after)s
            AND (embedding_model IS NULL OR NOT embedding_model = ANY (%(kept)s::int2[]))
          ORDER BY id LIMIT %(batch)s"""
STATUSES = ["active", "quarantined", "superseded"]
SAVE = """UPDATE memory_record r SET embedding = e.embedding, embedding_model = %s,
                 embedding_partial = e.partial
          FROM unnest(%s::uuid[], %s::text[], %s::halfvec[], %s::bool[])
               AS e (id, version, embedding, partial)
          WHERE r.id = e.id AND r.xmin::text = e.version AND r.status <> 'erased'"""


@dataclass(frozen=True, slots=True)
class Text:
    """A record's text, and the version of its row that the text was read from."""

    id: UUID
    text: str
    row_version: str


def reembed(run: Run, now: datetime) -> None:
    """Do one run: adopt the configured model, then embed what has no vector of it.

    The run's cursor is the last id looked at. EmbeddingError when the model
    cannot be asked; the next run goes on from the start, past what is done.
    """
    assert run.workspace_id is not None
    with run.step():
        if embeddings.switch(run.workspace_id) is not None:
            run.count(switched=1)
    with workspace_scope(run.workspace_id):
        embeddings.forget()
        model = embeddings.serving_model(run.workspace_id)
        models = embeddings.models_of(run.workspace_id)
    if not model.dimensions:
        return
    kept = [m.number for m in models if m.state == "caller" or m.number == model.number]
    while found := _next(run, kept):
        vectors = embed_with(model, [one.text for one in found], kind="document")
        with run.step():
            _save(run, found, vectors)
            run.cursor["after"] = str(found[-1].id)
    _retire(run, model, models)


def _next(run: Run, kept: Sequence[int]) -> list[Text]:
    assert run.workspace_id is not None
    with workspace_scope(run.workspace_id), queries.cursor() as cursor:
        cursor.execute(
            NEXT,
            {
                "workspace": run.workspace_id,
                "statuses": STATUSES,
                "after": UUID(run.cursor.get("after", str(START))),
                "kept": list(kept),
                "batch": BATCH,
            },
        )
        return [
            Text(row[0], embeddings.embedding_text(*row[1:5]), row[5]) for row in cursor.fetchall()
        ]


def _save(run: Run, found: Sequence[Text], made: embeddings.Embedded) -> None:
    with queries.cursor() as cursor:
        cursor.execute(
            SAVE,
            [
                made.model.number,
                [one.id for one in found],
                [one.row_version for one in found],
                [HalfVector(vector) for vector in made.vectors],
                [place in made.partial for place in range(len(found))],
            ],
        )
        run.count(embedded=cursor.rowcount, skipped=len(found) - cursor.rowcount)


def _retire(run: Run, model: embeddings.Model, models: Sequence[embeddings.Model]) -> None:
    """Retire replaced models that have no vector left; those that changed meanwhile wait."""
    assert run.workspace_id is not None
    old = [m.number for m in models if m.state == "retiring" and m.number != model.number]
    if not old:
        return
    with run.step(), queries.cursor() as cursor:
        cursor.execute(
            """SELECT DISTINCT embedding_model FROM memory_record
               WHERE workspace_id = %s AND status = ANY (%s)
                 AND embedding_model = ANY (%s::int2[])""",
            [run.workspace_id, STATUSES, old],
        )
        left = {row[0] for row in cursor.fetchall()}
        done = [number for number in old if number not in left]
        if done:
            embeddings.retire_replaced(run.workspace_id, done)
            run.count(retired=len(done))
