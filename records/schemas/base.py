"""What all schemas share: strict reading, and the shape of an error.

Holds no subject of its own.
"""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, WithJsonSchema

from records.items import NAME_LIMIT

Instant = Annotated[datetime, WithJsonSchema({"type": "string", "format": "date-time"})]
PartitionName = Annotated[str, Field(min_length=1, max_length=NAME_LIMIT)]


class Sent(BaseModel):
    """A request: nothing is guessed, nothing unknown is passed over."""

    model_config = ConfigDict(extra="forbid", strict=True)


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
