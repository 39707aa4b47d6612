"""Source runs: complete passes over an origin of facts."""

from __future__ import annotations

from uuid import UUID

from pydantic import ConfigDict, Field

from records.items import NAME_LIMIT
from records.schemas.base import Given, Instant, PartitionName, Sent


class RunStart(Sent):
    """Begin a pass over a source, for one partition."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"partition": "user-42", "run_id": "import-2026-03-02"}]}
    )

    partition: PartitionName | None = Field(
        None, description="May be left out by a key that is bound to one"
    )
    run_id: str = Field(
        "",
        max_length=NAME_LIMIT,
        description="The writer's own id of the run: the same one resumes the same run",
    )


class RunAnswer(Given):
    """A run."""

    id: UUID
    source: str
    partition: str
    run_id: str
    started_at: Instant
    finished_at: Instant | None


class RunFinished(Given):
    """What a finished run saw. Nothing changed is said, not hidden behind success."""

    id: UUID
    matched: int = Field(description="Addresses of the source that the run named")
    changed: int = Field(description="Facts that it did not name: no longer emitted, demoted")
    skipped: int = Field(description="1 when the run had finished already, and nothing was done")
    why: str
    seen: int
    unlisted: int
    relisted: int
