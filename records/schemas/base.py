"""What all schemas share: strict reading, and the shape of an error.

Holds no subject of its own.
"""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema
from pydantic_core import PydanticCustomError

from records.items import NAME_LIMIT
from records.schemas.items import read_time

REASON_LIMIT = 1_000
TIME_MESSAGE: Literal["must be an ISO 8601 date and time with an offset"] = (
    "must be an ISO 8601 date and time with an offset"
)

_INSTANT = WithJsonSchema({"type": "string", "format": "date-time"})
Instant = Annotated[datetime, _INSTANT]
PartitionName = Annotated[str, Field(min_length=1, max_length=NAME_LIMIT)]


class Sent(BaseModel):
    """A request: nothing is guessed, nothing unknown is passed over."""

    model_config = ConfigDict(extra="forbid", strict=True)


def _sent_time(value: Any) -> Any:
    """Read ISO 8601 text; a number is no time, and no offset is a fault."""
    if not isinstance(value, str):
        raise PydanticCustomError("type", TIME_MESSAGE)
    found = read_time(value)
    if not isinstance(found, datetime):
        raise PydanticCustomError("type", TIME_MESSAGE)
    if found.tzinfo is None:
        raise PydanticCustomError("naive", "has no time zone; add an offset such as Z or +01:00")
    return found


SentInstant = Annotated[datetime, BeforeValidator(_sent_time), _INSTANT]
SentId = Annotated[UUID, Field(strict=False)]  # JSON has ids as text only
Reason = Annotated[str, Field(min_length=1, max_length=REASON_LIMIT)]


class Given(BaseModel):
    """An answer: exactly these fields."""

    model_config = ConfigDict(extra="forbid")


class FieldFault(Given):
    """One field at fault."""

    field: str = Field(description="Name of the field, `tags[2]` style; empty for the whole")
    message: str
    code: str = Field(description="Stable: invalid, required, type, too_long, unknown ...")
    limit: float | None = Field(description="The limit that was passed, when there is one")


class ErrorBody(Given):
    """What went wrong, for a program and for a person."""

    code: str = Field(description="Stable code of the error")
    message: str
    fields: list[FieldFault]
    request_id: str = Field(description="Also in the X-Request-ID header and in the server's log")


class ErrorAnswer(Given):
    """Every error of the API has this shape."""

    error: ErrorBody


JsonObject = dict[str, Any]
