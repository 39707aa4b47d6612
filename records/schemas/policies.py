"""Predicate policies: what a workspace says about one predicate."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import ConfigDict, Field

from records.domain.facts import Cardinality, Normaliser
from records.items import NAME_LIMIT
from records.schemas.base import Given, Instant, Reason, Sent
from records.schemas.corrections import ActAnswer

Name = Annotated[str, Field(min_length=1, max_length=NAME_LIMIT)]
Days = Annotated[float, Field(gt=0, le=36_500)]
LIST_LIMIT = 50


class PolicyBody(Sent):
    """The whole policy: what is left out takes its default, not its former value."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"cardinality": "one", "ttl_days": 365, "reason": "one employer at a time"}
            ]
        }
    )

    aliases: list[Name] = Field([], max_length=LIST_LIMIT)
    cardinality: Annotated[Cardinality, Field(strict=False)] = Cardinality.MANY
    normaliser: Annotated[Normaliser, Field(strict=False)] = Normaliser.TEXT
    ttl_days: Days | None = Field(None, description="null: never expires by itself")
    half_life_days: Days | None = Field(None, description="null: linear ageing over a year")
    validators: list[dict[str, Any]] = Field([], max_length=LIST_LIMIT)
    immutable: bool = False
    protected: bool = False
    sensitive: bool = False
    needs_review: bool = False
    time_series: bool = False
    keyed: bool = False
    dependents: list[Name] = Field([], max_length=LIST_LIMIT)
    description: str = Field("", max_length=1_000)
    region: str = Field("US", min_length=2, max_length=2, pattern="^[A-Z]{2}$")
    reason: Reason


class PolicyAnswer(Given):
    """One live version of one policy."""

    predicate: str
    version: int
    aliases: list[str]
    cardinality: Cardinality
    normaliser: Normaliser
    ttl_days: float | None
    half_life_days: float | None
    validators: list[dict[str, Any]]
    immutable: bool
    protected: bool
    sensitive: bool
    needs_review: bool
    time_series: bool
    keyed: bool
    dependents: list[str]
    description: str
    region: str
    created_at: Instant
    created_by: str
    reason: str


class PolicyList(Given):
    """All live policies, by predicate."""

    items: list[PolicyAnswer]


class PolicyChanged(ActAnswer):
    """What a change did, or with `preview=true` would do.

    `facts` are the live and held facts of the predicate and its aliases. The
    effects are on those of the predicate: `superseded` give way because their
    slot now holds one value, `merged` because another now says the same,
    `expired` and `revived` change sides of now. `is_partial` when there are too
    many to count.
    """

    preview: bool
    fields: list[str] = Field(description="What differs from the version before")
    facts: int
    superseded: int = 0
    merged: int = 0
    expired: int = 0
    revived: int = 0
    is_partial: bool = False
    policy: PolicyAnswer | None = Field(
        description="The live version; null in the preview of a first one"
    )
